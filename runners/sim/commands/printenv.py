"""printenv: print all or part of the environment."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.options import parse


def main(ctx: Context) -> int:
    options = parse(ctx, "+0", ["null/0"], status=2, usage="Usage: printenv [OPTION]... [VARIABLE]...")
    end = "\0" if options.has("0") else "\n"
    if not options.operands:
        for name, value in ctx.environment.items():
            ctx.out(f"{name}={value}{end}")
        return 0
    status = 0
    for name in options.operands:
        found = ctx.environment.get(name)
        if found is None:
            status = 1
        else:
            ctx.out(found + end)
    return status
