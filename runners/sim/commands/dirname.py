"""dirname: strip the last component from file names."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.options import parse, usage_error


def main(ctx: Context) -> int:
    options = parse(ctx, "z", ["zero/z"], usage="Usage: dirname [OPTION] NAME...")
    if not options.operands:
        usage_error(ctx, "missing operand")
    for name in options.operands:
        stripped = name.rstrip("/")
        if not stripped:
            folder = "/" if name else "."
        else:
            folder, slash, _ = stripped.rpartition("/")
            folder = (folder.rstrip("/") or "/") if slash else "."
        ctx.out(folder + ("\0" if options.has("z") else "\n"))
    return 0
