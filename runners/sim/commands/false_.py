"""false: do nothing, unsuccessfully."""

from __future__ import annotations

from runners.sim.commands.context import Context


def main(ctx: Context) -> int:
    if ctx.args == ["--help"]:
        ctx.line("Usage: false [ignored command line arguments]\n  or:  false OPTION")
    elif ctx.args == ["--version"]:
        ctx.line("false (GNU coreutils) 9.1")
    return 1
