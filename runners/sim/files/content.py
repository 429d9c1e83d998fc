"""What a file holds: an immutable rope, so that appending to a log and an 8 GB file cost nothing."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from typing import NamedTuple

READABLE = 64 << 20
"""Bytes that one read may bring into memory. A larger file is streamed with `chunks`, at the reader's expense."""

_COMPACT_AT = 64
_REPEATED_FROM = 1024
"""In blocks of at least so many bytes, a line that is written again and again is kept once."""
_SHORT = 16384
_ENOUGH = 65536


class Fill(NamedTuple):
    """`size` bytes made by repeating `pattern` (not empty), without storing them."""

    pattern: bytes
    size: int

    def materialise(self, start: int, stop: int) -> bytes:
        period = len(self.pattern)
        first = start - start % period
        copies = (stop - first + period - 1) // period
        return (self.pattern * copies)[start - first : stop - first]


Piece = bytes | Fill


class Content(NamedTuple):
    """`size` bytes in pieces, of which `hole` were never written and take no room. `program` names the implementation
    that runs when such a file is executed: it belongs to the bytes, so a copy of a binary works and an overwritten one
    does not."""

    size: int = 0
    pieces: tuple[Piece, ...] = ()
    program: str | None = None
    hole: int = 0

    @classmethod
    def of(cls, data: bytes) -> Content:
        return cls(len(data), (data,)) if data else EMPTY

    @classmethod
    def filled(cls, pattern: bytes, size: int) -> Content:
        return cls(size, (Fill(pattern, size),)) if size > 0 else EMPTY

    def read(self, start: int = 0, stop: int | None = None) -> bytes:
        """The bytes from `start` to `stop`; ENOMEM when that is more than `READABLE`."""
        whole = start == 0 and stop is None and self.size <= READABLE
        if whole and len(self.pieces) == 1 and isinstance(self.pieces[0], bytes):
            return self.pieces[0]
        stop = self.size if stop is None else min(stop, self.size)
        if stop - start > READABLE:
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
        if len(self.pieces) == 1 and isinstance(self.pieces[0], bytes):
            return self.pieces[0] if start == 0 and stop == self.size else self.pieces[0][start:stop]
        return b"".join(self._range(start, stop))

    def chunks(self, length: int = 65536) -> Iterator[bytes]:
        """The bytes in order, at most `length` at a time."""
        for start in range(0, self.size, length):
            yield b"".join(self._range(start, min(start + length, self.size)))

    def _range(self, start: int, stop: int) -> Iterator[bytes]:
        offset = 0
        for piece in self.pieces:
            length = len(piece) if isinstance(piece, bytes) else piece.size
            low, high = max(start - offset, 0), min(stop - offset, length)
            if low < high:
                yield piece[low:high] if isinstance(piece, bytes) else piece.materialise(low, high)
            offset += length
            if offset >= stop:
                return

    def append(self, data: bytes) -> Content:
        if not data:
            return self
        piece: Piece = data
        if len(data) >= _REPEATED_FROM:
            last = self.pieces[-1] if self.pieces else b""
            if isinstance(last, Fill) and last.materialise(last.size, last.size + len(data)) == data:
                pieces = (*self.pieces[:-1], Fill(last.pattern, last.size + len(data)))
                return Content(self.size + len(data), pieces, hole=self.hole)
            piece = _same_line(data) or data
        pieces = (*self.pieces, piece)
        if len(pieces) > _COMPACT_AT:
            pieces = _compact(pieces)
        return Content(self.size + len(data), pieces, hole=self.hole)

    def concat(self, other: Content) -> Content:
        if not other.size:
            return self
        return Content(self.size + other.size, self.pieces + other.pieces, hole=self.hole + other.hole)

    def resized(self, size: int) -> Content:
        """Truncated, or extended with zeros as a hole is."""
        if size == self.size:
            return self
        if size > self.size:
            more = size - self.size
            return Content(size, (*self.pieces, Fill(b"\0", more)), hole=self.hole + more)
        pieces: list[Piece] = []
        left = size
        for piece in self.pieces:
            length = len(piece) if isinstance(piece, bytes) else piece.size
            if left <= 0:
                break
            if length <= left:
                pieces.append(piece)
            else:
                pieces.append(piece[:left] if isinstance(piece, bytes) else Fill(piece.pattern, left))
            left -= length
        return Content(size, tuple(pieces), hole=max(self.hole - (self.size - size), 0))

    def shortened(self) -> Content:
        """With every long repetition that no newline interrupts cut to 64 KiB: enough for whoever looks for a text."""
        pieces: list[Piece] = []
        for one in self.pieces:
            endless = isinstance(one, Fill) and one.size > _ENOUGH and b"\n" not in one.pattern
            pieces.append(Fill(one.pattern, _ENOUGH) if endless and isinstance(one, Fill) else one)
        return Content(sum(len(one) if isinstance(one, bytes) else one.size for one in pieces), tuple(pieces))

    def digest(self) -> str:
        """A short hash that equal contents share. Large fills are hashed by their description, not byte by byte."""
        hasher = hashlib.sha256()
        if self.size <= 1 << 20:
            hasher.update(self.read())
        else:
            for piece in self.pieces:
                hasher.update(piece if isinstance(piece, bytes) else repr(piece).encode())
        return hasher.hexdigest()[:16]


EMPTY = Content()


def _same_line(data: bytes) -> Fill | None:
    """The block as one byte or one line again and again (wherever in the line it begins), if that is what it is."""
    if data[:1] * len(data) == data:
        return Fill(data[:1], len(data))
    first = data.find(b"\n")
    period = data.find(b"\n", first + 1) - first
    if first < 0 or period <= 0 or period * 8 > len(data):
        return None
    fill = Fill(data[:period], len(data))
    return fill if fill.materialise(0, len(data)) == data else None


def _compact(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Join neighbouring short pieces. Long ones stay as they are: other machines share them, copying them is dear."""
    joined: list[Piece] = []
    run: list[bytes] = []
    for piece in pieces:
        if isinstance(piece, bytes) and len(piece) < _SHORT:
            run.append(piece)
            continue
        if run:
            joined.append(b"".join(run))
            run = []
        joined.append(piece)
    if run:
        joined.append(b"".join(run))
    return tuple(joined)
