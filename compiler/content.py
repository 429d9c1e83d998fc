"""The files of a bundle to typed content. The bytes are taken as they are: whoever calls this has verified them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from compiler.codec import Malformed, load
from compiler.layout import MANIFEST, sha256
from compiler.manifest import ScenarioEntry, read_manifest
from compiler.model import PackContent
from compiler.refusals import BadManifest, Missing
from scenario_dsl.model import Difficulty, Intervention, Kind, Limits, Reward, Split, System
from scenario_dsl.worlds import ResolvedScenario, World

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldFile:
    """A world's name, and the part of a path that stands for it."""

    name: str
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioHead:
    """`scenario.json`: what is true of a scenario in all its worlds, its solutions left out."""

    name: str
    title: str
    kind: Kind
    difficulty: Difficulty
    split: Split
    tags: tuple[str, ...]
    system: str
    since: float
    worlds: tuple[WorldFile, ...]
    reward: Reward
    limits: Limits

    @classmethod
    def of(cls, scenario: ResolvedScenario, worlds: tuple[WorldFile, ...]) -> ScenarioHead:
        return cls(
            name=scenario.name,
            title=scenario.title,
            kind=scenario.kind,
            difficulty=scenario.difficulty,
            split=scenario.split,
            tags=scenario.tags,
            system=scenario.system,
            since=scenario.since,
            worlds=worlds,
            reward=scenario.reward,
            limits=scenario.limits,
        )

    def with_parts(self, worlds: tuple[World, ...], solutions: Solutions) -> ResolvedScenario:
        return ResolvedScenario(
            name=self.name,
            title=self.title,
            kind=self.kind,
            difficulty=self.difficulty,
            split=self.split,
            tags=self.tags,
            system=self.system,
            since=self.since,
            worlds=worlds,
            gold=solutions.gold,
            bad=solutions.bad,
            reward=self.reward,
            limits=self.limits,
            waivers=solutions.waivers,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Solutions:
    """`solutions.json`: what gold does, every bad habit, and which weakened forms of gold may go unnoticed."""

    gold: Intervention
    bad: tuple[Intervention, ...]
    waivers: Mapping[str, str]


def content(files: Mapping[str, bytes]) -> PackContent:
    """Everything in a bundle, typed. Raises a Refusal where a file is missing or not of its type."""
    manifest = read_manifest(_bytes(files, MANIFEST))
    systems = {entry.name: _read(files, f"systems/{entry.file}.json", System) for entry in manifest.systems}
    scenarios = {entry.name: _scenario(files, entry) for entry in manifest.scenarios}
    for scenario in scenarios.values():
        if scenario.system not in systems:
            raise BadManifest(f"scenario {scenario.name} is about the system {scenario.system}, which is not there")
    return PackContent(
        name=manifest.pack.name,
        version=manifest.pack.version,
        digest=sha256(files[MANIFEST]),
        canary=manifest.pack.canary,
        policies=manifest.pack.policies,
        systems=systems,
        scenarios=scenarios,
    )


def _scenario(files: Mapping[str, bytes], entry: ScenarioEntry) -> ResolvedScenario:
    folder = f"scenarios/{entry.folder}"
    head = _read(files, f"{folder}/scenario.json", ScenarioHead)
    worlds = tuple(_read(files, f"{folder}/worlds/{world.file}.json", World) for world in head.worlds)
    solutions = _read(files, f"{folder}/solutions.json", Solutions)
    stated = (entry.name, entry.system, tuple((world.name, world.role) for world in entry.worlds))
    if stated != (head.name, head.system, tuple((world.name, world.role) for world in worlds)):
        raise BadManifest(f"says other things of the scenario {entry.name} than its own files do")
    return head.with_parts(worlds, solutions)


def _read(files: Mapping[str, bytes], path: str, wanted: type[T]) -> T:
    try:
        return load(wanted, _bytes(files, path))
    except Malformed as error:
        raise error.of(path) from error


def _bytes(files: Mapping[str, bytes], path: str) -> bytes:
    if path not in files:
        raise Missing(path)
    return files[path]
