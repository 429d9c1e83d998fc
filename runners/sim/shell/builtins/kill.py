"""kill as bash has it built in: job specifications, its own messages and its own list of signals."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from runners.sim.commands.context import Context
from runners.sim.commands.kill import group_members
from runners.sim.lifecycle import SIGNALS
from runners.sim.shell.builtins.arguments import show_usage
from runners.sim.shell.builtins.context import builtin_context
from runners.sim.shell.builtins.jobs import find_job
from runners.sim.shell.signals import ShellExit
from runners.sim.signals import NAMES, number_of, send
from runners.text import is_digits

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell

_BASH_NAMES = {**NAMES, 29: "IO", 0: "EXIT"}
_KILL, _STOP = 9, 19
_UNHEEDED = frozenset({17, 18, 23, 28})
"""Signals that a shell without a trap lives on after."""
_UNHEEDED_AT_PROMPT = frozenset({2, 3, 15})


def kill(shell: Shell, argv: list[str]) -> int:
    words = argv[1:]
    first = words[0] if words else ""
    if first in ("-l", "-L"):
        return _list(shell, words[1:])
    name = "TERM"
    if first in ("-s", "-n"):
        if len(words) < 2:
            shell.error(f"kill: {first}: option requires an argument")
            return 1
        name, words = words[1], words[2:]
    elif first.startswith("-") and first != "--":
        name, words = first[1:], words[1:]
    number = number_of(name)
    if number is None:
        shell.error(f"kill: {name}: invalid signal specification")
        return 1
    if words[:1] == ["--"]:
        words = words[1:]
    if not words:
        show_usage(shell, "kill")
        return 2
    context = builtin_context(shell, argv)
    reached = [_signal(shell, context, word, number) for word in words]
    return int(not any(reached))


def _signal(shell: Shell, context: Context, target: str, number: int) -> bool:
    """Send to one process, group or job; False with a message when nothing was reached."""
    pid = _pid(shell, target)
    if pid is None:
        return False
    session = shell.session
    if pid == session.pid or (number == 0 and pid == session.home_pid):
        if number:
            _signal_self(shell, number)
        return True
    if any(job.pid == pid for job in session.jobs):
        shell.hub.signals[pid] = number
    members = [pid] if pid > 0 else group_members(context, -pid)
    problem = 0 if members else errno.ESRCH
    for member in members:
        problem = send(context, member, number) or problem
    if problem:
        shell.error(f"kill: ({pid}) - {os.strerror(problem)}")
    return not problem


def _pid(shell: Shell, target: str) -> int | None:
    if target.startswith("%"):
        job = find_job(shell, target)
        if job is None:
            shell.error(f"kill: {target}: no such job")
            return None
        return job.pid
    if not is_digits(target.removeprefix("-")):
        shell.error(f"kill: {target}: arguments must be process or job IDs")
        return None
    return int(target)


def _signal_self(shell: Shell, number: int) -> None:
    """A signal to the shell itself: its trap, or its end."""
    action = shell.session.traps.get(f"SIG{SIGNALS.get(number)}")
    if action is not None and number not in (_KILL, _STOP):
        if action:
            shell.run_trap(action)
        return
    if number in _UNHEEDED or (shell.session.mode == "interactive" and number in _UNHEEDED_AT_PROMPT):
        return
    if number == _KILL:
        shell.session.traps.pop("EXIT", None)
    raise ShellExit(128 + number)


def _list(shell: Shell, words: list[str]) -> int:
    if not words:
        shell.out(signal_table())
        return 0
    status = 0
    for word in words:
        number = int(word) if is_digits(word) else 0 if word == "EXIT" else number_of(word)
        # A shell reports death by signal n as 128 + n.
        name = None if number is None else _BASH_NAMES.get(number - 128 if number > 128 else number)
        if name is None:
            shell.error(f"kill: {word}: invalid signal specification")
            status = 1
        else:
            shell.out(f"{name if is_digits(word) else number}\n")
    return status


def signal_table() -> str:
    """What `kill -l` and `trap -l` show: five signals a line."""
    cells = [f"{number:>2}) SIG{_BASH_NAMES[number]}" for number in sorted(NAMES)]
    rows = ["\t".join(cells[start : start + 5]) for start in range(0, len(cells), 5)]
    # A row that is not full ends in the tab that its next entry would stand behind.
    return "\n".join(rows) + ("\t\n" if len(cells) % 5 else "\n")
