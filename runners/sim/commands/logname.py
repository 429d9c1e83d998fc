"""logname: print the login name."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.options import parse


def main(ctx: Context) -> int:
    parse(ctx, "", usage="Usage: logname [OPTION]")
    name = ctx.environment.get("LOGNAME")
    if not name:
        ctx.die("no login name")
    ctx.line(name)
    return 0
