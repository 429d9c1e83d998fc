"""pwd: print the name of the working directory."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.options import parse


def main(ctx: Context) -> int:
    options = parse(
        ctx,
        "LP",
        ["logical/L", "physical/P"],
        usage="Usage: pwd [OPTION]...\nPrint the full filename of the current working directory.",
    )
    if options.operands:
        ctx.err("ignoring non-option arguments")
    ctx.line(ctx.files.cwd if options.last("L", "P") == "L" else ctx.files.real_path(ctx.files.cwd))
    return 0
