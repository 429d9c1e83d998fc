"""sleep: delay for a specified amount of time."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.options import parse, usage_error
from runners.sim.commands.wrappers import duration


def main(ctx: Context) -> int:
    options = parse(ctx, "", usage="Usage: sleep NUMBER[SUFFIX]...\nPause for NUMBER seconds.")
    if not options.operands:
        usage_error(ctx, "missing operand")
    total = 0.0
    wrong = False
    for text in options.operands:
        seconds = duration(text)
        if seconds is None:
            ctx.err(f"invalid time interval ‘{text}’")
            wrong = True
        else:
            total += seconds
    if wrong:
        ctx.stderr.write(b"Try 'sleep --help' for more information.\n")
        return 1
    ctx.sleep(min(total, 1e12))
    return 0
