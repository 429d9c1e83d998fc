"""chown, chgrp: change file owner and group."""

from __future__ import annotations

from collections.abc import Iterable

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe, quoted
from runners.sim.commands.options import Options, parse, usage_error
from runners.sim.users import accounts

NAMES = ("chown", "chgrp")
_LONG = [
    "changes/c", "silent/f", "quiet/f", "verbose/v", "dereference", "no-dereference/h", "from=", "no-preserve-root",
    "preserve-root", "reference=", "recursive/R",
]  # fmt: skip


def _user(ctx: Context, text: str, whole: str) -> int:
    known = accounts(ctx.machine).user(text)
    if known is not None:
        return known.uid
    if text.isdigit():
        return int(text)
    return ctx.die(f"invalid user: ‘{whole}’")


def _group(ctx: Context, text: str, whole: str) -> int:
    known = accounts(ctx.machine).group(text)
    if known is not None:
        return known.gid
    if text.isdigit():
        return int(text)
    return ctx.die(f"invalid group: ‘{whole}’")


def _wanted(ctx: Context, text: str) -> tuple[int | None, int | None]:
    """OWNER[:GROUP], OWNER:, :GROUP as uid and gid."""
    if ctx.name == "chgrp":
        return None, _group(ctx, text, text) if text else None
    colon = ":" if ":" in text else "." if "." in text and accounts(ctx.machine).user(text) is None else None
    if colon is None:
        return _user(ctx, text, text) if text else None, None
    owner, _, group = text.partition(colon)
    uid = _user(ctx, owner, text) if owner else None
    if group:
        return uid, _group(ctx, group, text)
    if owner:
        known = accounts(ctx.machine).user(owner)
        return uid, known.gid if known is not None else None
    return None, None


def main(ctx: Context) -> int:
    options = parse(
        ctx, "cfhHLPRv", _LONG,
        usage=f"Usage: {ctx.name} [OPTION]... {'[OWNER][:[GROUP]]' if ctx.name == 'chown' else 'GROUP'} FILE...",
    )  # fmt: skip
    operands = list(options.operands)
    reference = options.value("reference")
    if reference is not None:
        try:
            inode = ctx.files.stat(reference)
        except OSError as error:
            ctx.die(f"failed to get attributes of {quoted(reference)}: {describe(error)}")
        uid: int | None = inode.uid if ctx.name == "chown" else None
        gid: int | None = inode.gid
    else:
        if not operands:
            usage_error(ctx, "missing operand")
        text = operands.pop(0)
        if not operands:
            usage_error(ctx, f"missing operand after ‘{text}’")
        uid, gid = _wanted(ctx, text)
    if not operands:
        usage_error(ctx, "missing operand")
    return _every(_change(ctx, options, path, uid, gid, top=True) for path in operands)


def _every(results: Iterable[bool]) -> int:
    """The exit status when each one has been tried."""
    failures = [result for result in results if not result]
    return int(bool(failures))


def _change(ctx: Context, options: Options, path: str, uid: int | None, gid: int | None, *, top: bool) -> bool:
    ctx.spend(5)
    files = ctx.files
    recursive = options.has("R")
    follow = not options.has("h") and (top or not recursive)
    quiet = options.has("f")
    try:
        inode = files.stat(path, follow=follow)
    except OSError as error:
        if not quiet:
            ctx.err(f"cannot access {quoted(path)}: {describe(error)}")
        return False
    good = True
    try:
        files.chown(path, uid, gid, follow=follow)
        if options.has("v") or (options.has("c") and ((uid not in (None, inode.uid)) or gid not in (None, inode.gid))):
            known = accounts(ctx.machine)
            if gid is None and uid is not None:
                old, new = known.user_name(inode.uid), known.user_name(uid)
            elif uid is None and gid is not None:
                old, new = known.group_name(inode.gid), known.group_name(gid)
            else:
                old = f"{known.user_name(inode.uid)}:{known.group_name(inode.gid)}"
                new = f"{known.user_name(uid or 0)}:{known.group_name(gid or 0)}"
            what = "ownership" if ctx.name == "chown" and uid is not None else "group"
            ctx.line(
                f"changed {what} of {quoted(path)} from {old} to {new}"
                if old != new
                else f"{what} of {quoted(path)} retained as {new}"
            )
    except OSError as error:
        if not quiet:
            what = "ownership" if ctx.name == "chown" and uid is not None else "group"
            ctx.err(f"changing {what} of {quoted(path)}: {describe(error)}")
        good = False
    if recursive and inode.is_dir:
        try:
            names = files.names(path)
        except OSError as error:
            ctx.err(f"cannot read directory {quoted(path)}: {describe(error)}")
            return False
        for name in names:
            good = _change(ctx, options, f"{path.rstrip('/')}/{name}", uid, gid, top=False) and good
    return good
