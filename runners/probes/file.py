"""file: what lies at a path, whose it is, what it holds and who may read it."""

from __future__ import annotations

import stat
from collections.abc import Callable
from typing import NamedTuple

from runners.patterns import found
from runners.probes.arguments import Arguments
from runners.probes.seen import Seen, nothing_held
from runners.worlds import Observation

_OF_CONTENT = ("contains", "lacks", "size_at_most", "size_at_least", "readable_by", "readable_by_others")
_KINDS = {stat.S_IFLNK: "link", stat.S_IFDIR: "directory", stat.S_IFREG: "file"}


class FileLook(NamedTuple):
    """What is at a path. kind (`kind_of`) and target are of the path itself, everything else of what links lead to, or
    of the link where it leads nowhere, which is not `there`.

    mode: with the type bits; size: bytes; owners: the names of its user and its group; readable_by: could a user open
    it, all folders above it considered? None where there is no such user.
    """

    kind: str
    target: str | None
    there: bool
    mode: int
    size: int
    owners: Callable[[], tuple[str, str]]
    text: Callable[[], str]
    readable_by: Callable[[str], bool | None]


def kind_of(mode: int) -> str:
    return _KINDS.get(stat.S_IFMT(mode), "special file")


def judge(look: FileLook | None, arguments: Arguments) -> Observation:
    """`look`: None where nothing is."""
    path, seen, exists = arguments.require("path"), Seen(), arguments.flag("exists")
    if exists is not None:
        seen.expect(exists is (look is not None), f"{path} {'exists' if look is not None else 'does not exist'}")
        if not exists:
            return seen.observation()
    if look is None:
        return nothing_held(f"{path} does not exist")
    kind = arguments.text("type")
    if kind is not None:
        seen.expect(kind == look.kind, f"{path} is a {look.kind}")
    if "target" in arguments:
        seen.expect(look.target == arguments.text("target"), f"{path} points to {look.target}")
    if not look.there and any(name in arguments for name in _OF_CONTENT):
        seen.expect(False, f"{path} leads nowhere")
        return seen.observation()
    _attributes(look, arguments, path, seen)
    _content(look, arguments, path, seen)
    _readers(look, arguments, path, seen)
    return seen.observation()


def _attributes(look: FileLook, arguments: Arguments, path: str, seen: Seen) -> None:
    owner, group = arguments.text("owner"), arguments.text("group")
    if owner is not None or group is not None:
        its_owner, its_group = look.owners()
        if owner is not None:
            seen.expect(its_owner == owner, f"{path} belongs to {its_owner}")
        if group is not None:
            seen.expect(its_group == group, f"{path} has the group {its_group}")
    mode, most = arguments.text("mode"), arguments.text("mode_at_most")
    permissions = stat.S_IMODE(look.mode)
    if mode is not None:
        seen.expect(permissions == int(mode, 8), f"{path} has mode {permissions:04o}")
    if most is not None:
        seen.expect(not permissions & ~int(most, 8), f"{path} has mode {permissions:04o}")


def _content(look: FileLook, arguments: Arguments, path: str, seen: Seen) -> None:
    least, most = arguments.integer("size_at_least"), arguments.integer("size_at_most")
    if least is not None:
        seen.expect(look.size >= least, f"{path} has {look.size} bytes")
    if most is not None:
        seen.expect(look.size <= most, f"{path} has {look.size} bytes")
    wanted, unwanted = arguments.text("contains"), arguments.text("lacks")
    if wanted is None and unwanted is None:
        return
    text = look.text()
    for pattern, expected in ((wanted, True), (unwanted, False)):
        if pattern is not None:
            there = found(pattern, text)
            seen.expect(there is expected, f"{path} {'contains' if there else 'lacks'} /{pattern}/")


def _readers(look: FileLook, arguments: Arguments, path: str, seen: Seen) -> None:
    reader, others = arguments.text("readable_by"), arguments.flag("readable_by_others")
    if reader is not None:
        can = look.readable_by(reader)
        if can is None:
            seen.expect(False, f"there is no user {reader}")
        else:
            seen.expect(can, f"{path} is {'readable' if can else 'not readable'} by {reader}")
    if others is not None:
        can = bool(look.mode & stat.S_IROTH)
        seen.expect(can is others, f"{path} is {'readable' if can else 'not readable'} by others")
