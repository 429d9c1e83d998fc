"""head: output the first part of files."""

from __future__ import annotations

import re

from runners.sim.commands.context import Context, Reader
from runners.sim.commands.inputs import describe, inputs, lines, size
from runners.sim.commands.open_files import Device, FileStream
from runners.sim.commands.options import parse


def main(ctx: Context) -> int:
    arguments = ctx.args
    if arguments and re.fullmatch(r"-\d+[cqv]*", arguments[0]):
        digits = arguments[0][1:].rstrip("cqv")
        kind = "-c" if "c" in arguments[0] else "-n"
        arguments = [kind, digits, *arguments[1:]]
    options = parse(
        ctx, "c:n:qvz", ["bytes=/c", "lines=/n", "quiet/q", "silent/q", "verbose/v", "zero-terminated/z"],
        arguments=arguments, usage="Usage: head [OPTION]... [FILE]...\n"
        "Print the first 10 lines of each FILE to standard output.",
    )  # fmt: skip
    kind = options.last("c", "n") or "n"
    text = options.value(kind) or "10"
    count = size(text.lstrip("-+"))
    if count is None:
        ctx.die(f"invalid number of {'bytes' if kind == 'c' else 'lines'}: ‘{text}’")
    from_end = text.startswith("-")
    headers = options.has("v") or (len(options.operands) > 1 and not options.has("q"))
    failed: list[str] = []
    first = True
    for item in inputs(ctx, options.operands, failed, message="cannot open '{name}' for reading: {problem}"):
        if headers:
            label = "standard input" if item.name == "-" else item.name
            ctx.line(("" if first else "\n") + f"==> {label} <==")
        first = False
        try:
            _head(ctx, item.reader, kind, count, from_end)
        except OSError as error:
            if not error.filename:
                raise
            ctx.err(f"error reading '{item.name}': {describe(error)}")
            failed.append(item.name)
    return int(bool(failed))


def _head(ctx: Context, reader: Reader, kind: str, count: int, from_end: bool) -> None:
    if kind == "c":
        if from_end:
            data = reader.read()
            ctx.stdout.write(data[: max(len(data) - count, 0)])
            return
        if isinstance(reader, Device) and reader.is_zero and isinstance(ctx.stdout, FileStream):
            ctx.stdout.fill(b"\0", count)
            return
        while count > 0 and (chunk := reader.read(min(count, 65536))):
            ctx.stdout.write(chunk)
            count -= len(chunk)
        return
    if from_end:
        held: list[bytes] = []
        for line in lines(ctx, reader):
            held.append(line)
            if len(held) > count:
                ctx.stdout.write(held.pop(0))
        return
    if count == 0:
        return
    for line in lines(ctx, reader):
        ctx.stdout.write(line)
        count -= 1
        if count == 0:
            return
