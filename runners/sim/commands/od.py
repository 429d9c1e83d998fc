"""od: dump files in octal and other formats."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import size
from runners.sim.commands.options import Options, parse, usage_error
from runners.text import is_digits

_LONG = (
    "address-radix=/A", "skip-bytes=/j", "read-bytes=/N", "strings=?/S", "format=/t", "output-duplicates/v",
    "width=?/w", "traditional", "endian=",
)  # fmt: skip
_USAGE = (
    "Usage: od [OPTION]... [FILE]...\n"
    "Write an unambiguous representation, octal bytes by default, of FILE to standard output."
)
_TRADITIONAL = {
    "a": "a", "b": "o1", "c": "c", "d": "u2", "f": "fF", "i": "dI", "l": "dL", "o": "o2", "s": "d2", "x": "x2",
}  # fmt: skip
_SIZES = {"C": 1, "S": 2, "I": 4, "L": 8, "F": 4, "D": 8}
_NAMED = [
    "nul",
    "soh",
    "stx",
    "etx",
    "eot",
    "enq",
    "ack",
    "bel",
    "bs",
    "ht",
    "nl",
    "vt",
    "ff",
    "cr",
    "so",
    "si",
    "dle",
    "dc1",
    "dc2",
    "dc3",
    "dc4",
    "nak",
    "syn",
    "etb",
    "can",
    "em",
    "sub",
    "esc",
    "fs",
    "gs",
    "rs",
    "us",
    "sp",
]
_ESCAPED = {0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}
_DIGITS = {
    "o": {1: 3, 2: 6, 4: 11, 8: 22}, "x": {1: 2, 2: 4, 4: 8, 8: 16}, "u": {1: 3, 2: 5, 4: 10, 8: 20},
    "d": {1: 4, 2: 6, 4: 11, 8: 20}, "f": {4: 15, 8: 24},
}  # fmt: skip


class _Format(NamedTuple):
    """One output line for each block: items of `size` bytes, each `width` characters wide after a blank."""

    size: int
    width: int
    show: Callable[[bytes], str]
    trailer: bool


def main(ctx: Context) -> int:
    options = parse(ctx, "abcdfilosxA:j:N:S:t:vw::", _LONG, usage=_USAGE)
    radix = options.value("A") or "o"
    if radix not in ("d", "o", "x", "n"):
        ctx.die(f"invalid output address radix '{radix[0]}'; it must be one character from [doxn]")
    formats: list[_Format] = []
    for name, value in options.given:
        if name in _TRADITIONAL:
            formats += _formats(ctx, _TRADITIONAL[name])
        elif name == "t":
            formats += _formats(ctx, value or "")
    formats = formats or _formats(ctx, "o2")
    skip, limit = _number(ctx, options, "j") or 0, _number(ctx, options, "N")
    status = 0
    pieces = []
    for operand in options.operands or ["-"]:
        try:
            reader = ctx.open(operand)
            pieces.append(reader.read() if limit is None else reader.read(skip + limit))
        except OSError as error:
            ctx.err(f"{operand}: {error.strerror}")
            status = 1
    data = b"".join(pieces)
    if skip > len(data):
        if status and not data:
            return status
        ctx.die("cannot skip past end of combined input")
    data = data[skip:] if limit is None else data[skip : skip + limit]
    if status and not data:
        return status
    least = max(item.size for item in formats)
    width = _number(ctx, options, "w") if options.value("w") else 32 if options.has("w") else 16
    if not width or width % least:
        ctx.err(f"warning: invalid width {width}; using {least} instead")
        width = least
    _dump(ctx, formats, data, skip, radix, width, options.has("v"))
    return status


def _number(ctx: Context, options: Options, name: str) -> int | None:
    text = options.value(name)
    if text is None:
        return None
    if text.startswith(("0x", "0X")):
        return int(text, 16)
    found = (
        int(text, 8) if text.startswith("0") and is_digits(text) and "8" not in text and "9" not in text else size(text)
    )
    if found is None:
        ctx.die(f"invalid -{name} argument '{text}'")
    return found


def _formats(ctx: Context, text: str) -> list[_Format]:
    found = []
    index = 0
    while index < len(text):
        kind = text[index]
        index += 1
        if kind not in "acdfoux":
            usage = f"invalid character '{kind}' in type string ‘{text}’"
            ctx.die(usage)
        length = {"a": 1, "c": 1, "f": 8}.get(kind, 4)
        if kind not in "ac":
            start = index
            if text[index : index + 1] in _SIZES:
                length = _SIZES[text[index]]
                index += 1
            else:
                while is_digits(text[index : index + 1]):
                    index += 1
                length = int(text[start:index] or length)
        if length not in _DIGITS.get(kind, {1: 3}):
            usage_error(
                ctx, f"invalid type string ‘{text}’;\nthis system doesn't provide a {length}-byte integral type"
            )
        trailer = text[index : index + 1] == "z"
        index += trailer
        found.append(_format(kind, length, trailer))
    return found


def _format(kind: str, length: int, trailer: bool) -> _Format:
    if kind in "ac":
        show = _named if kind == "a" else _character
        return _Format(1, 3, lambda item: show(item[0]), trailer)
    width = _DIGITS[kind][length]
    if kind == "f":
        code = "<f" if length == 4 else "<d"
        digits = 8 if length == 4 else 17
        return _Format(length, width, lambda item: _shortest(struct.unpack(code, item)[0], code, digits), trailer)
    base = {"o": "o", "x": "x", "u": "d", "d": "d"}[kind]
    zeros = "0" if kind in "ox" else ""
    return _Format(
        length, width,
        lambda item: f"{int.from_bytes(item, 'little', signed=kind == 'd'):{zeros}{width}{base}}", trailer,
    )  # fmt: skip


def _shortest(value: float, code: str, digits: int) -> str:
    """The fewest digits that give the number back."""
    packed = struct.pack(code, value)
    for precision in range(1, digits + 2):
        text = f"{value:.{precision}g}"
        try:
            if struct.pack(code, float(text)) == packed:
                return text
        except (OverflowError, ValueError):
            continue
    return f"{value:.{digits}g}"


def _named(byte: int) -> str:
    byte &= 0x7F
    return "del" if byte == 127 else _NAMED[byte] if byte <= 32 else chr(byte)


def _character(byte: int) -> str:
    if byte in _ESCAPED:
        return _ESCAPED[byte]
    return chr(byte) if 32 <= byte < 127 else f"{byte:03o}"


def _dump(
    ctx: Context, formats: list[_Format], data: bytes, offset: int, radix: str, width: int, duplicates: bool
) -> None:
    address = {"o": "{:07o}", "d": "{:07d}", "x": "{:06x}", "n": ""}[radix]
    margin = " " * len(address.format(0))
    # All lines are as wide as the widest, so that items of several formats stand under each other.
    room = max((item.width + 1) * (width // item.size) for item in formats)
    previous: bytes | None = None
    starred = False
    for start in range(0, len(data), width):
        ctx.spend(1)
        block = data[start : start + width]
        if block == previous and not duplicates and len(block) == width:
            if not starred:
                ctx.line("*")
            starred = True
            continue
        starred = False
        previous = block
        head = address.format(offset + start)
        for item in formats:
            ctx.line(head + _row(item, block, width, room))
            head = margin
    if radix != "n":
        ctx.line(address.format(offset + len(data)))


def _row(item: _Format, block: bytes, width: int, room: int) -> str:
    count = width // item.size
    cell = room // count
    out = []
    for start in range(0, len(block), item.size):
        piece = block[start : start + item.size].ljust(item.size, b"\0")
        out.append(item.show(piece).rjust(cell))
    text = "".join(out)
    if item.trailer:
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in block)
        text = f"{text.ljust(cell * count)}  >{shown}<"
    return text
