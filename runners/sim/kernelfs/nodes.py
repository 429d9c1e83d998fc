"""What is at a path of a file system that the kernel makes up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from runners.sim.machine import Machine


class Folder(NamedTuple):
    names: Sequence[str]
    uid: int = 0
    gid: int = 0


class File(NamedTuple):
    text: str
    mode: int = 0o444
    uid: int = 0
    gid: int = 0


class Link(NamedTuple):
    target: str
    uid: int = 0
    gid: int = 0


Node: TypeAlias = Folder | File | Link
Maker: TypeAlias = Callable[[Machine, Sequence[str]], Node | None]
"""What is at a path, given as its parts; None where there is nothing."""
