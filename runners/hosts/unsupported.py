"""Scenarios that cannot be played in containers although every kind of probe and module that they use can."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_dsl.model import Probe
from scenario_dsl.worlds import ResolvedScenario, World

_LONGEST_SETTLE = 120.0
ARGUMENTS = {
    ("cron", "succeeded_within"): "cron keeps no record of how a job ended that an agent could not write itself",
    ("log", "unit"): "the journal is the world's own, and an agent could write it",
}
"""(probe type, argument) -> why it cannot be asked here."""
TYPES = {
    "disk": "its worlds have no file systems of a described size, but a share of the host's",
    "memory": "a world may hold 2.5 GiB here, whatever the system describes",
}
"""What containers have, but not as a system describes it."""


def reasons(scenario: ResolvedScenario) -> Iterator[str]:
    """Why the scenario cannot be played here, each naming who asks for what."""
    for world in scenario.worlds:
        for who, probe in _probes(world):
            yield from (f"{who} (world {world.name}) {reason}" for reason in unmeasured(probe))
        for objective in world.objectives:
            if objective.settle > _LONGEST_SETTLE:
                yield (
                    f"objective {objective.name} (world {world.name}) is watched for {objective.settle:g} s, and time "
                    f"is real here: at most {_LONGEST_SETTLE:g} s"
                )


def unmeasured(probe: Probe) -> Iterator[str]:
    """Why the probe says nothing about a world here."""
    for name in probe.arguments:
        if (probe.type, name) in ARGUMENTS and probe.arguments[name] is not None:
            yield f"uses {name} of {probe.type}: {ARGUMENTS[probe.type, name]}"
    if probe.type in TYPES:
        yield f"measures {probe.type}: {TYPES[probe.type]}"


def _probes(world: World) -> Iterator[tuple[str, Probe]]:
    for fault in world.faults:
        yield from ((f"fault {fault.fault}", probe) for probe in fault.witness)
    for cascade in world.cascades:
        yield f"cascade {cascade.name}", cascade.when
        for fault in cascade.inject:
            yield from ((f"fault {fault.fault}", probe) for probe in fault.witness)
    for objective in world.objectives:
        if isinstance(objective.check, Probe):
            yield f"objective {objective.name}", objective.check
    for invariant in world.invariants:
        yield f"invariant {invariant.name}", invariant.probe
