"""strings: print the sequences of printable characters in files."""

from __future__ import annotations

import re

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import inputs
from runners.sim.commands.options import parse
from runners.text import is_digits


def main(ctx: Context) -> int:
    arguments = [f"-n{word[1:]}" if re.fullmatch(r"-\d+", word) else word for word in ctx.args]
    options = parse(
        ctx,
        "afn:oT:t:e:w",
        ["all/a", "bytes=/n", "radix=/t"],
        arguments=arguments,
        usage="Usage: strings [option(s)] [file(s)]",
        version="GNU strings (GNU Binutils for Debian) 2.40",
    )
    text = options.value("n") or "4"
    if not is_digits(text) or int(text) == 0:
        ctx.die(f"invalid minimum string length {text}")
    least = min(int(text), 60000)
    failed: list[str] = []
    for item in inputs(ctx, options.operands, failed, message="'{name}': {problem}"):
        data = item.reader.read()
        ctx.spend(len(data) >> 6)
        for match in re.finditer(rb"[\t -~]{%d,}" % least, data):
            ctx.stdout.write(match.group() + b"\n")
    return int(bool(failed))
