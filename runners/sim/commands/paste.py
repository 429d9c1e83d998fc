"""paste: merge lines of files."""

from __future__ import annotations

from runners.sim.commands.context import Context, Reader
from runners.sim.commands.inputs import describe, lines
from runners.sim.commands.options import parse

_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", "0": ""}


def _delimiters(text: str) -> list[bytes]:
    out = []
    index = 0
    while index < len(text):
        if text[index] == "\\" and index + 1 < len(text):
            index += 1
            out.append(_ESCAPES.get(text[index], text[index]).encode("utf-8", "surrogateescape"))
        else:
            out.append(text[index].encode("utf-8", "surrogateescape"))
        index += 1
    return out or [b""]


def main(ctx: Context) -> int:
    options = parse(
        ctx, "d:sz", ["delimiters=/d", "serial/s", "zero-terminated/z"],
        usage="Usage: paste [OPTION]... [FILE]...\n"
        "Write lines consisting of the sequentially corresponding lines from each FILE",
    )  # fmt: skip
    text = options.value("d")
    marks = _delimiters("\t" if text is None else text)
    readers: dict[str, Reader] = {}
    sources = []
    for name in options.operands or ["-"]:
        try:
            if name not in readers or name != "-":
                readers[name] = ctx.open(name)
            sources.append(readers[name])
        except OSError as error:
            ctx.die(f"{name}: {describe(error)}")
    if options.has("s"):
        for reader in sources:
            rows = [line.rstrip(b"\n") for line in lines(ctx, reader)]
            out = b""
            for index, row in enumerate(rows):
                out += (marks[(index - 1) % len(marks)] if index else b"") + row
            ctx.stdout.write(out + b"\n")
        return 0
    iterators = {id(reader): lines(ctx, reader) for reader in sources}
    while True:
        found = [next(iterators[id(reader)], None) for reader in sources]
        if all(row is None for row in found):
            return 0
        out = b""
        for index, line in enumerate(found):
            out += (marks[(index - 1) % len(marks)] if index else b"") + (line or b"").rstrip(b"\n")
        ctx.stdout.write(out + b"\n")
