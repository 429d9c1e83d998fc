"""rm: remove files or directories."""

from __future__ import annotations

import errno

from runners.sim.commands.context import Context
from runners.sim.commands.copying import answer
from runners.sim.commands.inputs import describe, quoted
from runners.sim.commands.options import Options, parse, usage_error


def remove_tree(ctx: Context, path: str) -> bool:
    """Remove a file or a tree; False (and messages) where something could not be."""
    return _Remover(ctx, recursive=True, force=True).remove(path)


class _Remover:
    def __init__(
        self, ctx: Context, *, recursive: bool, force: bool, interactive: bool = False, verbose: bool = False,
        directories: bool = False, one_file_system: bool = False,
    ) -> None:  # fmt: skip
        self.ctx = ctx
        self.recursive = recursive
        self.force = force
        self.interactive = interactive
        self.verbose = verbose
        self.directories = directories
        self.one_file_system = one_file_system

    def problem(self, text: str) -> bool:
        self.ctx.err(text)
        return False

    def remove(self, path: str) -> bool:
        files = self.ctx.files
        self.ctx.spend(5)
        try:
            inode = files.stat(path, follow=False)
        except OSError as error:
            if self.force and error.errno in (errno.ENOENT, errno.ENOTDIR):
                return True
            return self.problem(f"cannot remove {quoted(path)}: {describe(error)}")
        if inode.is_dir:
            return self._directory(path)
        if self.interactive:
            kind = (
                "regular empty file"
                if inode.is_file and not inode.size
                else ("symbolic link" if inode.is_link else "regular file")
            )
            if not answer(self.ctx, f"remove {kind} {quoted(path)}? "):
                return True
        try:
            files.unlink(path)
        except OSError as error:
            return self.problem(f"cannot remove {quoted(path)}: {describe(error)}")
        if self.verbose:
            self.ctx.line(f"removed {quoted(path)}")
        return True

    def _directory(self, path: str) -> bool:
        files = self.ctx.files
        if not self.recursive and not self.directories:
            return self.problem(f"cannot remove {quoted(path)}: Is a directory")
        good = True
        if self.recursive:
            try:
                names = files.names(path)
            except OSError as error:
                return self.problem(f"cannot remove {quoted(path)}: {describe(error)}")
            if names and self.interactive and not answer(self.ctx, f"descend into directory {quoted(path)}? "):
                return True
            for name in names:
                good = self.remove(f"{path.rstrip('/')}/{name}") and good
        if self.interactive and not answer(self.ctx, f"remove directory {quoted(path)}? "):
            return True
        if not good:
            return False
        try:
            files.rmdir(path)
        except OSError as error:
            return self.problem(f"cannot remove {quoted(path)}: {describe(error)}")
        if self.verbose:
            self.ctx.line(f"removed directory {quoted(path)}")
        return True


def main(ctx: Context) -> int:
    options = parse(
        ctx, "dfiIrRv",
        ["dir/d", "force/f", "interactive=?", "one-file-system", "no-preserve-root", "preserve-root=?", "recursive/r",
         "verbose/v"],
        usage="Usage: rm [OPTION]... [FILE]...\nRemove (unlink) the FILE(s).",
    )  # fmt: skip
    force = options.last("f", "i", "I", "interactive") == "f"
    if not options.operands:
        if force:
            return 0
        usage_error(ctx, "missing operand")
    interactive = options.last("f", "i", "interactive") == "i" or options.value("interactive") == "always"
    remover = _Remover(
        ctx, recursive=options.has("r", "R"), force=force, interactive=interactive, verbose=options.has("v"),
        directories=options.has("d"),
    )  # fmt: skip
    if options.has("I") and not force and (options.has("r", "R") or len(options.operands) > 3):
        noun = "argument" if len(options.operands) == 1 else "arguments"
        how = " recursively" if options.has("r", "R") else ""
        if not answer(ctx, f"remove {len(options.operands)} {noun}{how}? "):
            return 0
    status = 0
    for path in options.operands:
        if not _allowed(ctx, options, path) or not remover.remove(path):
            status = 1
    return status


def _allowed(ctx: Context, options: Options, path: str) -> bool:
    """`.`, `..` and / are refused."""
    base = path.rstrip("/").rpartition("/")[2]
    if options.has("r", "R") and base in (".", ".."):
        ctx.err(f"refusing to remove '.' or '..' directory: skipping {quoted(path)}")
        return False
    if options.has("r", "R") and ctx.files.absolute(path) == "/" and not options.has("no-preserve-root"):
        ctx.err(
            "it is dangerous to operate recursively on '/'"
            if path == "/"
            else f"it is dangerous to operate recursively on {quoted(path)} (same as '/')"
        )
        ctx.err("use --no-preserve-root to override this failsafe")
        return False
    return True
