"""file: a path's inode, read from the tree."""

from __future__ import annotations

from collections.abc import Callable

from runners.probes.arguments import Arguments
from runners.probes.file import FileLook, judge, kind_of
from runners.sim.files.content import Content
from runners.sim.files.inode import READ, Inode
from runners.sim.machine import Machine
from runners.sim.probes.baseline import Baseline
from runners.sim.users import accounts
from runners.worlds import Observation

_SEARCHED = 8 << 20
"""Bytes of a large file that are searched at its beginning and at its end."""
_ABOUT_SOMEBODY = ("owner", "group", "readable_by")


def reads(arguments: Arguments) -> Callable[[Machine], tuple[object, ...]]:
    """What is at the path and where it leads; all files where it is about somebody's name or way there."""
    path, by_name = arguments.require("path"), any(name in arguments for name in _ABOUT_SOMEBODY)

    def parts(machine: Machine) -> tuple[object, ...]:
        return *_inodes(machine, path), machine.files.inodes if by_name else None

    return parts


def evaluate(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    path = arguments.require("path")
    here, there = _inodes(machine, path)
    if here is None:
        return judge(None, arguments)
    about = here if there is None else there
    look = FileLook(
        kind=kind_of(here.mode),
        target=here.target,
        there=there is not None,
        mode=about.mode,
        size=about.size,
        owners=lambda: _names(machine, about),
        text=lambda: _text(about.content),
        readable_by=lambda name: _readable(machine, path, name),
    )
    return judge(look, arguments)


def _inodes(machine: Machine, path: str) -> tuple[Inode | None, Inode | None]:
    """What is at the path, and what links lead to."""
    here = _inode(machine, path, follow=False)
    return here, _inode(machine, path, follow=True) if here is None or here.is_link else here


def _inode(machine: Machine, path: str, *, follow: bool) -> Inode | None:
    try:
        return machine.view().find(path, follow=follow).inode
    except OSError:
        return None


def _names(machine: Machine, inode: Inode) -> tuple[str, str]:
    known = accounts(machine)
    return known.user_name(inode.uid), known.group_name(inode.gid)


def _text(content: Content) -> str:
    if content.size <= 2 * _SEARCHED:
        data = content.read()
    else:
        data = content.read(0, _SEARCHED) + b"\n" + content.read(content.size - _SEARCHED)
    return data.decode("utf-8", "replace")


def _readable(machine: Machine, path: str, name: str) -> bool | None:
    try:
        return machine.view(accounts(machine).cred(name)).access(path, READ)
    except KeyError:
        return None
