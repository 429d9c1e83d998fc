"""nohup: run a command immune to hangups."""

from __future__ import annotations

from runners.sim.commands import wrappers
from runners.sim.commands.context import Context
from runners.sim.commands.options import parse, usage_error


def main(ctx: Context) -> int:
    options = parse(ctx, "+", status=125, usage="Usage: nohup COMMAND [ARG]...\nRun COMMAND, ignoring hangup signals.")
    if not options.operands:
        usage_error(ctx, "missing operand", 125)
    return wrappers.run(ctx, options.operands, in_place=True)
