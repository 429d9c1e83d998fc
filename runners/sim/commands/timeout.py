"""timeout: run a command with a time limit."""

from __future__ import annotations

from typing import NamedTuple

from runners.sim.budget import BudgetExceeded
from runners.sim.commands import wrappers
from runners.sim.commands.context import Context
from runners.sim.commands.options import hint, parse, usage_error
from runners.sim.commands.waiting import Task
from runners.sim.lifecycle import KILL, signal
from runners.sim.signals import NAMES as SIGNAL_NAMES
from runners.sim.signals import number_of


def main(ctx: Context) -> int:
    options = parse(
        ctx, "+k:s:v", ["foreground", "kill-after=/k", "preserve-status", "signal=/s", "verbose/v"], status=125,
        usage="Usage: timeout [OPTION] DURATION COMMAND [ARG]...\n"
        "Start COMMAND, and kill it if still running after DURATION.",
    )  # fmt: skip
    if len(options.operands) < 2:
        hint(ctx, 125)
    seconds = wrappers.duration(options.operands[0])
    if seconds is None:
        usage_error(ctx, f"invalid time interval ‘{options.operands[0]}’", 125)
    argv = options.operands[1:]
    hub = ctx.hub
    if hub is None or seconds == 0:
        return wrappers.run(ctx, argv)
    # The command gets an earlier deadline of its own; when that passes, it is what ended, not the line.
    limit = ctx.machine.clock.now + seconds
    outer = hub.deadline
    if limit >= outer:
        return wrappers.run(ctx, argv)
    number = number_of(options.value("s") or "TERM")
    if number is None:
        usage_error(ctx, f"‘{options.value('s')}’: invalid signal", 125)
    kill_after = wrappers.duration(options.value("k") or "0")
    if kill_after is None:
        usage_error(ctx, f"invalid time interval ‘{options.value('k')}’", 125)
    terms = _Terms(limit, number, kill_after, options.has("preserve-status"), options.has("v"))
    return _limited(ctx, argv, terms)


class _Terms(NamedTuple):
    """When the command is over and by what: `limit`: virtual time; `kill_after`: seconds, 0 for never."""

    limit: float
    signal: int
    kill_after: float
    preserve: bool
    verbose: bool


def _limited(ctx: Context, argv: list[str], terms: _Terms) -> int:
    hub = ctx.hub
    assert hub is not None
    outer = hub.deadline
    finished: list[int] = []
    task = hub.spawn(ctx.machine.processes.allocate(), lambda: finished.append(wrappers.run(ctx, argv)))
    clock = ctx.machine.clock
    # Work that waits for nothing passes no time: a busy command ends by its steps, of which it gets a share.
    reserve = ctx.machine.budget.left // 2
    try:
        ctx.machine.budget.left -= reserve
        hub.wait(lambda: bool(finished) or clock.now >= terms.limit, terms.limit)
    except BudgetExceeded:
        if clock.now >= outer:
            raise
        ctx.machine.budget.left = 0
        hub.machine.advance(max(terms.limit - clock.now, 0.0))
    finally:
        ctx.machine.budget.left += reserve
    if finished:
        return finished[0]
    return _ended(ctx, task, terms, argv[0], finished)


def _ended(ctx: Context, task: Task, terms: _Terms, name: str, finished: list[int]) -> int:
    """The time is over: the signal goes to the command and to all that it started, and KILL later if that is asked."""
    hub = ctx.hub
    assert hub is not None
    signals = [terms.signal] if terms.signal == KILL or not terms.kill_after else [terms.signal, KILL]
    sent = terms.signal
    for sent in signals:
        if terms.verbose:
            ctx.err(f"sending signal {SIGNAL_NAMES[sent]} to command ‘{name}’")
        for job in [one.pid for one in hub.tasks if one.listed and _under(ctx, one.pid)]:
            signal(ctx.machine, job, sent, ctx.cred)
        last = sent == signals[-1]
        hub.stop(task, sent, None if last else ctx.machine.clock.now + terms.kill_after)
        if task.done:
            break
    if sent == KILL:
        return 128 + KILL
    return (finished[0] if finished else 128 + sent) if terms.preserve else 124


def _under(ctx: Context, pid: int) -> bool:
    """Was the process started by this command, or by what that started?"""
    processes = ctx.machine.processes
    process = processes.get(pid)
    while process is not None and process.ppid != ctx.pid:
        process = processes.get(process.ppid) if process.ppid > 1 else None
    return process is not None
