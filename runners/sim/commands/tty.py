"""tty of coreutils: the terminal that standard input is."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.options import parse, usage_error
from runners.sim.shell.nesting import Keyboard


def main(ctx: Context) -> int:
    options = parse(ctx, "s", ["silent/s", "quiet/s"], usage="Usage: tty [OPTION]...")
    if options.operands:
        usage_error(ctx, f"extra operand ‘{options.operands[0]}’")
    there = isinstance(ctx.stdin, Keyboard)
    if not options.has("s"):
        ctx.line(f"/dev/{ctx.tty}" if there else "not a tty")
    return 0 if there else 1
