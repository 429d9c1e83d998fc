"""fold: wrap each input line to fit in specified width."""

from __future__ import annotations

import re

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import inputs, lines
from runners.sim.commands.options import parse
from runners.text import is_digits


def main(ctx: Context) -> int:
    arguments = [f"-w{word[1:]}" if re.fullmatch(r"-\d+", word) else word for word in ctx.args]
    options = parse(
        ctx,
        "bsw:",
        ["bytes/b", "spaces/s", "width=/w"],
        arguments=arguments,
        usage="Usage: fold [OPTION]... [FILE]...\nWrap input lines in each FILE, writing to standard output.",
    )
    text = options.value("w") or "80"
    if not is_digits(text) or int(text) == 0:
        ctx.die(f"invalid number of columns: ‘{text}’")
    width = int(text)
    failed: list[str] = []
    for item in inputs(ctx, options.operands, failed):
        for raw in lines(ctx, item.reader):
            body, newline = (raw[:-1], b"\n") if raw.endswith(b"\n") else (raw, b"")
            while len(body) > width:
                ctx.spend(1)
                cut = width
                if options.has("s"):
                    blank = body.rfind(b" ", 0, width)
                    cut = blank + 1 if blank >= 0 else width
                ctx.stdout.write(body[:cut] + b"\n")
                body = body[cut:]
            ctx.stdout.write(body + newline)
    return int(bool(failed))
