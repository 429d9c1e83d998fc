"""tac: concatenate and print files in reverse."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe, inputs
from runners.sim.commands.options import parse


def main(ctx: Context) -> int:
    options = parse(
        ctx,
        "brs:",
        ["before/b", "regex/r", "separator=/s"],
        usage="Usage: tac [OPTION]... [FILE]...\nWrite each FILE to standard output, last line first.",
    )
    failed: list[str] = []
    separator = (options.value("s") or "\n").encode("utf-8", "surrogateescape")
    for item in inputs(ctx, options.operands, failed, message="failed to open '{name}' for reading: {problem}"):
        try:
            data = item.reader.read()
        except OSError as error:
            ctx.err(f"{item.name}: read error: {describe(error)}")
            failed.append(item.name)
            continue
        ctx.spend(len(data) >> 6)
        pieces = data.split(separator)
        last = pieces.pop()
        rows = [piece + separator for piece in pieces]
        if last:
            rows.append(last)
        ctx.stdout.write(b"".join(reversed(rows)))
    return int(bool(failed))
