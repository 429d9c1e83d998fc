"""Scenarios that cannot be played in containers although every kind of probe and module that they use can."""

from __future__ import annotations

from collections.abc import Iterator

from runners.hosts.disks import described, mount_of
from scenario_dsl.model import Probe, System
from scenario_dsl.worlds import ResolvedScenario

_LONGEST_SETTLE = 120.0
ARGUMENTS = {
    ("cron", "succeeded_within"): "cron keeps no record of how a job ended that an agent could not write itself",
    ("log", "unit"): "the journal is the world's own, and an agent could write it",
}
"""(probe type, argument) -> why it cannot be asked here."""
TYPES = {
    "disk": "of the root its worlds have a share of the host's disk; other file systems are as described",
    "memory": "a world may hold 2.5 GiB here, whatever the system describes",
}
"""What containers have, but not as a system describes it."""


def reasons(scenario: ResolvedScenario, system: System) -> Iterator[str]:
    """Why the scenario cannot be played here, each naming who asks for what."""
    for world in scenario.worlds:
        for asked in world.probes():
            yield from (f"{asked.who} (world {world.name}) {reason}" for reason in unmeasured(asked.probe, system))
        for objective in world.objectives:
            if objective.settle > _LONGEST_SETTLE:
                yield (
                    f"objective {objective.name} (world {world.name}) is watched for {objective.settle:g} s, and time "
                    f"is real here: at most {_LONGEST_SETTLE:g} s"
                )


def unmeasured(probe: Probe, system: System | None = None) -> Iterator[str]:
    """Why the probe says nothing about a world here. system: that whose file systems are made for it."""
    for name in probe.arguments:
        if (probe.type, name) in ARGUMENTS and probe.arguments[name] is not None:
            yield f"uses {name} of {probe.type}: {ARGUMENTS[probe.type, name]}"
    if probe.type in TYPES and not (probe.type == "disk" and system is not None and _is_made(probe, system)):
        yield f"measures {probe.type}: {TYPES[probe.type]}"


def measured(scenario: ResolvedScenario) -> tuple[str, ...]:
    """The paths whose file systems are measured in any of its worlds: all of its worlds have these file systems."""
    asked = (asked.probe for world in scenario.worlds for asked in world.probes())
    probes = (probe for probe in asked if probe.type == "disk")
    return tuple(dict.fromkeys(str(probe.arguments["path"]) for probe in probes))


def _is_made(probe: Probe, system: System) -> bool:
    """Is it about a file system that worlds have in its described size?"""
    place = mount_of(system.settings, str(probe.arguments["path"]))
    return place == "/tmp" or place in described(system.settings)
