"""mv: move (rename) files."""

from __future__ import annotations

import errno
from collections.abc import Iterator

from runners.sim.commands.backups import BACKUP, Backups, told
from runners.sim.commands.context import Context
from runners.sim.commands.copying import Copier, answer, into_directory
from runners.sim.commands.inputs import describe, quoted
from runners.sim.commands.options import Options, parse, usage_error
from runners.sim.commands.rm import remove_tree


def main(ctx: Context) -> int:
    options = parse(
        ctx, "bfinS:t:TuvZ",
        [BACKUP, "force/f", "interactive/i", "no-clobber/n", "strip-trailing-slashes", "suffix=/S",
         "target-directory=/t", "no-target-directory/T", "update/u", "verbose/v"],
        usage="Usage: mv [OPTION]... [-T] SOURCE DEST\n  or:  mv [OPTION]... SOURCE... DIRECTORY\n"
        "  or:  mv [OPTION]... -t DIRECTORY SOURCE...",
    )  # fmt: skip
    sources = list(options.operands)
    target = options.value("t")
    if not sources:
        usage_error(ctx, "missing file operand")
    if target is None:
        if len(sources) == 1:
            usage_error(ctx, f"missing destination file operand after {quoted(sources[0])}")
        target = sources.pop()
    files = ctx.files
    is_directory = files.exists(target) and files.stat(target).is_dir and not options.has("T")
    if (len(sources) > 1 or options.has("t")) and not is_directory:
        problem = "No such file or directory" if not files.exists(target) else "Not a directory"
        ctx.die(f"target {quoted(target)}: {problem}")
    status = 0
    backups = Backups.of(ctx, options)
    for source in sources:
        path = into_directory(target, source) if is_directory else target
        if not _move(ctx, options, backups, source, path):
            status = 1
    return status


def _move(ctx: Context, options: Options, backups: Backups, source: str, target: str) -> bool:
    files = ctx.files
    backup = ""
    ctx.spend(10)
    try:
        inode = files.stat(source, follow=False)
    except OSError as error:
        ctx.err(f"cannot stat {quoted(source)}: {describe(error)}")
        return False
    try:
        there = files.find(target, follow=False).inode
    except OSError as error:
        ctx.err(f"cannot move {quoted(source)} to {quoted(target)}: {describe(error)}")
        return False
    if there is not None:
        if there.number == inode.number:
            ctx.err(f"{quoted(source)} and {quoted(target)} are the same file")
            return False
        choice = options.last("n", "i", "f")
        if choice == "n" or (options.has("u") and there.mtime >= inode.mtime):
            return True
        if choice == "i" and not answer(ctx, f"overwrite {quoted(target)}? "):
            return True
        if there.is_dir and not inode.is_dir:
            ctx.err(f"cannot overwrite directory {quoted(target)} with non-directory")
            return False
        if inode.is_dir and not there.is_dir:
            ctx.err(f"cannot overwrite non-directory {quoted(target)} with directory {quoted(source)}")
            return False
        backup = backups.keep(ctx, target)
    try:
        files.rename(source, target)
    except OSError as error:
        if error.errno == errno.EXDEV:
            return _across(ctx, options, source, target)
        if error.errno == errno.EINVAL:
            ctx.err(f"cannot move {quoted(source)} to a subdirectory of itself, {quoted(target)}")
        else:
            ctx.err(f"cannot move {quoted(source)} to {quoted(target)}: {describe(error)}")
        return False
    if options.has("v"):
        ctx.line(f"renamed {quoted(source)} -> {quoted(target)}{told(backup)}")
    return True


def _across(ctx: Context, options: Options, source: str, target: str) -> bool:
    """Between file systems: copy with everything, then remove. With -v each file is told of twice."""
    told = list(_below(ctx, source, target)) if options.has("v") else []
    if ctx.files.exists(target) and not ctx.files.stat(target).is_dir:
        ctx.files.unlink(target)
    everything = frozenset({"mode", "ownership", "timestamps", "links"})
    copier = Copier(ctx, recursive=True, preserve=everything, follow=False)
    if not copier.copy(source, target):
        return False
    for path, copy, is_dir in told:
        ctx.line(f"created directory {quoted(copy)}" if is_dir else f"copied {quoted(path)} -> {quoted(copy)}")
    if not remove_tree(ctx, source):
        return False
    for path, _, is_dir in reversed(told):
        ctx.line(f"removed {'directory ' if is_dir else ''}{quoted(path)}")
    return True


def _below(ctx: Context, source: str, target: str) -> Iterator[tuple[str, str, bool]]:
    """A file or a tree: where each part is, where its copy goes, whether it is a folder. Outermost first."""
    is_dir = ctx.files.stat(source, follow=False).is_dir
    yield source, target, is_dir
    if is_dir:
        for name in ctx.files.names(source):
            yield from _below(ctx, f"{source}/{name}", f"{target}/{name}")
