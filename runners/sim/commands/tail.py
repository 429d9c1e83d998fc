"""tail: output the last part of files, and follow them as they grow."""

from __future__ import annotations

import re
from collections import deque

from runners.sim.commands.context import Context, Reader
from runners.sim.commands.following import INTERRUPTED, interrupted_at
from runners.sim.commands.inputs import describe, inputs, lines, size
from runners.sim.commands.open_files import FileStream
from runners.sim.commands.options import parse


def main(ctx: Context) -> int:
    arguments = ctx.args
    if arguments and re.fullmatch(r"[-+]\d+[cfl]*", arguments[0]):
        word = arguments[0]
        number = re.sub(r"[cfl]", "", word)
        extra = ["-f"] if "f" in word else []
        arguments = [*extra, "-c" if "c" in word else "-n", number if number[0] == "+" else number[1:], *arguments[1:]]
    options = parse(
        ctx, "c:fFn:qs:vz",
        ["bytes=/c", "follow=?{descriptor,name}/f", "lines=/n", "quiet/q", "silent/q", "sleep-interval=/s", "verbose/v",
         "pid=", "retry", "zero-terminated/z"],
        arguments=arguments, usage="Usage: tail [OPTION]... [FILE]...\n"
        "Print the last 10 lines of each FILE to standard output.",
    )  # fmt: skip
    kind = options.last("c", "n") or "n"
    text = options.value(kind) or "10"
    count = size(text.lstrip("-+"))
    if count is None:
        ctx.die(f"invalid number of {'bytes' if kind == 'c' else 'lines'}: ‘{text}’")
    from_start = text.startswith("+")
    headers = options.has("v") or (len(options.operands) > 1 and not options.has("q"))
    failed: list[str] = []
    first = True
    followed: list[tuple[str, Reader]] = []
    for item in inputs(ctx, options.operands, failed, message="cannot open '{name}' for reading: {problem}"):
        label = "standard input" if item.name == "-" else item.name
        if headers:
            ctx.line(("" if first else "\n") + f"==> {label} <==")
        first = False
        try:
            _tail(ctx, item.reader, kind, count, from_start)
            followed.append((label, item.reader))
        except OSError as error:
            if not error.filename:
                raise
            ctx.err(f"error reading '{item.name}': {describe(error)}")
            failed.append(item.name)
    if options.has("f", "F"):
        if not followed:
            ctx.die("no files remaining")
        _follow(ctx, followed, headers)
        return INTERRUPTED
    return int(bool(failed))


def _tail(ctx: Context, reader: Reader, kind: str, count: int, from_start: bool) -> None:
    if kind == "c":
        if isinstance(reader, FileStream) and not from_start:
            # A large file is not read from its beginning.
            reader.offset = max(reader.offset, reader.content.size - count)
            count = reader.content.size
        data = reader.read()
        ctx.stdout.write(data[max(count - 1, 0) :] if from_start else data[max(len(data) - count, 0) :])
        return
    if from_start:
        for number, line in enumerate(lines(ctx, reader), 1):
            if number >= count:
                ctx.stdout.write(line)
        return
    if isinstance(reader, FileStream) and reader.offset == 0:
        _skip_to_last(reader, count)
    kept: deque[bytes] = deque(maxlen=min(count, 1_000_000))
    for line in lines(ctx, reader):
        kept.append(line)
    if kept:
        ctx.stdout.write(b"".join(kept))


def _skip_to_last(reader: FileStream, count: int) -> None:
    """Move behind the newline that stands before the last `count` lines, looking from the end."""
    content = reader.content
    end = content.size
    wanted = count + 1
    if end and content.read(end - 1, end) != b"\n":
        wanted = count
    while end > 0:
        start = max(end - 65536, 0)
        chunk = content.read(start, end)
        found = chunk.count(b"\n")
        if found >= wanted:
            position = len(chunk)
            for _ in range(wanted):
                position = chunk.rfind(b"\n", 0, position)
            reader.offset = start + position + 1
            return
        wanted -= found
        end = start


def _follow(ctx: Context, followed: list[tuple[str, Reader]], headers: bool) -> None:
    """Print what is appended, for as long as the command may run."""
    current = followed[-1][0]
    end = interrupted_at(ctx)
    while ctx.machine.clock.now < end:
        ctx.sleep(1.0)
        ctx.spend(50)
        for label, reader in followed:
            data = reader.read(65536)
            if data:
                if headers and label != current:
                    ctx.line(f"\n==> {label} <==")
                    current = label
                ctx.stdout.write(data)
