"""The walk itself: every file below the paths, in the order of directory entries."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.find_expression.parsing import Expression
from runners.sim.commands.inputs import describe
from runners.sim.files.inode import Inode


class Visit:
    """One file looked at. `pruned`: do not go down from here."""

    __slots__ = ("ctx", "depth", "inode", "name", "path", "pruned", "top", "walk")

    def __init__(self, walk: Walk, path: str, top: str, depth: int, inode: Inode) -> None:
        self.walk = walk
        self.ctx = walk.ctx
        self.path = path
        self.top = top
        self.depth = depth
        self.inode = inode
        stripped = path.rstrip("/")
        self.name = stripped.rpartition("/")[2] if stripped else "/"
        self.pruned = False

    def followed(self) -> Inode:
        """What a link leads to, or the link itself where that is nothing."""
        try:
            return self.ctx.files.stat(self.path)
        except OSError:
            return self.inode


class Walk:
    def __init__(self, ctx: Context, expression: Expression, *, follow: bool) -> None:
        self.ctx = ctx
        self.expression = expression
        self.follow = follow
        self.status = 0
        self.quit = False
        # The folders that lead to where the walk is, for -L: a link may lead back to one of them.
        self.above: dict[tuple[int, int], str] = {}

    def top(self, path: str, *, follow: bool) -> None:
        """Start from one path; `follow`: if it is a link, from where that leads (-H)."""
        try:
            inode = self.ctx.files.stat(path) if follow and self.ctx.files.exists(path) else self._stat(path)
        except OSError as error:
            self._complain(path, error)
            return
        self._visit(path, path, 0, inode, inode.dev)

    def finish(self) -> None:
        for batch in self.expression.batches:
            if batch.flush(self.ctx):
                self.status = 1

    def _stat(self, path: str) -> Inode:
        if self.follow:
            try:
                return self.ctx.files.stat(path)
            except OSError:
                return self.ctx.files.stat(path, follow=False)
        return self.ctx.files.stat(path, follow=False)

    def _complain(self, path: str, error: OSError) -> None:
        self.ctx.err(f"‘{path}’: {describe(error)}")
        self.status = 1

    def _visit(self, path: str, top: str, depth: int, inode: Inode, dev: int) -> None:
        expression = self.expression
        if inode.is_dir and self._loops(path, inode):
            return
        self.ctx.spend(10)
        visit = Visit(self, path, top, depth, inode)
        if depth >= expression.least and not expression.depth_first:
            expression.test(visit)
        if self.quit:
            return
        crosses = expression.same_mount and inode.dev != dev
        if inode.is_dir and not visit.pruned and depth < expression.most and not crosses:
            here = (inode.dev, inode.number)
            self.above[here] = path
            self._descend(path, top, depth, dev)
            del self.above[here]
        if depth >= expression.least and expression.depth_first and not self.quit:
            expression.test(visit)

    def _loops(self, path: str, inode: Inode) -> bool:
        """Does a link lead back to a folder that the walk is in? Then it says so."""
        before = self.above.get((inode.dev, inode.number)) if self.follow else None
        if before is None:
            return False
        self.ctx.err(f"File system loop detected; ‘{path}’ is part of the same file system loop as ‘{before}’.")
        self.status = 1
        return True

    def _descend(self, path: str, top: str, depth: int, dev: int) -> None:
        try:
            names = self.ctx.files.names(path)
        except OSError as error:
            self._complain(path, error)
            return
        for name in names:
            below = path + name if path.endswith("/") else f"{path}/{name}"
            try:
                inode = self._stat(below)
            except OSError as error:
                if error.errno != 2:
                    self._complain(below, error)
                continue
            self._visit(below, top, depth + 1, inode, dev)
            if self.quit:
                return
