"""file: a path's inode, read from the tree."""

from __future__ import annotations

import stat
from collections.abc import Callable

from runners.patterns import found
from runners.probes.arguments import Arguments
from runners.probes.seen import Seen
from runners.sim.files.content import Content
from runners.sim.files.inode import READ, Inode
from runners.sim.machine import Machine
from runners.sim.probes.baseline import Baseline
from runners.sim.users import accounts
from runners.worlds import Observation

_SEARCHED = 8 << 20
"""Bytes of a large file that are searched at its beginning and at its end."""
_ABOUT_CONTENT = ("contains", "lacks", "size_at_most", "size_at_least", "readable_by", "readable_by_others")
_ABOUT_SOMEBODY = ("owner", "group", "readable_by")


def reads(arguments: Arguments) -> Callable[[Machine], tuple[object, ...]]:
    """What is at the path and where it leads; all files where it is about somebody's name or way there."""
    path, by_name = arguments.require("path"), any(name in arguments for name in _ABOUT_SOMEBODY)

    def parts(machine: Machine) -> tuple[object, ...]:
        here = _inode(machine, path, follow=False)
        there = _inode(machine, path, follow=True) if here is None or here.is_link else here
        return here, there, machine.files.inodes if by_name else None

    return parts


def evaluate(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    """`type`, `target` are of the path itself; everything else is of what links lead to."""
    path, seen = arguments.require("path"), Seen()
    here, there = _inode(machine, path, follow=False), _inode(machine, path, follow=True)
    exists = arguments.flag("exists")
    if exists is not None:
        seen.expect(exists is (here is not None), f"{path} {'exists' if here is not None else 'does not exist'}")
        if not exists:
            return seen.observation()
    if here is None:
        seen.expect(False, f"{path} does not exist")
        return seen.observation()
    kind = arguments.text("type")
    if kind is not None:
        seen.expect(kind == _kind(here), f"{path} is a {_kind(here)}")
    if "target" in arguments:
        seen.expect(here.target == arguments.text("target"), f"{path} points to {here.target}")
    about = there if there is not None else (here if here.is_link and not _needs_content(arguments) else None)
    if about is None:
        seen.expect(False, f"{path} leads nowhere")
        return seen.observation()
    _attributes(machine, arguments, path, about, seen)
    if there is not None:
        _content(arguments, path, there.content, there.size, seen)
        _readers(machine, arguments, path, there, seen)
    return seen.observation()


def _inode(machine: Machine, path: str, *, follow: bool) -> Inode | None:
    try:
        return machine.view().find(path, follow=follow).inode
    except OSError:
        return None


def _kind(inode: Inode) -> str:
    if inode.is_link:
        return "link"
    if inode.is_dir:
        return "directory"
    return "file" if inode.is_file else "special file"


def _needs_content(arguments: Arguments) -> bool:
    return any(name in arguments for name in _ABOUT_CONTENT)


def _attributes(machine: Machine, arguments: Arguments, path: str, inode: Inode, seen: Seen) -> None:
    known = accounts(machine)
    owner, group = arguments.text("owner"), arguments.text("group")
    if owner is not None:
        name = known.user_name(inode.uid)
        seen.expect(name == owner, f"{path} belongs to {name}")
    if group is not None:
        name = known.group_name(inode.gid)
        seen.expect(name == group, f"{path} has the group {name}")
    mode, most = arguments.text("mode"), arguments.text("mode_at_most")
    permissions = f"{path} has mode {inode.permissions:04o}"
    if mode is not None:
        seen.expect(inode.permissions == int(mode, 8), permissions)
    if most is not None:
        seen.expect(not inode.permissions & ~int(most, 8), permissions)


def _content(arguments: Arguments, path: str, content: Content, size: int, seen: Seen) -> None:
    least, most = arguments.integer("size_at_least"), arguments.integer("size_at_most")
    if least is not None:
        seen.expect(size >= least, f"{path} has {size} bytes")
    if most is not None:
        seen.expect(size <= most, f"{path} has {size} bytes")
    wanted, unwanted = arguments.text("contains"), arguments.text("lacks")
    if wanted is not None or unwanted is not None:
        text = _text(content)
        if wanted is not None:
            there = found(wanted, text)
            seen.expect(there, f"{path} {'contains' if there else 'lacks'} /{wanted}/")
        if unwanted is not None:
            there = found(unwanted, text)
            seen.expect(not there, f"{path} {'contains' if there else 'lacks'} /{unwanted}/")


def _text(content: Content) -> str:
    if content.size <= 2 * _SEARCHED:
        data = content.read()
    else:
        data = content.read(0, _SEARCHED) + b"\n" + content.read(content.size - _SEARCHED)
    return data.decode("utf-8", "replace")


def _readers(machine: Machine, arguments: Arguments, path: str, inode: Inode, seen: Seen) -> None:
    reader, others = arguments.text("readable_by"), arguments.flag("readable_by_others")
    if reader is not None:
        try:
            can = machine.view(accounts(machine).cred(reader)).access(path, READ)
            seen.expect(can, f"{path} is {'readable' if can else 'not readable'} by {reader}")
        except KeyError:
            seen.expect(False, f"there is no user {reader}")
    if others is not None:
        can = bool(inode.mode & stat.S_IROTH)
        seen.expect(can is others, f"{path} is {'readable' if can else 'not readable'} by others")
