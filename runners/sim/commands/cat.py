"""cat: concatenate files to standard output."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe, inputs, lines
from runners.sim.commands.open_files import Device, FileStream
from runners.sim.commands.options import parse

_CHUNK = 65536


def main(ctx: Context) -> int:
    options = parse(
        ctx,
        "AbeEnstTuv",
        ["show-all/A", "number-nonblank/b", "show-ends/E", "number/n", "squeeze-blank/s", "show-tabs/T",
         "show-nonprinting/v"],
        usage="Usage: cat [OPTION]... [FILE]...\nConcatenate FILE(s) to standard output.",
    )  # fmt: skip
    failed: list[str] = []
    plain = not options.given
    number = _State()
    for item in inputs(ctx, options.operands, failed):
        try:
            if plain:
                if isinstance(ctx.stdout, FileStream) and isinstance(item.reader, FileStream):
                    ctx.stdout.take_over(item.reader)
                if isinstance(ctx.stdout, FileStream) and isinstance(item.reader, Device) and item.reader.is_zero:
                    ctx.stdout.fill(b"\0")
                while chunk := item.reader.read(_CHUNK):
                    ctx.stdout.write(chunk)
                continue
            for line in lines(ctx, item.reader):
                shown = _show(line, options.has, number)
                if shown:
                    ctx.stdout.write(shown)
        except OSError as error:
            if not error.filename:
                raise
            ctx.err(f"{item.name}: {describe(error)}")
            failed.append(item.name)
    return int(bool(failed))


class _State:
    """Line numbers and blank lines go on from file to file."""

    def __init__(self) -> None:
        self.number = 0
        self.blank = False


def _show(line: bytes, has: object, state: _State) -> bytes:
    assert callable(has)
    body, newline = (line[:-1], b"\n") if line.endswith(b"\n") else (line, b"")
    blank = body == b"" and newline != b""
    if blank and state.blank and has("s"):
        return b""
    state.blank = blank
    if has("A", "v", "e", "t"):
        body = b"".join(_visible(byte) for byte in body)
    if has("A", "T", "t"):
        body = body.replace(b"\t", b"^I")
    if has("A", "E", "e") and newline:
        newline = b"$\n"
    prefix = b""
    if (has("b") and not blank) or (has("n") and not has("b")):
        state.number += 1
        prefix = f"{state.number:>6}\t".encode("utf-8", "surrogateescape")
    return prefix + body + newline


def _visible(byte: int) -> bytes:
    if byte == 9:
        return b"\t"
    prefix = b""
    if byte >= 128:
        prefix, byte = b"M-", byte - 128
    if byte < 32:
        return prefix + b"^" + bytes([byte + 64])
    return prefix + (b"^?" if byte == 127 else bytes([byte]))
