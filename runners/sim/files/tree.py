"""The tree: all inodes of a machine, its mounts and their space. No permissions here; `view` adds those."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from immutables import Map

from runners.sim.clock import Clock
from runners.sim.files.acl import Acl, Beside
from runners.sim.files.content import EMPTY, Content
from runners.sim.files.entries import with_entry, without_entry
from runners.sim.files.inode import Inode


class Mount(NamedTuple):
    """One mounted file system. `size` and `reserved` in bytes (`reserved`: taken by what the tree does not hold, such
    as the rest of the operating system); `inodes` and `inodes_reserved` count. `dev` numbers it; `root` is its top."""

    dev: int
    path: str
    source: str
    fstype: str
    size: int
    inodes: int
    root: int
    options: tuple[str, ...] = ("rw", "relatime")
    reserved: int = 0
    inodes_reserved: int = 0

    @property
    def read_only(self) -> bool:
        return "ro" in self.options


class Usage(NamedTuple):
    bytes: int
    inodes: int


class Synthetic(Protocol):
    """A file system whose files are made up on the spot, such as /proc. Paths are relative, "" is its top.

    Its inodes have negative numbers. `store` takes what is written to one (OSError where that is refused).
    """

    def lookup(self, path: str) -> Inode | None: ...

    def store(self, number: int, data: bytes) -> None: ...

    def bound(self, machine: object) -> Synthetic:
        """The same for another machine, a fork."""
        ...


def fail(code: int, path: str | None = None) -> OSError:
    """The OSError that the kernel would give. Raise it."""
    return OSError(code, os.strerror(code), path)


Way = tuple[int, tuple[int, ...]]
"""Where a chain of folders leads: the last one's number, and those above it that do not let everybody through."""
_MOST_WAYS = 1024


class FileTree:
    """All inodes by number. The maps are immutable: a fork shares them and goes its own way from there."""

    __slots__ = (
        "clock", "covered", "inodes", "mounts", "moved", "next_number", "opens", "synthetic", "touched", "usage",
        "ways", "ways_below",
    )  # fmt: skip

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.inodes: Map[int, Inode] = Map()
        self.next_number = 2
        self.mounts: tuple[Mount, ...] = ()
        self.usage: Mapping[int, Usage] = {}
        # The directory that a file system is mounted over -> the top of that file system.
        self.covered: Mapping[int, int] = {}
        # Open counts keep a deleted file's space taken until its last reader ends.
        self.opens: Map[int, int] = Map()
        # Files that were renamed while they were open: what they have been called since.
        self.moved: Map[int, str] = Map()
        self.synthetic: Mapping[int, Synthetic] = {}
        # The numbers of all inodes put here so far: what can differ from an earlier tree is found without a walk.
        self.touched: Map[int, None] = Map()
        # What the kernel's cache of directory entries is for: chains of folders that were walked, and still lead there.
        # Forks share it. It holds none but the folders that were there when they parted, those with numbers below
        # `ways_below`; who does more to one of these than add a name to it goes on with an empty one.
        self.ways: dict[tuple[str, ...], Way] = {}
        self.ways_below = self.next_number

    def fork(self, clock: Clock) -> FileTree:
        if self.ways_below != self.next_number:
            self.ways, self.ways_below = self.ways.copy(), self.next_number
        other = FileTree.__new__(FileTree)
        other.clock = clock
        other.inodes = self.inodes
        other.next_number = self.next_number
        other.mounts = self.mounts
        other.usage = self.usage
        other.covered = self.covered
        other.opens = self.opens
        other.moved = self.moved
        other.synthetic = {}
        other.touched = self.touched
        other.ways = self.ways
        other.ways_below = self.ways_below
        return other

    # -- reading

    def get(self, number: int) -> Inode:
        return self.inodes[number]

    def child(self, directory: Inode, name: str) -> Inode | None:
        """The entry `name` of a directory, seen through mounts."""
        assert directory.entries is not None
        number = directory.entries.get(name)
        if number is None:
            return None
        inode = self.inodes[self.top_of(number)]
        if inode.dev in self.synthetic and inode.dev != directory.dev:
            return self.synthetic[inode.dev].lookup("")
        return inode

    def top_of(self, number: int) -> int:
        """The inode that is seen where this one lies: itself, or the top of what is mounted over it."""
        covered = self.covered
        while number in covered:
            number = covered[number]
        return number

    def mount_of(self, inode: Inode) -> Mount:
        for mount in self.mounts:
            if mount.dev == inode.dev:
                return mount
        raise KeyError(inode.dev)

    def free(self, mount: Mount) -> Usage:
        """Bytes and inodes still to be had; never negative."""
        used = self.usage[mount.dev]
        return Usage(
            max(mount.size - mount.reserved - used.bytes, 0), max(mount.inodes - mount.inodes_reserved - used.inodes, 0)
        )

    def remember(self, folders: tuple[str, ...], way: Way) -> None:
        """A chain of folders was walked: the next one who takes it need not."""
        if len(self.ways) >= _MOST_WAYS:
            self._forget_ways()
        if way[0] < self.ways_below:
            self.ways[folders] = way

    def _forget_ways(self) -> None:
        self.ways = {}
        self.ways_below = self.next_number

    # -- changing

    def put(self, inode: Inode) -> Inode:
        """Replace an inode, charging its mount for the difference in blocks; ENOSPC when there is no room."""
        if inode.entries is not None:
            old = self.inodes.get(inode.number)
            # Whose it is and when it changed leads nobody elsewhere.
            if old is not None and (old.mode != inode.mode or old[8:] != inode[8:]):
                self._forget_ways()
        return self._put(inode)

    def _put(self, inode: Inode) -> Inode:
        """`put` where no chain of folders can lead elsewhere by it."""
        old = self.inodes.get(inode.number)
        before = old.blocks if old is not None else 0
        grow = inode.blocks - before
        new_inode = old is None
        if grow or new_inode:
            self._charge(inode.dev, grow, 1 if new_inode else 0)
        self.inodes = self.inodes.set(inode.number, inode)
        if inode.number not in self.touched:
            self.touched = self.touched.set(inode.number, None)
        return inode

    def _charge(self, dev: int, size: int, inodes: int) -> None:
        used = self.usage[dev]
        if size > 0 or inodes > 0:
            for mount in self.mounts:
                if mount.dev == dev and mount.size:
                    free = self.free(mount)
                    if size > free.bytes or inodes > free.inodes:
                        raise fail(errno.ENOSPC)
        self.usage = {**self.usage, dev: Usage(used.bytes + size, used.inodes + inodes)}

    def create(
        self,
        parent: Inode,
        name: str,
        mode: int,
        uid: int,
        gid: int,
        *,
        content: Content = EMPTY,
        target: str | None = None,
        device: tuple[int, int] | None = None,
        acl: Beside | None = None,
        default_acl: Acl | None = None,
    ) -> Inode:
        """Make a file, directory or link named `name` in `parent`. The caller has checked that the name is free."""
        directory = stat.S_ISDIR(mode)
        number = self.next_number
        now = self.clock.now
        made = Inode(
            number, parent.dev, mode, uid, gid, 2 if directory else 1, now, now, content,
            {} if directory else None, target, device, acl=acl, default_acl=default_acl,
        )  # fmt: skip
        self.put(made)
        self.next_number = number + 1
        self.enter(parent, name, number, subdirectory=directory)
        return made

    def enter(self, parent: Inode, name: str, number: int, *, subdirectory: bool = False) -> None:
        """Add (or replace) one directory entry."""
        parent = self.inodes[parent.number]
        assert parent.entries is not None
        now = self.clock.now
        put = self.put if name in parent.entries else self._put
        put(
            parent._replace(
                entries=with_entry(parent.entries, name, number),
                nlink=parent.nlink + (1 if subdirectory else 0),
                mtime=now,
                ctime=now,
            )
        )

    def leave(self, parent: Inode, name: str) -> None:
        """Take one directory entry out and drop a link of what it named."""
        parent = self.inodes[parent.number]
        assert parent.entries is not None
        entries = without_entry(parent.entries, name)
        inode = self.inodes[parent.entries[name]]
        now = self.clock.now
        put = self.put if inode.is_dir else self._put
        put(parent._replace(entries=entries, nlink=parent.nlink - (1 if inode.is_dir else 0), mtime=now, ctime=now))
        if inode.is_dir:
            self._release(inode)
            return
        inode = self.put(inode._replace(nlink=inode.nlink - 1, ctime=now))
        if inode.nlink == 0 and not self.opens.get(inode.number):
            self._release(inode)

    def open(self, number: int) -> None:
        """A process opened the file: its space stays taken while open, even when deleted."""
        self.opens = self.opens.set(number, self.opens.get(number, 0) + 1)

    def close(self, number: int) -> None:
        left = self.opens.get(number, 0) - 1
        if left > 0:
            self.opens = self.opens.set(number, left)
            return
        if number in self.opens:
            self.opens = self.opens.delete(number)
        if number in self.moved:
            self.moved = self.moved.delete(number)
        inode = self.inodes.get(number)
        if inode is not None and inode.nlink == 0 and not inode.is_dir:
            self._release(inode)

    def _release(self, inode: Inode) -> None:
        self.inodes = self.inodes.delete(inode.number)
        used = self.usage[inode.dev]
        self.usage = {**self.usage, inode.dev: Usage(used.bytes - inode.blocks, used.inodes - 1)}

    # -- mounts

    def mount(self, mount: Mount, over: Inode | None) -> Inode:
        """Mount a fresh file system over a directory (None for the root). Returns its top directory."""
        now = self.clock.now
        number = self.next_number
        self.next_number += 1
        top = Inode(number, mount.dev, stat.S_IFDIR | 0o755, 0, 0, 2, now, now, EMPTY, {})
        self.usage = {**self.usage, mount.dev: Usage(0, 0)}
        self.mounts = (*self.mounts, mount._replace(root=number))
        self._forget_ways()
        self.put(top)
        if mount.fstype == "tmpfs":
            # Its top takes an inode and no block.
            self.usage = {**self.usage, mount.dev: Usage(0, 1)}
        if over is not None and over.number > 0:
            self.covered = {**self.covered, over.number: number}
        return top

    def unmount(self, path: str) -> None:
        """Take the last mount at `path` away; what it held is gone from sight."""
        for mount in reversed(self.mounts):
            if mount.path == path:
                self.mounts = tuple(other for other in self.mounts if other is not mount)
                self.covered = {under: top for under, top in self.covered.items() if top != mount.root}
                self._forget_ways()
                return
        raise fail(errno.EINVAL, path)

    def update_mount(self, path: str, **changes: object) -> None:
        """Change options or sizes of the mount at `path`, as remount does."""
        self.mounts = tuple(
            mount._replace(**changes) if mount.path == path else mount  # type: ignore[arg-type]
            for mount in self.mounts
        )
