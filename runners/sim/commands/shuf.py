"""shuf: generate random permutations."""

from __future__ import annotations

import re

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import all_lines
from runners.sim.commands.options import parse
from runners.text import is_digits


def main(ctx: Context) -> int:
    options = parse(
        ctx, "ei:n:o:rz", ["echo/e", "input-range=/i", "head-count=/n", "output=/o", "repeat/r", "random-source="],
        usage="Usage: shuf [OPTION]... [FILE]\nWrite a random permutation of the input lines to standard output.",
    )  # fmt: skip
    span = options.value("i")
    failed: list[str] = []
    if span is not None:
        match = re.fullmatch(r"(\d+)-(\d+)", span)
        if match is None:
            ctx.die(f"invalid input range: ‘{span}’")
        low, high = int(match.group(1)), int(match.group(2))
        ctx.spend(max(high - low, 0))
        rows = [str(number).encode() for number in range(low, high + 1)]
    elif options.has("e"):
        rows = [word.encode("utf-8", "surrogateescape") for word in options.operands]
    else:
        rows = list(all_lines(ctx, options.operands, failed))
    text = options.value("n")
    if text is not None and not is_digits(text):
        ctx.die(f"invalid line count: ‘{text}’")
    count = int(text) if text is not None else len(rows)
    random = ctx.machine.random
    if options.has("r"):
        while rows and (text is None or count > 0):
            ctx.stdout.write(rows[int(random("shuf") * len(rows))] + b"\n")
            count -= 1
        return int(bool(failed))
    for at in range(min(count, len(rows) - 1)):
        other = at + int(random("shuf") * (len(rows) - at))
        rows[at], rows[other] = rows[other], rows[at]
    ctx.stdout.write(b"".join(row + b"\n" for row in rows[:count]))
    return int(bool(failed))
