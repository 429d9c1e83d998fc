"""dd's blocks: conversions, and gathering what is read into blocks of the output's size."""

from __future__ import annotations

import errno

from runners.sim.commands.context import Writer
from runners.sim.commands.open_files import FileStream


class Counts:
    """Whole and partial blocks that went in and out, and the bytes that came out."""

    __slots__ = ("copied", "full_in", "full_out", "partial_in", "partial_out")

    def __init__(self) -> None:
        self.full_in = self.partial_in = self.full_out = self.partial_out = self.copied = 0


class Blocks:
    """Takes input blocks and writes output blocks. `direct`: each input block is written as it is, even when short."""

    def __init__(self, writer: Writer, counts: Counts, size: int, conversions: frozenset[str], *, direct: bool) -> None:
        self.writer = writer
        self.counts = counts
        self.size = size
        self.conversions = conversions
        self.direct = direct
        self.pending = b""
        self.odd = b""

    def take(self, data: bytes, block: int) -> None:
        counts, conversions = self.counts, self.conversions
        if len(data) == block:
            counts.full_in += 1
        else:
            counts.partial_in += 1
            if "sync" in conversions:
                data = data.ljust(block, b" " if conversions & {"block", "unblock"} else b"\0")
        if "ucase" in conversions:
            data = data.upper()
        elif "lcase" in conversions:
            data = data.lower()
        if "swab" in conversions:
            data = self._swapped(data)
        if self.direct:
            self._write(data)
            return
        self.pending += data
        while len(self.pending) >= self.size:
            piece, self.pending = self.pending[: self.size], self.pending[self.size :]
            self._write(piece)

    def finish(self) -> None:
        """Write what is left over."""
        rest, self.pending, self.odd = self.pending + self.odd, b"", b""
        if rest:
            self._write(rest)

    def _swapped(self, data: bytes) -> bytes:
        """Every pair of bytes turned around; an odd one waits for its partner."""
        data = self.odd + data
        even = len(data) // 2 * 2
        self.odd = data[even:]
        swapped = bytearray(even)
        swapped[::2], swapped[1::2] = data[1:even:2], data[:even:2]
        return bytes(swapped)

    def _write(self, data: bytes) -> None:
        if not data:
            return
        before = self.writer.offset if isinstance(self.writer, FileStream) else 0
        try:
            self.writer.write(data)
        except OSError as error:
            # What fitted before the disk was full counts as a partial block.
            written = self.writer.content.size - before if isinstance(self.writer, FileStream) else 0
            if error.errno == errno.ENOSPC and written > 0:
                self.counts.partial_out += 1
                self.counts.copied += written
            raise
        self.counts.copied += len(data)
        if len(data) == self.size:
            self.counts.full_out += 1
        else:
            self.counts.partial_out += 1


def zeros(writer: FileStream, block: int, count: int, counts: Counts) -> OSError | None:
    """Zeros into a file at once, as many as the disk takes; the error if it took less."""
    at, problem = writer.content.size if writer.append else writer.offset, None
    try:
        writer.fill(b"\0", block * count)
    except OSError as error:
        problem = error
    counts.copied = writer.offset - at
    full, partial = divmod(counts.copied, block)
    counts.full_in, counts.full_out, counts.partial_out = full + (problem is not None), full, int(partial > 0)
    return problem
