"""namei of util-linux 2.38.1: a path followed step by step."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from typing import NamedTuple

from runners.sim.commands.context import Context
from runners.sim.commands.options import Options
from runners.sim.files.inode import Inode
from runners.sim.tool import Tool
from runners.sim.users import accounts

_TOOL = Tool(
    "namei [options] <pathname>...",
    "h,help V,version x,mountpoints m,modes o,owners l,long n,nosymlinks v,vertical Z,context",
    "namei from util-linux 2.38.1",
)
_DEEPEST = 40
_KINDS = {stat.S_IFREG: "-", stat.S_IFDIR: "d", stat.S_IFLNK: "l", stat.S_IFSOCK: "s", stat.S_IFCHR: "c",
          stat.S_IFBLK: "b", stat.S_IFIFO: "p"}  # fmt: skip


class _Step(NamedTuple):
    """One line: a part of the path; `inode` None and the reason in the text where there is no such thing."""

    depth: int
    text: str
    path: str
    inode: Inode | None


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if not options.operands:
        _TOOL.fail(ctx, "pathname argument is missing")
    status = 0
    for path in options.operands:
        ctx.line(f"f: {path}")
        steps = list(_follow(ctx, path, ctx.files.cwd, 0, links=not options.has("n")))
        _show(ctx, options, steps)
        if steps and steps[-1].inode is None:
            status = 1
    return status


def _follow(ctx: Context, path: str, base: str, depth: int, *, links: bool) -> Iterator[_Step]:
    """Each part of a path below `base`, and of what its links lead to."""
    if depth > _DEEPEST:
        yield _Step(depth, f"{path} - exceeded limit of symlinks", path, None)
        return
    at = base
    if path.startswith("/"):
        at = "/"
        yield _Step(depth, "/", "/", ctx.files.stat("/"))
    for part in (word for word in path.split("/") if word):
        here = f"{at.rstrip('/')}/{part}"
        try:
            inode = ctx.files.stat(here, follow=False)
        except OSError as error:
            yield _Step(depth, f"{part} - {error.strerror}", here, None)
            return
        if not inode.is_link:
            yield _Step(depth, part, here, inode)
        else:
            yield _Step(depth, f"{part} -> {inode.target}", here, inode)
            for step in _follow(ctx, inode.target or "", at, depth + 1, links=links) if links else ():
                yield step
                if step.inode is None:
                    return
            here = ctx.files.real_path(here)
        at = here


def _show(ctx: Context, options: Options, steps: list[_Step]) -> None:
    known = accounts(ctx.machine)
    modes, owners, upright = (options.has(letter, "l") for letter in "mov")
    tops = {mount.path for mount in ctx.files.tree.mounts}
    found = [step.inode for step in steps if step.inode is not None]
    users = max((len(known.user_name(inode.uid)) for inode in found), default=0)
    groups = max((len(known.group_name(inode.gid)) for inode in found), default=0)
    for step in steps:
        inode, indent = step.inode, "  " * step.depth
        lead, tail = ("", indent) if upright else (f"{indent} ", "")
        if inode is None:
            cells = " " * ((10 if modes else 1) + (users + groups + 2 if owners else 0))
        else:
            mounted = options.has("x") and step.path in tops
            kind = "D" if mounted else _KINDS.get(stat.S_IFMT(inode.mode), "?")
            cells = kind + (stat.filemode(inode.mode)[1:] if modes else "")
            if owners:
                cells += f" {known.user_name(inode.uid):<{users}} {known.group_name(inode.gid):<{groups}}"
        ctx.line(f"{lead}{cells} {tail}{step.text}")
