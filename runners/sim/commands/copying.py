"""What cp, mv and install share: copying files and trees with their attributes."""

from __future__ import annotations

import errno
import stat
from collections.abc import Callable

from runners.sim.commands.backups import NO_BACKUPS, Backups, told
from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe, quoted
from runners.sim.files.acl import acl_of
from runners.sim.files.inode import READ, Inode, permits
from runners.sim.files.tree import fail


class Copier:
    """One run of cp (or of mv between file systems). `preserve`: mode, ownership, timestamps, links."""

    def __init__(
        self,
        ctx: Context,
        *,
        recursive: bool = False,
        preserve: frozenset[str] = frozenset(),
        follow: bool = True,
        verbose: bool = False,
        force: bool = False,
        hard_link: bool = False,
        symbolic: bool = False,
        may_replace: Callable[[str, str], bool] | None = None,
        backups: Backups = NO_BACKUPS,
    ) -> None:
        self.ctx = ctx
        self.recursive = recursive
        self.preserve = preserve
        self.follow = follow
        self.verbose = verbose
        self.force = force
        self.hard_link = hard_link
        self.symbolic = symbolic
        self.may_replace = may_replace
        self.backups = backups
        self.failed = False
        self.links: dict[int, str] = {}

    def problem(self, text: str) -> bool:
        self.ctx.err(text)
        self.failed = True
        return False

    def copy(self, source: str, target: str) -> bool:
        """Copy a file or a tree to that very name. False (and a message) when any of it failed."""
        files = self.ctx.files
        self.ctx.spend(10)
        try:
            inode = files.stat(source, follow=self.follow)
        except OSError as error:
            return self.problem(f"cannot stat {quoted(source)}: {describe(error)}")
        if inode.is_dir:
            if not self.recursive:
                return self.problem(f"-r not specified; omitting directory {quoted(source)}")
            return self._tree(source, target, inode)
        return self._file(source, target, inode)

    def _tree(self, source: str, target: str, inode: Inode) -> bool:
        files = self.ctx.files
        inside = files.real_path(target) if files.exists(target) else files.absolute(target)
        above = files.real_path(source)
        if inside == above or inside.startswith(above.rstrip("/") + "/"):
            return self.problem(f"cannot copy a directory, {quoted(source)}, into itself, {quoted(target)}")
        try:
            if files.exists(target):
                if not files.stat(target).is_dir:
                    return self.problem(
                        f"cannot overwrite non-directory {quoted(target)} with directory {quoted(source)}"
                    )
            else:
                files.mkdir(target, (inode.permissions & 0o777) | 0o700)
                if self.verbose:
                    self.ctx.line(f"{quoted(source)} -> {quoted(target)}")
            names = files.names(source)
        except OSError as error:
            verb = "cannot access" if error.filename == source else "cannot create directory"
            return self.problem(f"{verb} {quoted(error.filename or target)}: {describe(error)}")
        good = True
        for name in names:
            below = Copier._join(source, name)
            good = self.copy(below, Copier._join(target, name)) and good
        self._attributes(target, inode)
        return good

    @staticmethod
    def _join(folder: str, name: str) -> str:
        return f"{folder.rstrip('/')}/{name}"

    def _file(self, source: str, target: str, inode: Inode) -> bool:
        files = self.ctx.files
        try:
            there = files.find(target, follow=not inode.is_link).inode
        except OSError as error:
            return self.problem(
                f"cannot stat {quoted(target)}: {describe(error)}"
                if error.errno == errno.ENOTDIR
                else f"cannot create regular file {quoted(target)}: {describe(error)}"
            )
        backup = ""
        if there is not None and there.number == inode.number and self.force and source == target:
            # A file that replaces itself is its own backup.
            target = self.backups.name(self.ctx, target) or target
            there = there if target == source else None
        if there is not None:
            itself = self.backups.kind == "none" or source == target
            if there.number == inode.number and itself:
                return self.problem(f"{quoted(source)} and {quoted(target)} are the same file")
            if there.is_dir:
                return self.problem(f"cannot overwrite directory {quoted(target)} with non-directory {quoted(source)}")
            if self.may_replace is not None and not self.may_replace(source, target):
                return True
            backup = self.backups.keep(self.ctx, target)
            there = None if backup else there
        try:
            self._write(source, target, inode, there)
        except OSError as error:
            if error.filename == source:
                return self.problem(f"cannot open {quoted(source)} for reading: {describe(error)}")
            if error.errno == errno.ENOSPC:
                return self.problem(f"error writing {quoted(target)}: {describe(error)}")
            return self.problem(f"cannot create regular file {quoted(target)}: {describe(error)}")
        if self.verbose:
            self.ctx.line(f"{quoted(source)} -> {quoted(target)}{told(backup)}")
        return True

    def _write(self, source: str, target: str, inode: Inode, there: Inode | None) -> None:
        files = self.ctx.files
        if self.hard_link or self.symbolic:
            if there is not None and self.force:
                files.unlink(target)
            files.link(source, target) if self.hard_link else files.symlink(source, target)
            return
        if inode.is_link:
            if there is not None:
                files.unlink(target)
            assert inode.target is not None
            files.symlink(inode.target, target)
            return
        if "links" in self.preserve and inode.nlink > 1:
            known = self.links.get(inode.number)
            if known is not None:
                files.link(known, target)
                return
            self.links[inode.number] = target
        if not permits(inode, files.cred, READ):
            raise fail(errno.EACCES, source)
        if inode.is_char:
            data = self.ctx.open(source).read()
            files.write(target, data)
            return
        if there is not None and self.force:
            try:
                files.open_for_writing(target, truncate=False)
            except OSError:
                files.unlink(target)
        files.write(target, inode.content, mode=inode.permissions & 0o777)
        self._attributes(target, inode)

    def _attributes(self, target: str, inode: Inode) -> None:
        files = self.ctx.files
        if "ownership" in self.preserve:
            try:
                files.chown(target, inode.uid, inode.gid)
            except OSError:
                try:
                    files.chown(target, None, inode.gid)
                except OSError:
                    inode = inode._replace(mode=inode.mode & ~(stat.S_ISUID | stat.S_ISGID))
        if "mode" in self.preserve:
            files.chmod(target, inode.permissions)
            made = files.stat(target)
            if not inode.is_link and (made.acl, made.default_acl) != (inode.acl, inode.default_acl):
                files.set_acl(target, acl_of(inode.mode, inode.acl), inode.default_acl)
        if inode.is_dir and "mode" not in self.preserve:
            files.chmod(target, inode.permissions & 0o7777 & ~files.umask)
        if "timestamps" in self.preserve:
            made = files.stat(target)
            self.ctx.machine.files.put(made._replace(mtime=inode.mtime))


def into_directory(target: str, source: str) -> str:
    """The name a source gets inside a directory."""
    base = source.rstrip("/").rpartition("/")[2] or source
    return f"{target.rstrip('/') or ''}/{base}"


def answer(ctx: Context, question: str) -> bool:
    """Ask on standard error; yes begins with y."""
    ctx.stderr.write(f"{ctx.name}: {question}".encode("utf-8", "surrogateescape"))
    line = ctx.stdin.read(1)
    rest = b""
    while line and rest[-1:] != b"\n" and line != b"\n":
        more = ctx.stdin.read(1)
        if not more:
            break
        rest += more
    return line.lower() == b"y"
