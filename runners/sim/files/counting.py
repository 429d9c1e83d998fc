"""What a rope holds, without going through all of its bytes: what is repeated is looked at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from runners.sim.files.content import Content, Fill

LARGE = 8 << 20
"""Bytes from which on it is worth it."""
DISK_SPEED = 520 << 20
"""Bytes that the disk gives in a second."""
_CHUNK = 65536


class Count(NamedTuple):
    """As wc counts: newlines, words, characters (UTF-8)."""

    lines: int = 0
    words: int = 0
    characters: int = 0


def count(content: Content) -> Count:
    """The whole file's counts."""
    lines = words = characters = 0
    inside = False
    for data, times in _blocks(content):
        first, inside_after = _words(data, inside)
        again, _ = _words(data, inside_after)
        words += first + again * (times - 1)
        inside = inside_after
        lines += data.count(b"\n") * times
        characters += (len(data) - sum(map(data.count, _CONTINUATION))) * times
    return Count(lines, words, characters)


_CONTINUATION = [bytes([value]) for value in range(0x80, 0xC0)]


def _words(data: bytes, inside: bool) -> tuple[int, bool]:
    """Words that begin in the data, and whether its end is inside one."""
    found = len(data.split())
    if inside and data and not data[:1].isspace():
        found -= 1
    return found, bool(data) and not data[-1:].isspace()


def _blocks(content: Content) -> Iterator[tuple[bytes, int]]:
    """Stretches of bytes and how often each is repeated."""
    for piece in content.pieces:
        if isinstance(piece, Fill):
            times, rest = divmod(piece.size, len(piece.pattern))
            if times:
                yield piece.pattern, times
            if rest:
                yield piece.pattern[:rest], 1
        else:
            for start in range(0, len(piece), _CHUNK):
                yield piece[start : start + _CHUNK], 1


def repeats_lines(content: Content) -> bool:
    """Is it a large file of which most is lines again and again?"""
    return content.size >= LARGE and all(
        b"\n" in piece.pattern for piece in content.pieces if isinstance(piece, Fill)
    ) and sum(len(piece) for piece in content.pieces if isinstance(piece, bytes)) < LARGE  # fmt: skip


def line_counts(content: Content) -> dict[bytes, int]:
    """Each different line, in order of its first coming, and how often it comes."""
    found: dict[bytes, int] = {}
    held = b""
    for data, times in _blocks(content):
        lines = (held + data).split(b"\n")
        held = lines.pop()
        for line in lines:
            found[line] = found.get(line, 0) + 1
        if times > 1:
            block = (held + data).split(b"\n")
            held = block.pop()
            for line in block:
                found[line] = found.get(line, 0) + times - 1
    if held:
        found[held] = found.get(held, 0) + 1
    return found
