"""A checked library to a bundle, and a bundle to a folder.

The same library gives the same bytes on every machine: nothing here reads a clock, the environment or the order of a
set. See `compiler.layout` for what lies where.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from compiler import archive
from compiler.codec import dump
from compiler.content import ScenarioHead, Solutions, WorldFile
from compiler.layout import (
    ENVELOPE,
    FOLDER,
    FORMAT,
    LARGEST_FILE,
    LARGEST_TOTAL,
    MANIFEST,
    PROOF,
    TAR,
    is_bundle_path,
    sha256,
    slugs,
)
from compiler.lower.playbooks import inject_tasks, playbook, revert_tasks
from compiler.lower.probes import measurements
from compiler.manifest import (
    Manifest,
    PackEntry,
    ScenarioEntry,
    SystemEntry,
    WorldEntry,
    digest_of,
    entries,
)
from compiler.model import Bundle, Proof
from compiler.reading import names_in
from compiler.refusals import BadPath, ForeignFolder, TooLarge
from compiler.resolve import resolve_all, resolve_system
from scenario_dsl.model import Library, Pack, System
from scenario_dsl.worlds import ResolvedScenario, World
from scenario_dsl.writing import write_file, write_tree, writing_to


def compile_pack(library: Library) -> Bundle:
    """Resolve, lower and list everything. Raises `Diagnostics` for what only resolving can find, or a Refusal."""
    scenarios = resolve_all(library)
    first = {scenario.system for scenario in scenarios}
    used = first | {node.system for name in first for node in library.systems[name].nodes.values()}
    systems = tuple(resolve_system(system, library) for name, system in sorted(library.systems.items()) if name in used)
    return assemble(library.pack, systems, scenarios)


def assemble(pack: Pack, systems: tuple[System, ...], scenarios: tuple[ResolvedScenario, ...]) -> Bundle:
    """The bundle of these concrete scenarios, in the order of their names."""
    system_names = slugs(system.name for system in systems)
    scenarios = tuple(sorted(scenarios, key=lambda scenario: scenario.name))
    folders = slugs(scenario.name for scenario in scenarios)
    system_paths = {system.name: f"systems/{system_names[system.name]}.json" for system in systems}
    files: dict[str, bytes] = {system_paths[system.name]: dump(system) for system in systems}
    listed: list[ScenarioEntry] = []
    for scenario in scenarios:
        folder = folders[scenario.name]
        worlds = slugs(world.name for world in scenario.worlds)
        own = {f"scenarios/{folder}/{path}": data for path, data in _scenario_files(scenario, worlds).items()}
        files |= own
        system_path = system_paths[scenario.system]
        listed.append(
            ScenarioEntry(
                name=scenario.name,
                folder=folder,
                system=scenario.system,
                kind=scenario.kind,
                difficulty=scenario.difficulty,
                split=scenario.split,
                digest=digest_of({path: sha256(files[path]) for path in (*sorted(own), system_path)}),
                worlds=tuple(
                    WorldEntry(name=world.name, role=world.role, file=worlds[world.name]) for world in scenario.worlds
                ),
            )
        )
    _check_limits(files)
    manifest = dump(
        Manifest(
            format=FORMAT,
            pack=PackEntry(
                name=pack.name,
                version=pack.version,
                title=pack.title,
                license=pack.license,
                canary=pack.canary,
                policies=pack.policies,
            ),
            systems=tuple(SystemEntry(name=system.name, file=system_names[system.name]) for system in systems),
            scenarios=tuple(listed),
            files=entries(files),
        )
    )
    everything = dict(sorted({MANIFEST: manifest, **files}.items()))
    return Bundle(name=pack.name, version=pack.version, digest=sha256(manifest), files=everything)


def write_bundle(bundle: Bundle, folder: Path, *, proof: Proof | None = None, envelope: bytes | None = None) -> None:
    """Write the folder layout at `folder`, whole or not at all.

    An earlier output there is replaced, with its proof and signature; anything else there is left alone, and refused.
    """
    if folder.exists():
        for name in names_in(folder):
            if name not in (FOLDER, TAR, PROOF, ENVELOPE):
                raise ForeignFolder(str(folder), name)
    files = {f"{FOLDER}/{path}": data for path, data in bundle.files.items()}
    files[TAR] = archive.pack(bundle.files)
    if proof is not None:
        files[PROOF] = dump(proof)
    if envelope is not None:
        files[ENVELOPE] = envelope
    write_tree(folder, files)


def write_proof(folder: Path, proof: Proof) -> None:
    """Put a proof beside the bundle that it is about. An older signature did not cover it, so that one goes."""
    with writing_to(folder):
        (folder / ENVELOPE).unlink(missing_ok=True)
    write_file(folder / PROOF, dump(proof))


def remove_proof(folder: Path) -> bool:
    """Take away the proof beside a bundle, and the signature that covered it; returns whether there was a proof."""
    with writing_to(folder):
        (folder / ENVELOPE).unlink(missing_ok=True)
        there = (folder / PROOF).exists()
        (folder / PROOF).unlink(missing_ok=True)
    return there


def write_envelope(folder: Path, envelope: bytes) -> None:
    write_file(folder / ENVELOPE, envelope)


def _scenario_files(scenario: ResolvedScenario, worlds: Mapping[str, str]) -> Mapping[str, bytes]:
    """Path inside the scenario's folder -> bytes."""
    listed = tuple(WorldFile(name=world.name, file=worlds[world.name]) for world in scenario.worlds)
    files = {
        "scenario.json": dump(ScenarioHead.of(scenario, listed)),
        # Apart from everything else, so that a pack can seal it for graders.
        "solutions.json": dump(Solutions(gold=scenario.gold, bad=scenario.bad, waivers=scenario.waivers)),
    }
    for world in scenario.worlds:
        name = worlds[world.name]
        files[f"worlds/{name}.json"] = dump(world)
        files[f"probes/{name}.json"] = dump(measurements(world))
        files |= {f"playbooks/{name}/{path}": data for path, data in _playbooks(scenario, world).items()}
    return files


def _playbooks(scenario: ResolvedScenario, world: World) -> Mapping[str, bytes]:
    title = f"{scenario.name}, world {world.name}"
    files = {
        "inject.yml": playbook(f"{title}: inject", inject_tasks(world.faults)),
        "revert.yml": playbook(f"{title}: revert", revert_tasks(world.faults)),
    }
    names = slugs(cascade.name for cascade in world.cascades)
    for cascade in world.cascades:
        folder, label = f"cascades/{names[cascade.name]}", f"{title}, cascade {cascade.name}"
        files[f"{folder}/inject.yml"] = playbook(f"{label}: inject", inject_tasks(cascade.inject))
        files[f"{folder}/revert.yml"] = playbook(f"{label}: revert", revert_tasks(cascade.inject))
    return files


def _check_limits(files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        if not is_bundle_path(path):
            raise BadPath(path)
        if len(data) > LARGEST_FILE:
            raise TooLarge(path, LARGEST_FILE)
    if sum(map(len, files.values())) > LARGEST_TOTAL:
        raise TooLarge(FOLDER, LARGEST_TOTAL)
