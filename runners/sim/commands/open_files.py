"""Open files, devices and directories. A file is open by its inode: it outlives its name."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterator

from runners.sim.budget import BudgetExceeded
from runners.sim.commands.streams import MEMORY, Buffer, Stream
from runners.sim.files.content import READABLE, Content, Fill
from runners.sim.files.inode import READ, Inode, permits
from runners.sim.files.tree import FileTree, fail
from runners.sim.files.view import FileView
from runners.sim.machine import Machine
from runners.sim.systemd.journal import KMSG, record, records

_WITHOUT_END = 1 << 40
"""More than any disk takes."""


class FileStream(Stream):
    """An open regular file, by inode: it outlives its name."""

    __slots__ = ("append", "closed", "inode", "machine", "offset", "readable", "tree", "uid", "writable")

    def __init__(
        self,
        machine: Machine,
        inode: int,
        path: str,
        *,
        readable: bool = False,
        writable: bool = False,
        append: bool = False,
        uid: int = 0,
    ) -> None:
        super().__init__(path)
        self.machine = machine
        self.tree: FileTree = machine.files
        self.inode = inode
        self.readable = readable
        self.writable = writable
        self.append = append
        self.uid = uid
        self.offset = 0
        self.closed = False
        self.tree.open(inode)

    @property
    def content(self) -> Content:
        return self.tree.inodes[self.inode].content

    def read(self, size: int = -1) -> bytes:
        if not self.readable:
            raise fail(errno.EBADF)
        content = self.content
        end = content.size if size < 0 else min(self.offset + size, content.size)
        if end <= self.offset:
            return b""
        if end - self.offset > READABLE:
            raise BudgetExceeded
        data = content.read(self.offset, end)
        self.machine.budget.spend(1 + (len(data) >> 10))
        self.offset = end
        return data

    def readline(self) -> bytes:
        if not self.readable:
            raise fail(errno.EBADF)
        content = self.content
        pieces: list[bytes] = []
        while self.offset < content.size:
            chunk = content.read(self.offset, min(self.offset + 4096, content.size))
            end = chunk.find(b"\n") + 1
            if end:
                self.offset += end
                pieces.append(chunk[:end])
                break
            self.offset += len(chunk)
            pieces.append(chunk)
            self.machine.budget.spend(4)
            if len(pieces) > MEMORY >> 12:
                raise BudgetExceeded
        return b"".join(pieces) if len(pieces) != 1 else pieces[0]

    def lines(self) -> Iterator[bytes]:
        if not self.readable:
            raise fail(errno.EBADF)
        # What is held of a line that has not ended yet: joined once, when its end has come.
        held: list[bytes] = []
        size = 0
        while True:
            # A chunk at a time; the offset follows the lines handed out, as it does for tools that seek back.
            content = self.content
            start = self.offset + size
            chunk = content.read(start, min(start + 65536, content.size)) if start < content.size else b""
            if not chunk:
                if held:
                    self.offset += size
                    yield b"".join(held)
                    held, size = [], 0
                    continue
                return
            self.machine.budget.spend(1 + (len(chunk) >> 10))
            pieces = chunk.split(b"\n")
            if len(pieces) > 1:
                pieces[0] = b"".join((*held, pieces[0]))
                held, size = [], 0
            rest = pieces.pop()
            for piece in pieces:
                self.offset += len(piece) + 1
                yield piece + b"\n"
            if rest:
                held.append(rest)
                size += len(rest)
            if size > MEMORY:
                raise BudgetExceeded

    def write(self, data: bytes) -> None:
        if not self.writable:
            raise fail(errno.EBADF)
        self.machine.budget.spend(2 + (len(data) >> 10))
        tree = self.tree
        inode = tree.inodes[self.inode]
        content = inode.content
        at = content.size if self.append else self.offset
        try:
            self._store(at, data)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            # As write(2) does: what still fits is written before the error.
            slack = -content.size % 4096
            room = tree.free(tree.mount_of(inode)).bytes // 4096 * 4096 + slack + content.size - at
            if 0 < room < len(data):
                self._store(at, data[:room])
            raise
        self.offset = at + len(data)
        if len(data) >= 1024 and not isinstance(tree.inodes[self.inode].content.pieces[-1], Fill):
            # What has to be kept byte for byte is dear, so that one line cannot fill our memory.
            self.machine.budget.spend(len(data) >> 5)

    def take_over(self, source: FileStream) -> bool:
        """Append all that is left of another file, without going through its bytes (copy_file_range).

        False when that cannot be done at once: not at the end, the same file, no room. Then nothing has happened.
        """
        inode, content = self.tree.inodes[self.inode], source.content
        at = inode.content.size if self.append else self.offset
        left = content.size - source.offset
        room = self.tree.free(self.tree.mount_of(inode)).bytes
        if not self.writable or not source.readable or source.inode == self.inode or source.offset:
            return False
        if at != inode.content.size or left > room:
            return False
        self.machine.budget.spend(2 + (left >> 16))
        now = self.tree.clock.now
        mode = inode.mode & ~0o6000 if self.uid else inode.mode
        changed = inode.content.concat(content)._replace(program=None)
        self.tree.put(inode._replace(content=changed, mtime=now, ctime=now, mode=mode))
        self.offset, source.offset = at + left, content.size
        return True

    def fill(self, pattern: bytes, length: int = _WITHOUT_END) -> None:
        """Write `length` bytes of a pattern over and over, without making them. What stood there after them stays.

        ENOSPC when the disk takes fewer, which are written then.
        """
        if not self.writable:
            raise fail(errno.EBADF)
        tree, inode = self.tree, self.tree.inodes[self.inode]
        mount, content = tree.mount_of(inode), inode.content
        at = content.size if self.append else self.offset
        room = tree.free(mount).bytes // 4096 * 4096 + inode.blocks - at if mount.size else length
        written = max(min(length, room), 0)
        self.machine.budget.spend(2 + (written >> 16))
        changed = content.resized(at).concat(Content.filled(pattern, written))
        if content.size > at + written:
            changed = changed.concat(Content.of(content.read(at + written)))
        now = tree.clock.now
        tree.put(inode._replace(content=changed._replace(program=None), mtime=now, ctime=now))
        self.offset = at + written
        if written < length:
            raise fail(errno.ENOSPC)

    def _store(self, at: int, data: bytes) -> None:
        inode = self.tree.inodes[self.inode]
        content = inode.content
        if at == content.size:
            changed = content.append(data)
        else:
            head = content.resized(at)
            tail = content.read(at + len(data)) if at + len(data) < content.size else b""
            changed = head.append(data + tail)
        now = self.tree.clock.now
        mode = inode.mode & ~0o6000 if self.uid else inode.mode
        self.tree.put(inode._replace(content=changed._replace(program=None), mtime=now, ctime=now, mode=mode))

    def close(self) -> None:
        """Give the file up, once."""
        if not self.closed:
            self.closed = True
            self.tree.close(self.inode)


class Device(Stream):
    """A character device by its numbers."""

    __slots__ = ("device", "machine", "position")

    def __init__(self, machine: Machine, path: str, device: tuple[int, int]) -> None:
        super().__init__(path)
        self.machine = machine
        self.device = device
        self.position = 0

    @property
    def is_zero(self) -> bool:
        """Is it /dev/zero?"""
        return self.device == (1, 5)

    def read(self, size: int = -1) -> bytes:
        minor = self.device[1]
        if self.device == KMSG:
            kept = records(self.machine)[self.position :]
            data = kept if size < 0 else kept[:size]
            self.position += len(data)
            return data
        if self.device[0] != 1 or minor == 3:
            return b""
        if size < 0:
            raise BudgetExceeded
        self.machine.budget.spend(1 + (size >> 8))
        if size > READABLE:
            raise BudgetExceeded
        if minor in (5, 7):
            return bytes(size)
        self.position += 1
        seed = f"{self.machine.seed}:{self.machine.count('urandom')}"
        return hashlib.shake_128(seed.encode()).digest(size)

    def write(self, data: bytes) -> None:
        self.machine.budget.spend(1 + (len(data) >> 12))
        if self.device == (1, 7) and data:
            raise fail(errno.ENOSPC)
        if self.device == KMSG:
            record(self.machine, data)


class Setting(Stream):
    """A made-up file opened for writing: each write sets what it stands for."""

    __slots__ = ("dev", "machine", "number")

    def __init__(self, machine: Machine, inode: Inode, path: str) -> None:
        super().__init__(path)
        self.machine = machine
        self.dev = inode.dev
        self.number = inode.number

    def write(self, data: bytes) -> None:
        self.machine.budget.spend(2)
        self.machine.files.synthetic[self.dev].store(self.number, data)


class Directory(Stream):
    """A directory opened for reading: that much is allowed, reading it is not."""

    __slots__ = ()

    def read(self, size: int = -1) -> bytes:  # noqa: ARG002 (the interface)
        raise fail(errno.EISDIR, self.path)


def open_file(
    machine: Machine,
    view: FileView,
    path: str,
    *,
    read: bool = False,
    write: bool = False,
    append: bool = False,
    truncate: bool = False,
    exclusive: bool = False,
) -> Stream:
    """open(2). Raises OSError as the kernel would."""
    if write:
        inode = view.open_for_writing(path, truncate=truncate, exclusive=exclusive)
        if read and not permits(inode, view.cred, READ):
            raise fail(errno.EACCES, path)
    else:
        inode = view.stat(path)
        if not permits(inode, view.cred, READ):
            raise fail(errno.EACCES, path)
    if inode.device is not None and inode.is_char:
        return Device(machine, path, inode.device)
    if inode.is_dir:
        return Directory(path)
    if not inode.is_file:
        raise fail(errno.ENXIO, path)
    if inode.number not in machine.files.inodes:
        # Made up on the spot (/proc): there is nothing to keep open.
        return Setting(machine, inode, path) if write else Buffer(view.content(path).read(), path)
    return FileStream(
        machine, inode.number, path, readable=read, writable=write, append=append, uid=view.cred.uid
    )  # fmt: skip
