"""chmod: change file mode bits."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe, quoted
from runners.sim.commands.modes import ModeError, change_mode
from runners.sim.commands.options import parse, usage_error


def main(ctx: Context) -> int:
    arguments = ctx.args
    at = next((at for at, word in enumerate(arguments) if re.match(r"-[rwxXst0-7]+$", word)), None)
    minus = arguments[at] if at is not None else None
    if at is not None:
        # `chmod -x file`: a mode, not an option.
        arguments = arguments[:at] + arguments[at + 1 :]
    options = parse(
        ctx, "cfRv", ["changes/c", "silent/f", "quiet/f", "verbose/v", "no-preserve-root", "preserve-root",
         "reference=",
                      "recursive/R"],
        arguments=arguments, usage="Usage: chmod [OPTION]... MODE[,MODE]... FILE...\n"
        "  or:  chmod [OPTION]... OCTAL-MODE FILE...",
    )  # fmt: skip
    operands = list(options.operands)
    reference = options.value("reference")
    text = minus
    if reference is not None:
        try:
            text = f"{ctx.files.stat(reference).permissions:o}"
        except OSError as error:
            ctx.die(f"failed to get attributes of {quoted(reference)}: {describe(error)}")
    elif text is None:
        if not operands:
            usage_error(ctx, "missing operand")
        text = operands.pop(0)
    if not operands:
        usage_error(ctx, f"missing operand after ‘{text}’")
    try:
        change_mode(text, 0, directory=False, umask=0)
    except ModeError:
        usage_error(ctx, f"invalid mode: ‘{text}’")
    return _every(_change(ctx, options.has, text, path, top=True) for path in operands)


def _every(results: Iterable[bool]) -> int:
    """The exit status when each one has been tried."""
    failures = [result for result in results if not result]
    return int(bool(failures))


def _change(ctx: Context, has: object, text: str, path: str, *, top: bool) -> bool:
    assert callable(has)
    ctx.spend(5)
    files = ctx.files
    quiet = has("f")
    try:
        inode = files.stat(path, follow=top)
    except OSError as error:
        if not quiet:
            link = top and _is_link(ctx, path)
            ctx.err(
                f"cannot operate on dangling symlink {quoted(path)}"
                if link
                else f"cannot access {quoted(path)}: {describe(error)}"
            )
        return False
    if inode.is_link:
        return True
    wanted = change_mode(text, inode.permissions, directory=inode.is_dir, umask=files.umask)
    good = True
    try:
        files.chmod(path, wanted)
        changed = wanted != inode.permissions
        old, new = (f"{mode:04o} ({stat.filemode(mode)[1:]})" for mode in (inode.permissions, wanted))
        if has("v") or (has("c") and changed):
            if changed:
                ctx.line(f"mode of {quoted(path)} changed from {old} to {new}")
            else:
                ctx.line(f"mode of {quoted(path)} retained as {new}")
    except OSError as error:
        if not quiet:
            ctx.err(f"changing permissions of {quoted(path)}: {describe(error)}")
        good = False
    if has("R") and inode.is_dir:
        try:
            names = files.names(path)
        except OSError as error:
            if not quiet:
                ctx.err(f"cannot read directory {quoted(path)}: {describe(error)}")
            return False
        for name in names:
            good = _change(ctx, has, text, f"{path.rstrip('/')}/{name}", top=False) and good
    return good


def _is_link(ctx: Context, path: str) -> bool:
    try:
        return ctx.files.stat(path, follow=False).is_link
    except OSError:
        return False
