"""du of coreutils 9.1: the space that files and directories take."""

from __future__ import annotations

import fnmatch
import re
from typing import NamedTuple

from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.options import Options
from runners.sim.files.inode import EXECUTE, READ, Inode, permits
from runners.sim.format import human_ceiling
from runners.sim.tool import Tool
from runners.text import is_digits

_TOOL = Tool(
    "du [OPTION]... [FILE]...",
    "0,null a,all apparent-size B,block-size= b,bytes c,total D,dereference-args d,max-depth= files0-from= H "
    "h,human-readable inodes k l,count-links L,dereference m P,no-dereference S,separate-dirs si s,summarize "
    "t,threshold= time=? time-style= X,exclude-from= exclude= x,one-file-system",
    "du (GNU coreutils) 9.1",
)  # fmt: skip
_SUFFIXES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "KB": 10**3, "MB": 10**6, "GB": 10**9}


class _Plan(NamedTuple):
    human: int
    block: int
    apparent: bool
    inodes: bool
    files: bool
    depth: float
    separate: bool
    one_device: bool
    follow: bool
    links: bool
    threshold: int
    excluded: tuple[str, ...]
    end: str
    stamped: bool


class _Directory:
    """A directory being added up. `own` is itself and its files, `total` its subdirectories too."""

    __slots__ = ("depth", "latest", "names", "own", "path", "total")

    def __init__(self, path: str, depth: int, names: list[tuple[str, Inode]], own: int, latest: float) -> None:
        self.path = path
        self.depth = depth
        self.names = names
        self.own = own
        self.total = own
        self.latest = latest


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    plan = _plan(ctx, options)
    walk = _Walk(ctx, plan)
    grand = 0
    for path in options.operands or ["."]:
        grand += walk.measure(path, follow=plan.follow or options.has("D", "H") or path.endswith("/"))
    if options.has("c"):
        walk.print(grand, "total", 0.0)
    return walk.status


def _plan(ctx: Context, options: Options) -> _Plan:
    depth = float("inf")
    text = options.value("d")
    if text is not None:
        if not is_digits(text):
            _TOOL.fail(ctx, f"invalid maximum depth ‘{text}’")
        depth = int(text)
    if options.has("s"):
        if options.has("a"):
            _TOOL.fail(ctx, "cannot both summarize and show all entries")
        if text is not None and text != "0":
            ctx.err(f"warning: summarizing conflicts with --max-depth={text}")
            _TOOL.fail(ctx, "summarizing conflicts with --max-depth")
        depth = 0
    human, block, apparent = 0, 1024, options.has("apparent-size", "b")
    for name, value in options.given:
        if name == "h":
            human = 1024
        elif name == "si":
            human = 1000
        elif name in ("k", "m", "b"):
            human, block = 0, {"k": 1024, "m": 1 << 20, "b": 1}[name]
        elif name == "B":
            human, block = 0, _size(ctx, value or "", "-B")
    threshold = options.value("t")
    limit = 0
    if threshold is not None:
        limit = _size(ctx, threshold.lstrip("-"), "-t") * (-1 if threshold.startswith("-") else 1)
    return _Plan(
        human, block, apparent, options.has("inodes"), options.has("a"), depth, options.has("S"), options.has("x"),
        options.has("L"), options.has("l"), limit, tuple(options.values("exclude")), "\0" if options.has("0") else "\n",
        options.has("time"),
    )  # fmt: skip


def _size(ctx: Context, text: str, option: str) -> int:
    match = re.fullmatch(r"(\d*)([KMGT]?B?)", text)
    if match is None or not text or match.group(2) not in _SUFFIXES:
        ctx.err(f"invalid {option} argument '{text}'")
        raise CommandExit(1)
    return int(match.group(1) or 1) * _SUFFIXES[match.group(2)]


class _Walk:
    def __init__(self, ctx: Context, plan: _Plan) -> None:
        self.ctx = ctx
        self.plan = plan
        self.status = 0
        self.seen: set[int] = set()

    def measure(self, path: str, *, follow: bool) -> int:
        """Add up one operand, printing on the way as du does, and return its size."""
        view = self.ctx.files
        try:
            inode = view.stat(path, follow=follow)
        except OSError as error:
            self.complain(f"cannot access '{path}': {error.strerror}")
            return 0
        if not inode.is_dir:
            size = self.size(inode)
            self.print(size, path, inode.mtime)
            return size
        device = inode.dev
        stack = [self.enter(path, inode, 0)]
        while True:
            here = stack[-1]
            if here.names:
                name, child = here.names.pop()
                below = f"{here.path.rstrip('/')}/{name}" if here.path != "/" else f"/{name}"
                if self.plan.excluded and self.excluded(below, name):
                    continue
                if child.is_link and self.plan.follow:
                    try:
                        child = view.stat(below)
                    except OSError as error:
                        self.complain(f"cannot access '{below}': {error.strerror}")
                        continue
                if child.is_dir:
                    if not (self.plan.one_device and child.dev != device):
                        stack.append(self.enter(below, child, here.depth + 1))
                    continue
                size = self.size(child)
                here.own += size
                here.total += size
                here.latest = max(here.latest, child.mtime)
                if self.plan.files and here.depth + 1 <= self.plan.depth:
                    self.print(size, below, child.mtime)
                continue
            stack.pop()
            if here.depth <= self.plan.depth:
                self.print(here.own if self.plan.separate else here.total, here.path, here.latest)
            if not stack:
                return here.total
            stack[-1].total += here.total
            stack[-1].latest = max(stack[-1].latest, here.latest)

    def enter(self, path: str, inode: Inode, depth: int) -> _Directory:
        self.ctx.spend(2)
        tree = self.ctx.files.tree
        own = self.size(inode)
        names: list[tuple[str, Inode]] = []
        if inode.dev in tree.synthetic:
            # A file system that is made up on the spot takes no space.
            return _Directory(path, depth, names, 0, inode.mtime)
        if not permits(inode, self.ctx.cred, READ | EXECUTE):
            self.complain(f"cannot read directory '{path}': Permission denied")
        else:
            for name in inode.entries or ():
                child = tree.child(inode, name)
                if child is not None:
                    names.append((name, child))
            names.reverse()
        return _Directory(path, depth, names, own, inode.mtime)

    def size(self, inode: Inode) -> int:
        """What one inode counts; a second name of the same file counts nothing."""
        self.ctx.spend(1)
        if inode.number in self.seen and not self.plan.links and inode.nlink > 1:
            return 0
        if inode.nlink > 1 or inode.is_dir:
            self.seen.add(inode.number)
        if self.plan.inodes:
            return 1
        if inode.dev in self.ctx.files.tree.synthetic:
            return 0
        return inode.size if self.plan.apparent else inode.blocks

    def excluded(self, path: str, name: str) -> bool:
        return any(
            fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(path, pattern) for pattern in self.plan.excluded
        )

    def complain(self, message: str) -> None:
        self.ctx.err(message)
        self.status = 1

    def print(self, size: int, path: str, latest: float) -> None:
        plan = self.plan
        if plan.threshold and ((size < plan.threshold) if plan.threshold > 0 else (size > -plan.threshold)):
            return
        if plan.inodes:
            text = human_ceiling(size, base=plan.human) if plan.human else str(size)
        else:
            text = human_ceiling(size, base=plan.human) if plan.human else str(-(-size // plan.block))
        stamp = f"\t{self.ctx.machine.clock.time(latest):%Y-%m-%d %H:%M}" if plan.stamped and path != "total" else ""
        self.ctx.out(f"{text}{stamp}\t{path}{plan.end}")
