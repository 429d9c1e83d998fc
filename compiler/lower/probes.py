"""What is measured in one world, as one document: the probe specifications that any runner can read."""

from __future__ import annotations

from dataclasses import dataclass

from scenario_dsl.model import Invariant, Objective, Probe
from scenario_dsl.worlds import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """How one fault shows: all probes hold exactly while it is in force. `cascade` names the rule that brings it."""

    fault: str
    cascade: str | None
    probes: tuple[Probe, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What sets off one cascade."""

    cascade: str
    when: Probe


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """Everything that is measured in one world."""

    world: str
    objectives: tuple[Objective, ...]
    invariants: tuple[Invariant, ...]
    conditions: tuple[Condition, ...]
    witnesses: tuple[Witness, ...]


def measurements(world: World) -> Measurements:
    at_once = [Witness(fault=fault.fault, cascade=None, probes=fault.witness) for fault in world.faults]
    later = [
        Witness(fault=fault.fault, cascade=cascade.name, probes=fault.witness)
        for cascade in world.cascades
        for fault in cascade.inject
    ]
    return Measurements(
        world=world.name,
        objectives=world.objectives,
        invariants=world.invariants,
        conditions=tuple(Condition(cascade=cascade.name, when=cascade.when) for cascade in world.cascades),
        witnesses=(*at_once, *later),
    )
