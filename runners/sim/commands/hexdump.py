"""hexdump, hd: display file contents in hexadecimal, decimal, octal, or ascii."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import size
from runners.sim.commands.options import Options, parse, usage_error

NAMES = ("hexdump", "hd")

_LONG = (
    "one-byte-octal/b", "one-byte-char/c", "canonical/C", "two-bytes-decimal/d", "two-bytes-octal/o", "two-bytes-hex/x",
    "length=/n", "skip=/s", "no-squeezing/v", "color=?/L",
)  # fmt: skip
_USAGE = (
    "Usage:\n"
    " hexdump [options] <file>...\n hd [options] <file>...\n\n"
    "Display file contents in hexadecimal, decimal, octal, or ascii."
)
_ESCAPED = {0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}


class _Style(NamedTuple):
    """Items of `size` bytes shown by `show`; a line is filled up to `width` characters after its address."""

    size: int
    width: int
    show: Callable[[int], str]


_STYLES = {
    "": _Style(2, 40, lambda value: f" {value:04x}"),
    "b": _Style(1, 64, lambda value: f" {value:03o}"),
    "c": _Style(1, 64, lambda value: " " + _character(value).rjust(3)),
    "d": _Style(2, 64, lambda value: f"   {value:05d}"),
    "o": _Style(2, 64, lambda value: f"  {value:06o}"),
    "x": _Style(2, 64, lambda value: f"    {value:04x}"),
}


def main(ctx: Context) -> int:
    options = parse(ctx, "bcCdoxe:f:n:s:vL::", _LONG, usage=_USAGE, version="hexdump from util-linux 2.38.1")
    if options.has("e", "f"):
        usage_error(ctx, "bad format {" + (options.value("e", "f") or "") + "}")
    skip, limit = _number(ctx, options, "s") or 0, _number(ctx, options, "n")
    data = b""
    status = 0
    opened = False
    for operand in options.operands or ["-"]:
        try:
            reader = ctx.open(operand)
            data += reader.read() if limit is None else reader.read(skip + limit)
            opened = True
        except OSError as error:
            ctx.err(f"{operand}: {error.strerror}")
            status = 1
    if not opened:
        ctx.err("all input file arguments failed")
        return status
    data = data[skip:] if limit is None else data[skip : skip + limit]
    kind = "C" if ctx.name == "hd" else options.last("b", "c", "C", "d", "o", "x") or ""
    if kind == "C":
        _dump(ctx, data, skip, options.has("v"), "{:08x}", _canonical)
    else:
        style = _STYLES[kind]
        _dump(ctx, data, skip, options.has("v"), "{:07x}", lambda block: _plain(style, block))
    return status


def _number(ctx: Context, options: Options, name: str) -> int | None:
    text = options.value(name)
    if text is None:
        return None
    found = int(text, 16) if text.lower().startswith("0x") else size(text)
    if found is None:
        usage_error(ctx, f"failed to parse {'length' if name == 'n' else 'offset'}: '{text}': Invalid argument")
    return found


def _dump(ctx: Context, data: bytes, offset: int, all_lines: bool, address: str, show: Callable[[bytes], str]) -> None:
    previous = None
    starred = False
    for start in range(0, len(data), 16):
        ctx.spend(1)
        block = data[start : start + 16]
        if block == previous and not all_lines:
            if not starred:
                ctx.line("*")
            starred = True
            continue
        previous, starred = block, False
        ctx.line(address.format(offset + start) + show(block))
    if data:
        ctx.line(address.format(offset + len(data)))


def _canonical(block: bytes) -> str:
    halves = [" ".join(f"{byte:02x}" for byte in half) for half in (block[:8], block[8:])]
    shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in block)
    return f"  {halves[0]:<23}  {halves[1]:<23}  |{shown}|"


def _plain(style: _Style, block: bytes) -> str:
    items = [block[start : start + style.size] for start in range(0, len(block), style.size)]
    text = "".join(style.show(int.from_bytes(item, "little")) for item in items)
    return text.ljust(style.width)


def _character(byte: int) -> str:
    if byte in _ESCAPED:
        return _ESCAPED[byte]
    return chr(byte) if 32 <= byte < 127 else f"{byte:03o}"
