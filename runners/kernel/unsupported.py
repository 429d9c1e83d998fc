"""Scenarios that cannot be played on hosts with sched_ext although every kind of probe and module that they use can."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_dsl.model import System
from scenario_dsl.worlds import ResolvedFault, ResolvedScenario


def reasons(scenario: ResolvedScenario, system: System) -> Iterator[str]:
    """Why the scenario cannot be played here, each naming what asks for it."""
    if not isinstance(system.settings.get("kernel"), dict):
        yield f"the system {system.name} has no `kernel`: it is no host with sched_ext"
    for world in scenario.worlds:
        for fault in world.every_fault():
            yield from _in_fault(fault, world.name)


def _in_fault(fault: ResolvedFault, world: str) -> Iterator[str]:
    for task in (*fault.inject, *fault.revert):
        # What needs a value from the machine needs Ansible there, which takes half a minute for each world.
        for word, used in (("loop", task.loop), ("register", task.register), ("when", task.when)):
            if used is not None:
                yield f"fault {fault.fault} (world {world}) uses {word}: tasks run here as they are"
