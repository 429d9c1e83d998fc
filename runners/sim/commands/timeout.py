"""timeout: run a command with a time limit."""

from __future__ import annotations

from runners.sim.budget import BudgetExceeded
from runners.sim.commands import wrappers
from runners.sim.commands.context import Context
from runners.sim.commands.options import hint, parse, usage_error


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
    return _limited(
        ctx, argv, limit, outer, options.has("preserve-status"), options.value("s") in ("9", "KILL", "SIGKILL")
    )


def _limited(ctx: Context, argv: list[str], limit: float, outer: float, preserve: bool, kill: bool) -> int:
    hub = ctx.hub
    assert hub is not None
    finished: list[int] = []
    task = hub.spawn(ctx.machine.processes.allocate(), lambda: finished.append(wrappers.run(ctx, argv)))
    clock = ctx.machine.clock
    # Work that waits for nothing passes no time: a busy command ends by its steps, of which it gets a share.
    reserve = ctx.machine.budget.left // 2
    try:
        ctx.machine.budget.left -= reserve
        hub.wait(lambda: bool(finished) or clock.now >= limit, limit)
    except BudgetExceeded:
        if clock.now >= outer:
            raise
        ctx.machine.budget.left = 0
        hub.machine.advance(max(limit - clock.now, 0.0))
    finally:
        ctx.machine.budget.left += reserve
    if finished:
        return finished[0]
    hub.stop(task, 9 if kill else 15)
    if kill:
        return 137
    return 143 if preserve else 124
