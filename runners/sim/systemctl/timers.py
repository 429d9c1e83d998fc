"""Timers: when they are due, when they last fired, what they start."""

from __future__ import annotations

from runners.sim.machine import Machine
from runners.sim.systemd.manager import known, unit_file


def activates(machine: Machine, timer: str) -> str:
    return unit_file(machine, timer).get("Timer", "Unit") or timer.removesuffix(".timer") + ".service"


def next_elapse(machine: Machine, timer: str) -> float | None:
    """When the timer is next due, from the event that waits for it; None while it is not armed."""
    for event in machine.events:
        argument = event.argument
        name = argument[0] if isinstance(argument, tuple) and argument else argument
        if name == timer and event.kind.startswith("timer"):
            return event.due
    return None


def last_trigger(machine: Machine, timer: str) -> float:
    """When its unit last ran, 0 for never."""
    return machine.systemd.get(activates(machine, timer)).exec_started


def triggered_by(machine: Machine, unit: str) -> list[str]:
    """The timers in memory that start a unit."""
    return [name for name in known(machine) if name.endswith(".timer") and activates(machine, name) == unit]
