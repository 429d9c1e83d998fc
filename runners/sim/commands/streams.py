"""Streams, which descriptors are open on. Everything is bytes.

They are counted (`users`) and close when the last user is gone: so a pipe's reader sees the end.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator

from runners.sim.budget import BudgetExceeded
from runners.sim.files.tree import fail
from runners.sim.machine import Machine

MEMORY = 32 << 20
"""Bytes that one command substitution or one captured stream may hold."""


class Stream:
    """The base: nothing can be read or written. `path` is what lsof and messages would call it."""

    __slots__ = ("path", "users")
    is_terminal = False

    def __init__(self, path: str = "") -> None:
        self.path = path
        self.users = 1

    def read(self, size: int = -1) -> bytes:  # noqa: ARG002 (the interface)
        raise fail(errno.EBADF)

    def readline(self) -> bytes:
        """Up to and with the next newline; what comes after is left for the next reader."""
        line = bytearray()
        while True:
            byte = self.read(1)
            line += byte
            if not byte or byte == b"\n":
                return bytes(line)

    def lines(self) -> Iterator[bytes]:
        while line := self.readline():
            yield line

    def write(self, data: bytes) -> None:  # noqa: ARG002 (the interface)
        raise fail(errno.EBADF)

    def close(self) -> None:
        """Called when the last user is gone."""


class Closed(Stream):
    """A descriptor that is not open."""

    __slots__ = ()


class Capture(Stream):
    """Collects what is written, as the reader of a command substitution does."""

    __slots__ = ("data", "limit", "machine")

    def __init__(self, machine: Machine, limit: int = MEMORY) -> None:
        super().__init__("pipe")
        self.machine = machine
        self.limit = limit
        self.data = bytearray()

    def write(self, data: bytes) -> None:
        self.machine.budget.spend(1 + (len(data) >> 8))
        self.data += data
        if len(self.data) > self.limit:
            raise BudgetExceeded


class Buffer(Stream):
    """Bytes to be read: here-documents and prepared input."""

    __slots__ = ("data", "offset")

    def __init__(self, data: bytes, path: str = "pipe") -> None:
        super().__init__(path)
        self.data = data
        self.offset = 0

    def read(self, size: int = -1) -> bytes:
        end = len(self.data) if size < 0 else self.offset + size
        piece = self.data[self.offset : end]
        self.offset += len(piece)
        return piece

    def readline(self) -> bytes:
        end = self.data.find(b"\n", self.offset) + 1 or len(self.data)
        line = self.data[self.offset : end]
        self.offset = end
        return line


def release(stream: Stream) -> None:
    """Drop one reference to a stream; the last one closes it."""
    stream.users -= 1
    if stream.users == 0:
        stream.close()
