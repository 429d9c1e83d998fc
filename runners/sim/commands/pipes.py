"""Pipes. A reader with nothing to read and a writer without room wait at the hub, and so let the other side go on."""

from __future__ import annotations

import errno

from runners.sim.budget import BudgetExceeded
from runners.sim.commands.streams import MEMORY, Stream
from runners.sim.commands.waiting import Hub
from runners.sim.files.tree import fail

PIPE_CAPACITY = 65536


class Pipe:
    """The buffer between two ends."""

    __slots__ = ("buffer", "closed_reader", "closed_writer", "hub", "offset")

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.buffer = bytearray()
        self.offset = 0
        self.closed_reader = False
        self.closed_writer = False

    @property
    def available(self) -> int:
        return len(self.buffer) - self.offset

    def can_read(self) -> bool:
        return len(self.buffer) > self.offset or self.closed_writer

    def can_write(self) -> bool:
        return self.closed_reader or len(self.buffer) - self.offset < PIPE_CAPACITY

    def take(self, size: int) -> bytes:
        start, buffer = self.offset, self.buffer
        piece = bytes(buffer[start : start + size])
        end = start + len(piece)
        if end > PIPE_CAPACITY or end == len(buffer):
            del buffer[:end]
            end = 0
        self.offset = end
        return piece


class PipeReader(Stream):
    __slots__ = ("pipe",)

    def __init__(self, pipe: Pipe) -> None:
        super().__init__("pipe")
        self.pipe = pipe

    def read(self, size: int = -1) -> bytes:
        pipe = self.pipe
        if size == 0:
            return b""
        if size > 0:
            if not pipe.can_read():
                pipe.hub.wait(pipe.can_read)
            return pipe.take(size)
        pieces: list[bytes] = []
        total = 0
        while True:
            if not pipe.can_read():
                pipe.hub.wait(pipe.can_read)
            piece = pipe.take(pipe.available)
            if not piece:
                return b"".join(pieces)
            total += len(piece)
            if total > MEMORY:
                raise BudgetExceeded
            pieces.append(piece)

    def readline(self) -> bytes:
        pipe = self.pipe
        # Most lines are there already, as a whole.
        end = pipe.buffer.find(b"\n", pipe.offset)
        if end >= 0:
            return pipe.take(end + 1 - pipe.offset)
        searched = 0
        while True:
            if not pipe.can_read():
                pipe.hub.wait(pipe.can_read)
            end = pipe.buffer.find(b"\n", pipe.offset + searched)
            if end >= 0:
                return pipe.take(end + 1 - pipe.offset)
            searched = pipe.available
            if pipe.closed_writer:
                return pipe.take(searched)
            if searched > MEMORY:
                raise BudgetExceeded
            # The line is longer than what is there: wait for more, with room made for it.
            have = len(pipe.buffer)
            pipe.hub.wait(lambda have=have: len(pipe.buffer) > have or pipe.closed_writer)  # type: ignore[misc]

    def close(self) -> None:
        self.pipe.closed_reader = True


class PipeWriter(Stream):
    __slots__ = ("pipe",)

    def __init__(self, pipe: Pipe) -> None:
        super().__init__("pipe")
        self.pipe = pipe

    def write(self, data: bytes) -> None:
        pipe = self.pipe
        pipe.hub.machine.budget.spend(1 + (len(data) >> 8))
        if not pipe.can_write():
            pipe.hub.wait(pipe.can_write)
        if pipe.closed_reader:
            raise fail(errno.EPIPE)
        pipe.buffer += data

    def close(self) -> None:
        self.pipe.closed_writer = True
