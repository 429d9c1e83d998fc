"""stdbuf: run a command with other buffering of its streams."""

from __future__ import annotations

import re

from runners.sim.commands import wrappers
from runners.sim.commands.context import Context
from runners.sim.commands.options import parse, usage_error


def main(ctx: Context) -> int:
    options = parse(
        ctx, "+i:o:e:", ["input=/i", "output=/o", "error=/e"], status=125,
        usage="Usage: stdbuf OPTION... COMMAND\n"
        "Run COMMAND, with modified buffering operations for its standard streams.",
    )  # fmt: skip
    for name, value in options.given:
        if name == "i" and value == "L":
            usage_error(ctx, "line buffering stdin is meaningless", 125)
        if value != "L" and re.fullmatch(r"\d+([KMGT]i?B?)?", value or "") is None:
            ctx.err(f"invalid mode ‘{value}’")
            return 125
    if not options.operands:
        usage_error(ctx, "missing operand", 125)
    if not options.given:
        usage_error(ctx, "you must specify a buffering mode option", 125)
    return wrappers.run(ctx, options.operands, in_place=True)
