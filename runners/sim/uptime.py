"""The line that uptime, w and top share: the time, how long the machine is up, who is on it and its load."""

from __future__ import annotations

from runners.sim.logins import sessions
from runners.sim.machine import Machine


def load_average(machine: Machine) -> tuple[str, str, str]:
    one, five, fifteen = machine.view().text("/proc/loadavg").split()[:3]
    return one, five, fifteen


def uptime_seconds(machine: Machine) -> float:
    return machine.clock.now - machine.clock.boot


def uptime_line(machine: Machine) -> str:
    """Such as ` 17:14:41 up 15 min,  1 user,  load average: 0.43, 0.22, 0.11`, without top's `top -`."""
    seconds = int(uptime_seconds(machine))
    days, rest = divmod(seconds, 86400)
    hours, minutes = rest // 3600, rest // 60 % 60
    up = f"{days} day{'s' if days != 1 else ''}, " if days else ""
    up += f"{hours:2d}:{minutes:02d}" if hours else f"{minutes} min"
    users = len(sessions(machine))
    load = ", ".join(load_average(machine))
    return f" {machine.clock.time():%H:%M:%S} up {up}, {users:2d} user{'s' if users > 1 else ''},  load average: {load}"
