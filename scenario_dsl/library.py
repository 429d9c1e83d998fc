"""The door of the language: folders and files in, a checked `Library` or diagnostics out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from scenario_dsl.checks.fault import check_fault
from scenario_dsl.checks.known import Known
from scenario_dsl.checks.pack import check_policies
from scenario_dsl.checks.scenario import check_scenario
from scenario_dsl.checks.system import check_system
from scenario_dsl.diagnostics import Diagnostic, Diagnostics, closest, errors_in, ordered
from scenario_dsl.folders import PACK_FILE, TREE, PackFolder, entries, look_into, pack_around, system_files
from scenario_dsl.loading import Loaded, load_document
from scenario_dsl.model import Fault, Library, Pack, Scenario, System
from scenario_dsl.problems import meaning as problems
from scenario_dsl.schema import DocumentKind
from scenario_dsl.source import SourceText, Span

_T = TypeVar("_T")


def load_library(pack_dir: Path, search: Sequence[Path] = ()) -> Library:
    """All documents of a pack and of the packs it uses, checked; raises Diagnostics when any of them has an error.

    `search`: folders in which used packs are looked for, after the folder that the pack itself lies in.
    """
    reader = _Reader(search=tuple(search), absolute=pack_dir.is_absolute())
    reading = reader.read(_absolute(pack_dir))
    found = tuple(reader.everything(reading))
    if errors_in(found) or reading.pack is None:
        raise Diagnostics(found)
    return Library(
        pack=reading.pack,
        scenarios={scenario.name: scenario for scenario in _values(reading.scenarios, Scenario)},
        faults=dict(sorted(reading.known.faults.items())),
        systems=dict(sorted(reading.known.systems.items())),
    )


def check_paths(paths: Sequence[Path], search: Sequence[Path] = ()) -> tuple[Diagnostic, ...]:
    """Everything wrong with files and folders, in order of file and position; empty when all is well.

    A folder is a pack, or holds packs or documents. A file inside a pack is judged within it, and only what concerns
    that file is returned; elsewhere a document is judged by what it says alone.
    """
    found: list[Diagnostic] = []
    for absolute in (False, True):
        reader = _Reader(search=tuple(search), absolute=absolute)
        for path in paths:
            if path.is_absolute() is absolute:
                found += reader.check(_absolute(path))
    return ordered(found)


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """One pack, read and checked."""

    pack_file: Loaded
    pack: Pack | None
    scenarios: tuple[Loaded, ...]
    faults: tuple[Loaded, ...]
    systems: tuple[Loaded, ...]
    uses: tuple[_Reading, ...]
    known: Known
    found: tuple[Diagnostic, ...]


@dataclass(slots=True, kw_only=True)
class _Reader:
    """Reads each pack once, whatever leads to it. `absolute`: how paths are shown."""

    search: tuple[Path, ...]
    absolute: bool
    packs: dict[str, _Reading] = field(default_factory=dict)

    def shown(self, path: Path) -> str:
        return str(path) if self.absolute else os.path.relpath(path)

    def check(self, path: Path) -> Iterator[Diagnostic]:
        if path.is_dir():
            yield from self._folder(path)
            return
        around = pack_around(path)
        if around is None:
            yield from _alone(load_document(path, self.shown(path)))
            return
        folder, kind = around
        shown = self.shown(path)
        if kind != "pack" and path not in _listed(look_into(folder), kind):
            yield from load_document(path, shown).found
            return
        yield from (each for each in self.read(folder).found if each.source.path == shown)

    def _folder(self, folder: Path) -> Iterator[Diagnostic]:
        if _is_pack(folder):
            yield from self.everything(self.read(folder))
            return
        inside = entries(folder)
        packs = [each for each in inside if each.is_dir() and _is_pack(each)]
        files = [each for each in inside if each.suffix in (".yml", ".yaml")]
        for each in (*packs, *files):
            yield from self.check(each)
        if not packs and not files:
            yield problems.NoPack(source=SourceText(self.shown(folder), ""), span=Span(0, 0))

    def everything(self, reading: _Reading) -> Iterator[Diagnostic]:
        """What was found in a pack, and the errors of the packs it uses."""
        yield from reading.found
        for used in reading.uses:
            yield from (each for each in self.everything(used) if each.severity == "error")

    def read(self, folder: Path) -> _Reading:
        """`folder`: absolute."""
        key = os.path.realpath(folder)
        if key not in self.packs:
            self.packs[key] = self._read(look_into(folder))
        return self.packs[key]

    def _read(self, folder: PackFolder) -> _Reading:
        pack_file = self._load(folder.folder / PACK_FILE)
        scenarios = tuple(self._load(path) for path in folder.scenarios)
        faults = tuple(self._load(path) for path in folder.faults)
        taken = [_with_tree(self._load(path)) for path in folder.systems]
        systems = tuple(loaded for loaded, _ in taken)
        found = [each for loaded in (pack_file, *scenarios, *faults, *systems) for each in loaded.found]
        found += [each for _, problems_of_tree in taken for each in problems_of_tree]
        pack = pack_file.value if isinstance(pack_file.value, Pack) else None
        uses = tuple(self._uses(folder.folder, pack_file, pack, found))
        known = _known(faults, systems, uses, complete=pack is not None)
        found += _names(pack_file, scenarios, faults, systems, uses)
        found += _meanings(pack_file, pack, scenarios, faults, systems, known)
        return _Reading(
            pack_file=pack_file,
            pack=pack,
            scenarios=scenarios,
            faults=faults,
            systems=systems,
            uses=uses,
            known=known,
            found=tuple(found),
        )

    def _load(self, path: Path) -> Loaded:
        return load_document(path, self.shown(path))

    def _uses(self, folder: Path, pack_file: Loaded, pack: Pack | None, found: list[Diagnostic]) -> Iterator[_Reading]:
        for index, name in enumerate(pack.uses if pack is not None else ()):
            assert pack_file.document is not None
            span = pack_file.document.place(("uses", index))
            used = self._find(folder, name)
            if used is None:
                near = [each.name for place in self._places(folder) for each in entries(place) if _is_pack(each)]
                found.append(
                    problems.UnknownPack(source=pack_file.source, span=span, name=name, suggestion=closest(name, near))
                )
            elif self._leads_to(used, folder):
                found.append(problems.PackCycle(source=pack_file.source, span=span, name=name))
            else:
                yield self.read(used)

    def _places(self, folder: Path) -> tuple[Path, ...]:
        return (folder.parent, *map(_absolute, self.search))

    def _find(self, folder: Path, name: str) -> Path | None:
        return next((place / name for place in self._places(folder) if _is_pack(place / name)), None)

    def _leads_to(self, start: Path, goal: Path) -> bool:
        """Does a pack use another, directly or through others?"""
        wanted = os.path.realpath(goal)
        waiting = [start]
        seen: set[str] = set()
        while waiting:
            folder = waiting.pop()
            key = os.path.realpath(folder)
            if key == wanted:
                return True
            if key in seen:
                continue
            seen.add(key)
            pack = self._load(folder / PACK_FILE).value
            names = pack.uses if isinstance(pack, Pack) else ()
            waiting += [found for name in names if (found := self._find(folder, name)) is not None]
        return False


def _is_pack(folder: Path) -> bool:
    return os.path.lexists(folder / PACK_FILE)


def _listed(folder: PackFolder, kind: DocumentKind) -> tuple[Path, ...]:
    lists: Mapping[str, tuple[Path, ...]] = {
        "scenario": folder.scenarios,
        "fault": folder.faults,
        "system": folder.systems,
    }
    return lists.get(kind, ())


def _alone(loaded: Loaded) -> Iterator[Diagnostic]:
    yield from loaded.found
    yield from _meaning(loaded, Known(complete=False))


def _values(loaded: Iterable[Loaded], kind: type[_T]) -> Iterator[_T]:
    return (each.value for each in loaded if isinstance(each.value, kind))


def _with_tree(loaded: Loaded) -> tuple[Loaded, tuple[Diagnostic, ...]]:
    """A system with the files of its folder."""
    if not isinstance(loaded.value, System) or loaded.document is None:
        return loaded, ()
    files, faults = system_files(loaded.path.parent / TREE, loaded.value.files)
    span = loaded.document.place(("system",))
    found = tuple(
        problems.TreeFile(source=loaded.source, span=span, path=fault.path, reason=fault.reason) for fault in faults
    )
    return replace(loaded, value=replace(loaded.value, files=files)), found


def _known(faults: Sequence[Loaded], systems: Sequence[Loaded], uses: Sequence[_Reading], *, complete: bool) -> Known:
    known_faults: dict[str, Fault] = {}
    known_systems: dict[str, System] = {}
    unsound: set[str] = set()
    for used in uses:
        known_faults |= used.known.faults
        known_systems |= used.known.systems
        unsound |= used.known.unsound
    known_faults |= {fault.name: fault for fault in _values(faults, Fault)}
    known_systems |= {system.name: system for system in _values(systems, System)}
    unsound |= {each.name for each in (*faults, *systems) if each.value is None}
    complete = complete and all(used.known.complete for used in uses)
    return Known(faults=known_faults, systems=known_systems, unsound=frozenset(unsound), complete=complete)


def _names(
    pack_file: Loaded,
    scenarios: Sequence[Loaded],
    faults: Sequence[Loaded],
    systems: Sequence[Loaded],
    uses: Sequence[_Reading],
) -> Iterator[Diagnostic]:
    """Documents are what their folder says, are named like their file, and no two of a kind share a name."""
    groups: tuple[tuple[DocumentKind, Sequence[Loaded]], ...] = (
        ("pack", (pack_file,)),
        ("scenario", scenarios),
        ("fault", faults),
        ("system", systems),
    )
    for kind, group in groups:
        taken: dict[str, str] = {}
        for used in uses:
            inherited = {"fault": used.faults, "system": used.systems}.get(kind, ())
            taken |= {each.name: each.source.path for each in inherited if each.value is not None}
        for loaded in group:
            if loaded.document is None or loaded.kind is None:
                continue
            source, span = loaded.source, loaded.document.place((loaded.kind,))
            if loaded.kind != kind:
                key = loaded.document.key((loaded.kind,))
                yield problems.WrongFolder(source=source, span=key, kind=loaded.kind, expected=kind)
                continue
            if loaded.value is None or kind == "pack":
                continue
            of_folder = kind == "system"
            expected = loaded.path.parent.name if of_folder else loaded.path.stem
            if loaded.name != expected:
                holder = "folder" if of_folder else "file"
                yield problems.FileMisnamed(
                    source=source, span=span, kind=kind, name=loaded.name, holder=holder, found=expected
                )
            if loaded.name in taken:
                yield problems.NameTaken(
                    source=source, span=span, kind=kind, name=loaded.name, other=taken[loaded.name]
                )
            taken.setdefault(loaded.name, source.path)


def _meanings(
    pack_file: Loaded,
    pack: Pack | None,
    scenarios: Sequence[Loaded],
    faults: Sequence[Loaded],
    systems: Sequence[Loaded],
    known: Known,
) -> Iterator[Diagnostic]:
    for loaded in (*scenarios, *faults, *systems):
        yield from _meaning(loaded, known)
    if pack is None or pack_file.document is None:
        return
    sound = {
        each.value.name: (each.document, each.value)
        for each in scenarios
        if isinstance(each.value, Scenario) and each.document is not None
    }
    yield from check_policies(pack_file.document, pack, sound, len(scenarios))
    if not scenarios and not faults and not systems:
        yield problems.EmptyPack(source=pack_file.source, span=pack_file.document.key(("pack",)))


def _meaning(loaded: Loaded, known: Known) -> Iterator[Diagnostic]:
    if loaded.document is None:
        return
    if isinstance(loaded.value, Scenario):
        yield from check_scenario(loaded.document, loaded.value, known)
    elif isinstance(loaded.value, Fault):
        yield from check_fault(loaded.document, loaded.value)
    elif isinstance(loaded.value, System):
        yield from check_system(loaded.document, loaded.value, loaded.data)
