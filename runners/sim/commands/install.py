"""install: copy files and set attributes."""

from __future__ import annotations

from runners.sim.commands.backups import BACKUP, Backups, told
from runners.sim.commands.context import Context
from runners.sim.commands.copying import into_directory
from runners.sim.commands.inputs import describe, quoted
from runners.sim.commands.modes import ModeError, change_mode
from runners.sim.commands.options import Options, parse, usage_error
from runners.sim.users import accounts
from runners.text import is_digits


def main(ctx: Context) -> int:
    options = parse(
        ctx, "bcCdDg:m:o:psS:t:Tv", ["directory/d", "group=/g", "mode=/m", "owner=/o", "preserve-timestamps/p",
         "strip/s", "target-directory=/t", "no-target-directory/T", "verbose/v", "suffix=/S", BACKUP, "compare/C"],
        usage="Usage: install [OPTION]... [-T] SOURCE DEST\n  or:  install [OPTION]... SOURCE... DIRECTORY\n"
        "  or:  install [OPTION]... -d DIRECTORY...",
    )  # fmt: skip
    operands = list(options.operands)
    if not operands:
        usage_error(ctx, "missing file operand")
    try:
        mode = change_mode(options.value("m") or "755", 0, directory=False, umask=0)
    except ModeError:
        ctx.die(f"invalid mode ‘{options.value('m')}’")
    if options.has("d"):
        for path in operands:
            _directories(ctx, path, options)
            ctx.files.chmod(path, mode)
            _own(ctx, options, path)
        return 0
    target = options.value("t")
    if target is None:
        if len(operands) < 2:
            usage_error(ctx, f"missing destination file operand after {quoted(operands[0])}")
        target = operands.pop()
    if options.has("D"):
        folder = target if options.has("t") else target.rpartition("/")[0]
        if folder:
            _directories(ctx, folder, options)
    is_directory = ctx.files.exists(target) and ctx.files.stat(target).is_dir and not options.has("T")
    if len(operands) > 1 and not is_directory:
        ctx.die(f"target {quoted(target)} is not a directory")
    status = 0
    backups = Backups.of(ctx, options)
    for source in operands:
        path = into_directory(target, source) if is_directory else target
        try:
            inode = ctx.files.stat(source)
            if inode.is_dir:
                ctx.err(f"omitting directory {quoted(source)}")
                status = 1
                continue
            content = ctx.files.content(source)
            backup = ""
            if ctx.files.exists(path):
                backup = backups.keep(ctx, path)
                if not backup:
                    ctx.files.unlink(path)
            ctx.files.write(path, content)
            ctx.files.chmod(path, mode)
            _own(ctx, options, path)
            if options.has("p"):
                ctx.machine.files.put(ctx.files.stat(path)._replace(mtime=inode.mtime))
            if options.has("v"):
                ctx.line(f"{quoted(source)} -> {quoted(path)}{told(backup)}")
        except OSError as error:
            what = (
                f"cannot stat {quoted(source)}"
                if error.filename == source
                else f"cannot create regular file {quoted(path)}"
            )
            ctx.err(f"{what}: {describe(error)}")
            status = 1
    return status


def _directories(ctx: Context, path: str, options: Options) -> None:
    parts = path.rstrip("/").split("/")
    for count in range(1, len(parts) + 1):
        here = "/".join(parts[:count])
        if here and not ctx.files.exists(here):
            try:
                ctx.files.mkdir(here)
            except OSError as error:
                ctx.die(f"cannot create directory {quoted(here)}: {describe(error)}")
            if options.has("v"):
                ctx.line(f"install: creating directory {quoted(here)}")


def _own(ctx: Context, options: Options, path: str) -> None:
    known = accounts(ctx.machine)
    owner, group = options.value("o"), options.value("g")
    uid = gid = None
    if owner is not None:
        user = known.user(owner)
        if user is None and not is_digits(owner):
            ctx.die(f"invalid user ‘{owner}’")
        uid = user.uid if user is not None else int(owner)
    if group is not None:
        found = known.group(group)
        if found is None and not is_digits(group):
            ctx.die(f"invalid group ‘{group}’")
        gid = found.gid if found is not None else int(group)
    if uid is not None or gid is not None:
        mode = ctx.files.stat(path).permissions
        ctx.files.chown(path, uid, gid)
        ctx.files.chmod(path, mode)
