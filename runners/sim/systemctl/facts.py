"""What systemctl says about one unit: times, memory, commands and how its processes ended."""

from __future__ import annotations

from collections.abc import Sequence

from runners.sim.lifecycle import SIGNALS, status_name
from runners.sim.machine import Machine
from runners.sim.process_info import meminfo
from runners.sim.processes import Process
from runners.sim.systemd.manager import processes_of
from runners.sim.systemd.state import UnitState
from runners.sim.systemd.unitfile import UnitFile

PRESET = "enabled"
"""Debian's preset is to enable everything."""


def timestamp(machine: Machine, at: float) -> str:
    """`Mon 2024-01-15 10:23:45 UTC`."""
    return f"{machine.clock.time(at):%a %Y-%m-%d %H:%M:%S} UTC"


def tasks(processes: Sequence[Process]) -> int:
    return sum(process.threads for process in processes)


def tasks_limit(machine: Machine, unit: UnitFile) -> str:
    """TasksMax=, by default 15 % of the threads that the kernel allows for its memory."""
    given = unit.get("Service", "TasksMax")
    if given:
        return given
    return str(int(meminfo(machine)["MemTotal"] / 128 * 0.15))


def memory(processes: Sequence[Process]) -> int:
    """Bytes charged to the cgroup: what is resident, and what the kernel keeps for it (page tables, stacks)."""
    return sum(process.rss + process.rss // 512 + 65536 * process.threads for process in processes) // 4096 * 4096


def cpu_seconds(machine: Machine, state: UnitState) -> float:
    now = machine.clock.now
    return state.cpu + sum(process.cpu_used(now) for process in processes_of(machine, state.name))


def cgroup(unit: UnitFile) -> str:
    return f"/{unit.get('Service', 'Slice', 'system.slice')}/{unit.name}"


def ended(state: UnitState) -> str:
    """`code=exited, status=1/FAILURE`, as it stands in parentheses after a pid."""
    if state.exit_code == "exited":
        # Of the names of exit statuses only libc's and systemd's own are shown here.
        named = state.exit_status in (0, 1) or state.exit_status >= 200
        name = f"/{status_name(state.exit_status)}" if named else ""
        return f"code=exited, status={state.exit_status}{name}"
    return f"code={state.exit_code}, signal={SIGNALS.get(state.exit_status, str(state.exit_status))}"


def told(described: str) -> str:
    """What the journal says of an exit, as `status` shows it: fewer names of statuses, and signals as such."""
    code, _, rest = described.partition(", status=")
    number, _, name = rest.partition("/")
    if code != "code=exited":
        return f"{code}, signal={name}"
    return f"{code}, status={number}{f'/{name}' if number in ('0', '1') or int(number) >= 200 else ''}"


def shown_path(path: str) -> str:
    """A unit file's path as systemd names it: /lib, though that is a link to /usr/lib."""
    return path.removeprefix("/usr") if path.startswith("/usr/lib/systemd/") else path


def icon(state: UnitState) -> str:
    """The dot before a unit's name."""
    if state.active == "failed":
        return "×"
    if state.active == "inactive":
        return "○"
    return "↻" if state.active == "reloading" else "●"


def file_state(state_text: str) -> str:
    """What stands after the path on the Loaded: line."""
    return f"{state_text}; preset: {PRESET}" if state_text in ("enabled", "disabled", "indirect") else state_text
