"""How long a command that never ends by itself is watched, by somebody who typed it and waits for the prompt."""

from __future__ import annotations

import math

from runners.sim.commands.context import Context
from runners.sim.shell.nesting import Keyboard

PATIENCE = 5.0
"""Seconds after which a person presses Ctrl-C."""
INTERRUPTED = 130


def interrupted_at(ctx: Context) -> float:
    """The moment of Ctrl-C; never for jobs in the background and what `timeout` runs."""
    above = _parent(ctx)
    parent = ctx.machine.processes.get(above)
    job = ctx.hub is not None and any(task.listed and task.pid in (ctx.pid, above) for task in ctx.hub.tasks)
    attended = isinstance(ctx.stdin, Keyboard) and ctx.stdin.attended
    # Stages of a pipeline are forks of the shell, which the table does not list.
    by_shell = parent is None or parent.name in ("bash", "sh", "-bash")
    return ctx.machine.clock.now + PATIENCE if attended and by_shell and not job else math.inf


def _parent(ctx: Context) -> int:
    own = ctx.machine.processes.get(ctx.pid)
    return own.ppid if own is not None else 0
