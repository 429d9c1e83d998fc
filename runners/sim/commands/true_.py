"""true: do nothing, successfully."""

from __future__ import annotations

from runners.sim.commands.context import Context


def main(ctx: Context) -> int:
    if ctx.args == ["--help"]:
        ctx.line("Usage: true [ignored command line arguments]\n  or:  true OPTION")
    elif ctx.args == ["--version"]:
        ctx.line("true (GNU coreutils) 9.1")
    return 0
