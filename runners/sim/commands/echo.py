"""echo: display a line of text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from runners.sim.commands.context import Context

_ESCAPE = re.compile(
    rb"\\(?:0([0-7]{0,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([abceEfnrtv\\]))"
)
_SIMPLE = {
    b"a": b"\a", b"b": b"\b", b"e": b"\x1b", b"E": b"\x1b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t",
    b"v": b"\v", b"\\": b"\\",
}  # fmt: skip


def unescape(data: bytes) -> tuple[bytes, bool]:
    """echo -e's escapes; True when `\\c` cut the output off."""
    out: list[bytes] = []
    position = 0
    for match in _ESCAPE.finditer(data):
        out.append(data[position : match.start()])
        position = match.end()
        octal, hexadecimal, short, long, simple = match.groups()
        if simple == b"c":
            return b"".join(out), True
        if simple is not None:
            out.append(_SIMPLE[simple])
        elif octal is not None:
            out.append(bytes([int(octal or b"0", 8) & 0xFF]))
        elif hexadecimal is not None:
            out.append(bytes([int(hexadecimal, 16)]))
        else:
            code = int(short or long, 16)
            out.append(chr(code).encode("utf-8", "surrogatepass") if code < 0x110000 else b"")
    return b"".join(out) + data[position:], False


def render(words: Sequence[str], *, escapes: bool = False) -> bytes:
    """What echo writes for its arguments."""
    newline = True
    index = 0
    while index < len(words):
        word = words[index]
        if len(word) < 2 or word[0] != "-" or word[1:].strip("neE"):
            break
        for letter in word[1:]:
            if letter == "n":
                newline = False
            else:
                escapes = letter == "e"
        index += 1
    data = " ".join(words[index:]).encode("utf-8", "surrogateescape")
    if escapes and b"\\" in data:
        data, cut = unescape(data)
        if cut:
            return data
    return data + b"\n" if newline else data


def main(ctx: Context) -> int:
    if ctx.args == ["--help"]:
        ctx.line("Usage: echo [SHORT-OPTION]... [STRING]...\n  or:  echo LONG-OPTION")
        return 0
    if ctx.args == ["--version"]:
        ctx.line("echo (GNU coreutils) 9.1")
        return 0
    data = render(ctx.args)
    if data:
        ctx.stdout.write(data)
    return 0
