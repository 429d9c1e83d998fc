"""nl: number lines of files."""

from __future__ import annotations

import re

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import all_lines, quoted
from runners.sim.commands.options import parse
from runners.sim.regexes import basic


def _number(ctx: Context, what: str, text: str) -> int:
    if re.fullmatch(r"[-+]?\d{1,18}", text, re.ASCII) is None:
        ctx.die(f"invalid {what}: {quoted(text)}")
    return int(text)


def main(ctx: Context) -> int:
    options = parse(
        ctx, "b:d:f:h:i:l:n:ps:v:w:",
        ["body-numbering=/b", "line-increment=/i", "number-format=/n", "number-separator=/s",
         "starting-line-number=/v", "number-width=/w"],
        usage="Usage: nl [OPTION]... [FILE]...\nWrite each FILE to standard output, with line numbers added.",
    )  # fmt: skip
    style = options.value("b") or "t"
    width = max(_number(ctx, "line number field width", options.value("w") or "6"), 1)
    step = _number(ctx, "line number increment", options.value("i") or "1")
    number = _number(ctx, "starting line number", options.value("v") or "1")
    separator = options.value("s")
    separator = "\t" if separator is None else separator
    form = options.value("n") or "rn"
    failed: list[str] = []
    for line in all_lines(ctx, options.operands, failed):
        chosen = style == "a" or (style == "t" and line != b"") or (style[:1] == "p" and basic(style[1:]).test(line))
        if chosen:
            text = (
                f"{number:<{width}}"
                if form == "ln"
                else f"{number:0{width}d}"
                if form == "rz"
                else f"{number:>{width}}"
            )
            ctx.stdout.write((text + separator).encode("utf-8", "surrogateescape") + line + b"\n")
            number += step
        else:
            ctx.stdout.write(b" " * (width + len(separator)) + line + b"\n")
    return int(bool(failed))
