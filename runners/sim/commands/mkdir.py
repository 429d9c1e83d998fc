"""mkdir: make directories."""

from __future__ import annotations

import errno

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe, quoted
from runners.sim.commands.modes import ModeError, change_mode
from runners.sim.commands.options import parse, usage_error


def main(ctx: Context) -> int:
    options = parse(
        ctx, "m:pvZ", ["mode=/m", "parents/p", "verbose/v", "context=?/Z"],
        usage="Usage: mkdir [OPTION]... DIRECTORY...\nCreate the DIRECTORY(ies), if they do not already exist.",
    )  # fmt: skip
    if not options.operands:
        usage_error(ctx, "missing operand")
    text = options.value("m")
    mode: int | None = None
    if text is not None:
        try:
            mode = change_mode(text, 0o777, directory=True, umask=ctx.files.umask)
        except ModeError:
            ctx.die(f"invalid mode ‘{text}’")
    status = 0
    for name in options.operands:
        try:
            if options.has("p"):
                _parents(ctx, name, mode, options.has("v"))
            else:
                _one(ctx, name, mode, options.has("v"))
        except OSError as error:
            ctx.err(f"cannot create directory ‘{error.filename or name}’: {describe(error)}")
            status = 1
    return status


def _one(ctx: Context, name: str, mode: int | None, verbose: bool) -> None:
    ctx.files.mkdir(name)
    if mode is not None:
        ctx.files.chmod(name, mode)
    if verbose:
        ctx.line(f"mkdir: created directory {quoted(name)}")


def _parents(ctx: Context, name: str, mode: int | None, verbose: bool) -> None:
    path = "/" if name.startswith("/") else ""
    parts = [part for part in name.split("/") if part]
    for index, part in enumerate(parts):
        path += ("" if path in ("", "/") else "/") + part
        try:
            _one(ctx, path, mode if index == len(parts) - 1 else None, verbose)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.EACCES, errno.EROFS, errno.EPERM):
                raise
            try:
                inode = ctx.files.stat(path)
            except OSError:
                raise error from None
            if not inode.is_dir:
                if index < len(parts) - 1:
                    raise OSError(errno.ENOTDIR, "Not a directory", path) from None
                raise
