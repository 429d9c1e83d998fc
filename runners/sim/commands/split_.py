"""split: split a file into pieces."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe, size
from runners.sim.commands.options import parse

_MAX_FILES = 5000


def main(ctx: Context) -> int:
    options = parse(
        ctx, "a:b:C:dl:n:x", ["suffix-length=/a", "bytes=/b", "line-bytes=/C", "numeric-suffixes=?/d", "lines=/l", "number=/n", "additional-suffix=", "verbose"],
        usage="Usage: split [OPTION]... [FILE [PREFIX]]\nOutput pieces of FILE to PREFIXaa, PREFIXab, ...;",
    )  # fmt: skip
    name = options.operands[0] if options.operands else "-"
    prefix = options.operands[1] if len(options.operands) > 1 else "x"
    try:
        data = ctx.open(name).read()
    except OSError as error:
        ctx.die(f"cannot open '{name}' for reading: {describe(error)}")
    length = int(options.value("a") or 2)
    kind = options.last("b", "C", "l", "n")
    text = options.value(kind) if kind else "1000"
    count = size(text or "")
    if not count:
        ctx.die(
            f"invalid number of {'bytes' if kind in ('b', 'C') else 'chunks' if kind == 'n' else 'lines'}: ‘{text}’"
        )
    if kind == "b":
        pieces = [data[at : at + count] for at in range(0, len(data), count)]
    elif kind == "n":
        step = len(data) // count
        pieces = [data[at * step : (at + 1) * step if at < count - 1 else len(data)] for at in range(count)]
    elif kind == "C":
        pieces = [b""]
        for line in data.splitlines(keepends=True):
            if pieces[-1] and len(pieces[-1]) + len(line) > count:
                pieces.append(b"")
            pieces[-1] += line
    else:
        rows = data.split(b"\n")
        whole = [row + b"\n" for row in rows[:-1]] + ([rows[-1]] if rows[-1] else [])
        pieces = [b"".join(whole[at : at + count]) for at in range(0, len(whole), count)]
    for index, piece in enumerate(pieces[:_MAX_FILES]):
        ctx.spend(20)
        if options.has("d"):
            suffix = f"{index:0{length}d}"
        else:
            suffix = ""
            rest = index
            for _ in range(length):
                suffix = chr(97 + rest % 26) + suffix
                rest //= 26
            if rest:
                ctx.die("output file suffixes exhausted")
        target = f"{prefix}{suffix}{options.value('additional-suffix') or ''}"
        try:
            ctx.files.write(target, piece)
        except OSError as error:
            ctx.die(f"{target}: {describe(error)}")
    return 0
