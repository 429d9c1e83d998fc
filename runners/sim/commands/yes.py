"""yes: output a string repeatedly until killed."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.open_files import FileStream
from runners.sim.commands.options import parse


def main(ctx: Context) -> int:
    options = parse(
        ctx, "+", usage="Usage: yes [STRING]...\nRepeatedly output a line with all specified STRING(s), or 'y'."
    )
    line = (" ".join(options.operands or ["y"]) + "\n").encode("utf-8", "surrogateescape")
    block = line * max(65536 // len(line), 1)
    if isinstance(ctx.stdout, FileStream):
        ctx.stdout.fill(line)
    while True:
        ctx.stdout.write(block)
