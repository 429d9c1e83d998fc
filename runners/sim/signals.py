"""Signals by name and number, and sending them with the kernel's rules."""

from __future__ import annotations

import errno

from runners.sim.commands.context import Context
from runners.sim.lifecycle import signal
from runners.sim.processes import Process
from runners.text import is_digits

_NAMES = [
    "HUP",
    "INT",
    "QUIT",
    "ILL",
    "TRAP",
    "ABRT",
    "BUS",
    "FPE",
    "KILL",
    "USR1",
    "SEGV",
    "USR2",
    "PIPE",
    "ALRM",
    "TERM",
    "STKFLT",
    "CHLD",
    "CONT",
    "STOP",
    "TSTP",
    "TTIN",
    "TTOU",
    "URG",
    "XCPU",
    "XFSZ",
    "VTALRM",
    "PROF",
    "WINCH",
    "POLL",
    "PWR",
    "SYS",
]
NUMBERS = {name: number for number, name in enumerate(_NAMES, 1)} | {"IO": 29, "IOT": 6, "CLD": 17, "RTMIN": 34}
NUMBERS |= {f"RTMIN+{offset}": 34 + offset for offset in range(1, 16)}
NUMBERS |= {f"RTMAX-{offset}": 64 - offset for offset in range(14, 0, -1)} | {"RTMAX": 64}
NAMES = {number: name for name, number in reversed(NUMBERS.items())}


def number_of(text: str) -> int | None:
    """A signal's number from `9`, `KILL`, `SIGKILL` or `kill`; None when there is no such signal."""
    if is_digits(text):
        number = int(text)
        return number if number <= 64 else None
    return NUMBERS.get(text.upper().removeprefix("SIG"))


def may_signal(ctx: Context, process: Process) -> bool:
    return ctx.cred.uid in (0, process.cred.uid)


def send(ctx: Context, pid: int, number: int) -> int:
    """kill(2) for one pid: 0, or the errno. Signal 0 only asks whether it could."""
    process = ctx.machine.processes.get(pid)
    if process is None:
        return errno.ESRCH
    if not may_signal(ctx, process):
        return errno.EPERM
    if number:
        signal(ctx.machine, pid, number, ctx.cred)
    return 0
