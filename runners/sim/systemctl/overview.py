"""systemctl status without a unit."""

from __future__ import annotations

from runners.sim.format import relative
from runners.sim.machine import Machine
from runners.sim.systemctl.facts import timestamp
from runners.sim.systemctl.status import tree_lines
from runners.sim.systemd.manager import known, processes_of


def overview_lines(machine: Machine) -> list[str]:
    """The state of the machine as a whole, with the tree of its control groups."""
    failed = [name for name in known(machine) if machine.systemd.get(name).active == "failed"]
    state = "degraded" if failed else "running"
    since = machine.clock.boot
    lines = [
        f"● {machine.spec.hostname}",
        f"    State: {state}",
        f"    Units: {len(known(machine))} loaded (incl. loaded aliases)",
        "     Jobs: 0 queued",
        f"   Failed: {len(failed)} units",
        f"    Since: {timestamp(machine, since)}; {relative(machine.clock.now - since)} ago",
        "  systemd: 252.22-1~deb12u1",
        "   CGroup: /",
    ]
    first = machine.processes.get(1)
    lines.append("           ├─init.scope")
    if first is not None:
        lines += tree_lines([first], "           │ ")
    lines.append("           └─system.slice")
    units = [name for name in known(machine) if processes_of(machine, name)]
    for index, name in enumerate(units):
        last = index == len(units) - 1
        lines.append(f"             {'└─' if last else '├─'}{name}")
        lines += tree_lines(processes_of(machine, name), "               " if last else "             │ ")
    return lines
