"""What goes on in a world after everybody has logged out: processes that no service owns, and jobs for later."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from runners.hosts.kernel_view import Process, descendants
from runners.hosts.outside import Outside
from runners.hosts.probes.storage import jobs
from runners.lasting import RUN_BY_CRON

_ENDING_SECONDS = 2.0
_PAUSE = 0.05


def unowned(outside: Outside, shell: int) -> Mapping[str, str]:
    """Processes outside all services, `PID since START` -> command line. shell: the agent's own, 0 for none; what it
    has begun gets a moment to end, as a subshell does whose command has just been answered."""
    until = time.monotonic() + _ENDING_SECONDS
    while True:
        # In this order: what ends between the two looks is not in the second one.
        begun = descendants(shell, frozenset())
        found = _unowned(outside, shell)
        if not begun & {one.pid for one in found} or time.monotonic() > until:
            return {f"{one.inner} since {one.started}": one.line for one in found}
        time.sleep(_PAUSE)


def _unowned(outside: Outside, shell: int) -> list[Process]:
    return [one for one in outside.processes() if one.pid not in (shell, outside.pid) and not _in_service(one.pid)]


def scheduled(outside: Outside) -> Mapping[str, str]:
    """What will run by itself, whoever is gone: `USER: COMMAND`, `TIMER` or script -> the place that says so."""
    found: dict[str, str] = {}
    for path, entry in jobs(outside):
        found.setdefault(f"{entry.user}: {' '.join(entry.command.split())}", path)
    for folder in RUN_BY_CRON:
        found.update({f"{folder}/{name}": folder for name in outside.files.names(folder)})
    found.update(dict.fromkeys(outside.timers(), "systemd"))
    return found


def _in_service(pid: int) -> bool:
    """By the control group that systemd put it into. One that is gone meanwhile is nobody's."""
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    except OSError:
        return True
    return any(line.startswith("0::") and ".service" in line for line in lines)
