"""cp: copy files and directories."""

from __future__ import annotations

from runners.sim.commands.backups import BACKUP, Backups
from runners.sim.commands.context import Context
from runners.sim.commands.copying import Copier, answer, into_directory
from runners.sim.commands.inputs import describe, quoted
from runners.sim.commands.options import Options, parse, usage_error

_LONG = [
    "archive/a", "attributes-only", BACKUP, "copy-contents", "force/f", "interactive/i", "link/l", "dereference/L",
    "no-clobber/n", "no-dereference/P", "preserve=?", "no-preserve=", "parents", "recursive/r",
    "reflink=?{auto,always,never}", "remove-destination", "sparse={never,auto,always}", "strip-trailing-slashes",
    "symbolic-link/s", "suffix=/S", "target-directory=/t", "no-target-directory/T", "update/u", "verbose/v",
    "one-file-system/x",
]  # fmt: skip


def _preserved(options: Options) -> frozenset[str]:
    kept: set[str] = set()
    for name, value in options.given:
        if name == "a":
            kept |= {"mode", "ownership", "timestamps", "links"}
        elif name == "p" or (name == "preserve" and not value):
            kept |= {"mode", "ownership", "timestamps"}
        elif name == "d":
            kept.add("links")
        elif name == "preserve":
            names = set((value or "").split(","))
            kept |= {"mode", "ownership", "timestamps", "links"} if "all" in names else names
        elif name == "no-preserve":
            kept -= set((value or "").split(","))
    return frozenset(kept)


def main(ctx: Context) -> int:
    options = parse(
        ctx, "abdfHilLnpPrRsS:t:TuvxZ", _LONG,
        usage="Usage: cp [OPTION]... [-T] SOURCE DEST\n  or:  cp [OPTION]... SOURCE... DIRECTORY\n"
        "  or:  cp [OPTION]... -t DIRECTORY SOURCE...",
    )  # fmt: skip
    has = options.has
    sources = list(options.operands)
    target = options.value("t")
    if not sources:
        usage_error(ctx, "missing file operand")
    if target is None:
        if len(sources) == 1:
            usage_error(ctx, f"missing destination file operand after {quoted(sources[0])}")
        target = sources.pop()
    files = ctx.files

    def may_replace(source: str, path: str) -> bool:
        if options.last("n", "i", "f") == "n":
            return False
        if has("u") and files.stat(path).mtime >= files.stat(source).mtime:
            return False
        return options.last("n", "i", "f") != "i" or answer(ctx, f"overwrite {quoted(path)}? ")

    recursive = has("r", "R", "a")
    copier = Copier(
        ctx, recursive=recursive, preserve=_preserved(options), force=has("f"), verbose=has("v"),
        follow=not (has("P", "d", "a") or (recursive and not has("L", "H"))), hard_link=has("l"), symbolic=has("s"),
        may_replace=may_replace, backups=Backups.of(ctx, options),
    )  # fmt: skip
    is_directory = files.exists(target) and files.stat(target).is_dir and not has("T")
    if (len(sources) > 1 or has("t")) and not is_directory:
        problem = "No such file or directory" if not files.exists(target) else "Not a directory"
        ctx.die(f"target {quoted(target)}: {problem}")
    for source in sources:
        path = target
        if is_directory:
            if has("parents"):
                path = f"{target.rstrip('/')}/{source.strip('/')}"
                folder = path.rpartition("/")[0]
                try:
                    _make_parents(ctx, folder)
                except OSError as error:
                    copier.problem(f"cannot make directory {quoted(folder)}: {describe(error)}")
                    continue
            else:
                path = into_directory(target, source)
        elif target.endswith("/") and not files.exists(target) and not recursive and files.exists(source):
            copier.problem(f"cannot create regular file {quoted(target)}: Not a directory")
            continue
        copier.copy(source, path)
    return int(copier.failed)


def _make_parents(ctx: Context, folder: str) -> None:
    parts = folder.split("/")
    for count in range(1, len(parts) + 1):
        path = "/".join(parts[:count])
        if path and not ctx.files.exists(path):
            ctx.files.mkdir(path)
