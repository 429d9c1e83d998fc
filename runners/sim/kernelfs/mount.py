"""One mount of such a file system."""

from __future__ import annotations

import stat
import weakref
from typing import NamedTuple

from runners.sim.files.content import EMPTY, Content
from runners.sim.files.inode import Inode
from runners.sim.kernelfs import procfs, sysfs
from runners.sim.kernelfs.nodes import File, Folder, Link, Maker
from runners.sim.machine import Machine


class _Kind(NamedTuple):
    """store: what is written to a path; OSError where that is refused."""

    make: Maker
    store: procfs.Store


KINDS = {"proc": _Kind(procfs.node, procfs.store), "sysfs": _Kind(sysfs.node, sysfs.store)}
"""By the type of the file system."""


class KernelFiles:
    """One mount for one machine. Numbers of its inodes are negative and stay with their paths."""

    __slots__ = ("_kind", "_machine", "dev", "numbers", "paths", "top")

    def __init__(self, machine: Machine, dev: int, fstype: str) -> None:
        # The machine holds its file systems. Held back, each of its thousands of forks would have to wait for the
        # collector to be found dead.
        self._machine = weakref.ref(machine)
        self._kind = fstype
        self.dev = dev
        self.numbers: dict[str, int] = {}
        self.paths: dict[int, str] = {}
        # The top folder, as long as the processes and the time are the same: every path below begins with it.
        self.top: tuple[object, float, Inode] | None = None

    def bound(self, machine: object) -> KernelFiles:
        assert isinstance(machine, Machine)
        return KernelFiles(machine, self.dev, self._kind)

    @property
    def machine(self) -> Machine:
        machine = self._machine()
        assert machine is not None
        return machine

    def lookup(self, path: str) -> Inode | None:
        if path:
            return self._made(path)
        table, now = self.machine.processes.by_pid, self.machine.clock.now
        if self.top is None or self.top[0] is not table or self.top[1] != now:
            made = self._made("")
            assert made is not None
            self.top = (table, now, made)
        return self.top[2]

    def store(self, number: int, data: bytes) -> None:
        path = self.paths.get(number)
        if path is not None:
            KINDS[self._kind].store(self.machine, path.split("/"), data)

    def _made(self, path: str) -> Inode | None:
        node = KINDS[self._kind].make(self.machine, path.split("/") if path else ())
        if node is None:
            return None
        number, now = self._number(path), self.machine.clock.now
        if isinstance(node, Folder):
            entries = dict.fromkeys(node.names, 0)
            return Inode(number, self.dev, stat.S_IFDIR | 0o555, node.uid, node.gid, 2, now, now, EMPTY, entries)
        if isinstance(node, File):
            content = Content.of(node.text.encode("utf-8", "surrogateescape"))
            return Inode(number, self.dev, stat.S_IFREG | node.mode, node.uid, node.gid, 1, now, now, content)
        assert isinstance(node, Link)
        mode = stat.S_IFLNK | 0o777
        return Inode(number, self.dev, mode, node.uid, node.gid, 1, now, now, target=node.target)

    def _number(self, path: str) -> int:
        number = self.numbers.get(path)
        if number is None:
            number = self.numbers[path] = -(len(self.numbers) + 1 + self.dev * 1_000_000)
            self.paths[number] = path
        return number
