"""rev: reverse lines characterwise."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import inputs, lines
from runners.sim.commands.options import parse


def main(ctx: Context) -> int:
    options = parse(ctx, "", usage="Usage:\n rev [options] [file ...]", version="rev from util-linux 2.38.1")
    failed: list[str] = []
    for item in inputs(ctx, options.operands, failed, message="cannot open {name}: {problem}"):
        for raw in lines(ctx, item.reader):
            body, newline = (raw[:-1], b"\n") if raw.endswith(b"\n") else (raw, b"")
            text = body.decode("utf-8", "surrogateescape")[::-1]
            ctx.stdout.write(text.encode("utf-8", "surrogateescape") + newline)
    return int(bool(failed))
