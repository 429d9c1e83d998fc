"""Timers and sockets: what they start, and when timers are due and last fired."""

from __future__ import annotations

from runners.sim.machine import Machine
from runners.sim.systemd.manager import known, unit_file


def activates(machine: Machine, trigger: str) -> str:
    """The service of a timer or a socket, by its own name where an alias is given."""
    unit = unit_file(machine, trigger)
    named = unit.get("Timer", "Unit") or unit.get("Socket", "Service") or f"{trigger.rsplit('.', 1)[0]}.service"
    return unit_file(machine, named).name


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
    """The timers and sockets in memory that start a unit."""
    return [
        name for name in known(machine) if name.endswith((".timer", ".socket")) and activates(machine, name) == unit
    ]
