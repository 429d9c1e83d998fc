"""What the compiler makes: concrete worlds, bundles, proofs.

No templates are left in anything here, save the discovered names in an intervention's steps (`{{ name }}`), which only
a run can fill.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from scenario_dsl.model import (
    Answer,
    Delay,
    Difficulty,
    Intervention,
    Invariant,
    Kind,
    Limits,
    Objective,
    Probe,
    Reward,
    Split,
    System,
    Task,
)
from scenario_dsl.values import Value

Role = Literal["primary", "twin", "control"]
__all__ = ["Answer", "Delay", "Intervention", "Invariant", "Objective", "Probe", "Task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedFault:
    """A fault with its arguments put in: tasks and probes are concrete."""

    fault: str
    arguments: Mapping[str, Value]
    inject: tuple[Task, ...]
    revert: tuple[Task, ...]
    witness: tuple[Probe, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedCascade:
    name: str
    when: Probe
    after: Delay
    inject: tuple[ResolvedFault, ...]
    repeat: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One copy of a scenario, concrete. In a control, `faults` are the decoys."""

    name: str
    role: Role
    parameters: Mapping[str, Value]
    complaint: str
    faults: tuple[ResolvedFault, ...]
    cascades: tuple[ResolvedCascade, ...]
    objectives: tuple[Objective, ...]
    invariants: tuple[Invariant, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedScenario:
    """A scenario with its worlds: first the primary, then twins, then controls, each in document order."""

    name: str
    title: str
    kind: Kind
    difficulty: Difficulty
    split: Split
    tags: tuple[str, ...]
    system: str
    since: float = 0.0
    worlds: tuple[World, ...]
    gold: Intervention
    bad: tuple[Intervention, ...]
    reward: Reward
    hints: tuple[str, ...]
    limits: Limits

    def world(self, name: str) -> World:
        """The world of that name; raises KeyError."""
        for world in self.worlds:
            if world.name == name:
                return world
        raise KeyError(name)

    @property
    def full_score(self) -> float:
        """The points of all objectives, as the primary has them."""
        return round(sum(objective.points for objective in self.worlds[0].objectives), 9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A compiled pack, in memory and not yet trusted: path inside the bundle -> bytes, manifest included.

    `digest` is the sha256 (hex) of the canonical manifest, which lists the sha256 of every other file.
    """

    name: str
    version: str
    digest: str
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that proving established, or failed to.

    `check` names which of the eight points (healthy, witnessed, nop, gold, bad, mutants, revert, repeat); `passed` is
    None where it does not apply to this scenario, and `detail` then says why.
    """

    check: str
    world: str
    passed: bool | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioProof:
    scenario: str
    backend: str
    repeats: int
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        return bool(self.findings) and all(finding.passed is not False for finding in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What `prove` found out about one bundle, bound to its digest. It holds when every scenario's does."""

    bundle_digest: str
    scenarios: tuple[ScenarioProof, ...]

    @property
    def holds(self) -> bool:
        return bool(self.scenarios) and all(scenario.holds for scenario in self.scenarios)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackContent:
    """The typed content of a bundle: what runners read once its bytes are verified."""

    name: str
    version: str
    digest: str
    canary: str
    policies: tuple[str, ...]
    systems: Mapping[str, System]
    scenarios: Mapping[str, ResolvedScenario]
