"""Signals that reach a shell while it waits for something: its trap runs, or it ends."""

from __future__ import annotations

from signal import strsignal
from typing import TYPE_CHECKING

from runners.sim.commands.waiting import Killed
from runners.sim.signals import NAMES

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell

_KILL = 9


_UNTOLD = (2, 13)


def heed(shell: Shell, killed: Killed, *, told: bool = False) -> int:
    """The status of what the shell waited for, after its trap for the signal; raises `killed` where it has none.

    A shell that is gone from the process table heeds nothing any more. `told`: what it waited for was in the
    foreground, so that bash says what became of it.
    """
    action = shell.session.traps.get(f"SIG{NAMES.get(killed.signal)}")
    if action is None or killed.signal == _KILL or shell.machine.processes.get(shell.session.pid) is None:
        raise killed
    if action:
        if told and killed.signal not in _UNTOLD:
            shell.write_error(f"{strsignal(killed.signal)}\n")
        shell.run_trap(action)
    return 128 + killed.signal
