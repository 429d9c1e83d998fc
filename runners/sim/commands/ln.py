"""ln: make links between files."""

from __future__ import annotations

import posixpath

from runners.sim.commands.backups import BACKUP, Backups
from runners.sim.commands.context import Context
from runners.sim.commands.copying import answer, into_directory
from runners.sim.commands.inputs import describe, quoted
from runners.sim.commands.options import parse, usage_error


def main(ctx: Context) -> int:
    options = parse(
        ctx, "bdfFiLnPrsS:t:Tv",
        [BACKUP, "directory/d", "force/f", "interactive/i", "logical/L", "no-dereference/n", "physical/P",
         "relative/r", "symbolic/s", "suffix=/S", "target-directory=/t", "no-target-directory/T", "verbose/v"],
        usage="Usage: ln [OPTION]... [-T] TARGET LINK_NAME\n  or:  ln [OPTION]... TARGET\n"
        "  or:  ln [OPTION]... TARGET... DIRECTORY",
    )  # fmt: skip
    has = options.has
    files = ctx.files
    sources = list(options.operands)
    target = options.value("t")
    if not sources:
        usage_error(ctx, "missing file operand")
    if target is None:
        target = sources.pop() if len(sources) > 1 else "."
    is_directory = False
    if files.exists(target) and not has("T"):
        is_directory = files.stat(target, follow=not has("n")).is_dir
    if len(sources) > 1 and not is_directory:
        ctx.die(
            f"target {quoted(target)}: {'Not a directory' if files.exists(target) else 'No such file or directory'}"
        )
    status = 0
    backups = Backups.of(ctx, options)
    for source in sources:
        backup = ""
        path = into_directory(target, source) if is_directory and target != "." else target
        if target == "." and is_directory:
            path = source.rstrip("/").rpartition("/")[2] if len(options.operands) == 1 else into_directory(".", source)
        try:
            there = files.find(path, follow=False).inode
            if there is not None and (
                has("f") or backups.kind != "none" or (has("i") and answer(ctx, f"replace {quoted(path)}? "))
            ):
                if not has("s") and files.exists(source) and files.stat(source, follow=False).number == there.number:
                    ctx.err(f"{quoted(source)} and {quoted(path)} are the same file")
                    status = 1
                    continue
                if there.is_dir:
                    ctx.err(f"{path}: cannot overwrite directory")
                    status = 1
                    continue
                backup = backups.keep(ctx, path)
                if not backup:
                    files.unlink(path)
            if has("s"):
                text = source
                if has("r"):
                    folder = posixpath.dirname(files.absolute(path))
                    text = posixpath.relpath(files.absolute(source), folder)
                files.symlink(text, path)
            else:
                inode = files.stat(source, follow=has("L"))
                if inode.is_dir:
                    ctx.err(f"{source}: hard link not allowed for directory")
                    status = 1
                    continue
                files.link(source, path)
        except OSError as error:
            status = 1
            if not has("s") and not files.exists(source):
                ctx.err(f"failed to access {quoted(source)}: {describe(error)}")
            else:
                kind = "symbolic" if has("s") else "hard"
                arrow = f" => {quoted(source)}" if kind == "hard" and error.errno != 17 else ""
                ctx.err(f"failed to create {kind} link {quoted(path)}{arrow}: {describe(error)}")
            continue
        if has("v"):
            kept = f"{quoted(backup)} ~ " if backup else ""
            ctx.line(f"{kept}{quoted(path)} {'->' if has('s') else '=>'} {quoted(source)}")
    return status
