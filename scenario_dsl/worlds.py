"""Scenarios made concrete: what `realise` turns documents into, and all that later stages know of them.

No templates are left in anything here, save the discovered names in an intervention's steps (`{{ name }}`), which only
a run can fill, and those of `item` and registered results in tasks, which only Ansible can.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from scenario_dsl.model import (
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
    Task,
)
from scenario_dsl.values import Value

Role = Literal["primary", "twin", "control"]
PRIMARY = "primary"
"""The name of the first world; no twin or control may take it."""


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


class Asked(NamedTuple):
    """A probe of a world, and who asks it. later: it is the witness of a fault that only a cascade brings."""

    kind: Literal["fault", "cascade", "objective", "invariant"]
    name: str
    probe: Probe
    later: bool = False

    @property
    def who(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One copy of a scenario, concrete. In a control, `faults` are the decoys."""

    name: str
    role: Role
    parameters: Mapping[str, Value]
    complaint: str
    hints: tuple[str, ...] = ()
    faults: tuple[ResolvedFault, ...]
    cascades: tuple[ResolvedCascade, ...]
    objectives: tuple[Objective, ...]
    invariants: tuple[Invariant, ...]

    def every_fault(self) -> tuple[ResolvedFault, ...]:
        """Those that it begins with, and those that cascades bring."""
        return (*self.faults, *(fault for cascade in self.cascades for fault in cascade.inject))

    def probes(self) -> Iterator[Asked]:
        """Everything that is ever asked of it."""
        for fault in self.faults:
            yield from (Asked("fault", fault.fault, probe) for probe in fault.witness)
        for cascade in self.cascades:
            yield Asked("cascade", cascade.name, cascade.when)
            for fault in cascade.inject:
                yield from (Asked("fault", fault.fault, probe, later=True) for probe in fault.witness)
        for objective in self.objectives:
            if isinstance(objective.check, Probe):
                yield Asked("objective", objective.name, objective.check)
        for invariant in self.invariants:
            yield Asked("invariant", invariant.name, invariant.probe)


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
    limits: Limits
    waivers: Mapping[str, str] = field(default_factory=dict)

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
