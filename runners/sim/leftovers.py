"""What goes on after everybody has logged out: processes that no service owns, and jobs for later."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from runners.lasting import RUN_BY_CRON
from runners.sim.machine import Machine
from runners.sim.programs.cron import tables


def unowned(machine: Machine, own: Collection[int]) -> Mapping[str, str]:
    """Processes outside all services, `PID since START` -> command line. own: the shells that somebody sits at."""
    found: dict[str, str] = {}
    for process in machine.processes:
        service = process.unit is not None and not process.unit.endswith(".scope")
        if not service and process.pid not in own and process.state != "Z":
            found[f"{process.pid} since {process.started}"] = " ".join(process.argv)
    return found


def scheduled(machine: Machine) -> Mapping[str, str]:
    """What will run by itself, whoever is gone: `USER: COMMAND`, `TIMER` or script -> the place that says so."""
    found: dict[str, str] = {}
    for path, entries in tables(machine):
        for entry in entries:
            found.setdefault(f"{entry.user}: {' '.join(entry.command.split())}", path)
    view = machine.view()
    for folder in RUN_BY_CRON:
        try:
            found.update({f"{folder}/{name}": folder for name in sorted(view.names(folder))})
        except OSError:
            continue
    units = machine.systemd.units.items()
    found.update({name: "systemd" for name, state in units if name.endswith(".timer") and state.active == "active"})
    return found
