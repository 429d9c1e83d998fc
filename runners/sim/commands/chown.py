"""chown, chgrp: change file owner and group."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe, quoted
from runners.sim.commands.options import Options, parse, usage_error
from runners.sim.users import accounts
from runners.text import is_digits

NAMES = ("chown", "chgrp")
_LONG = [
    "changes/c", "silent/f", "quiet/f", "verbose/v", "dereference", "no-dereference/h", "from=", "no-preserve-root",
    "preserve-root", "reference=", "recursive/R",
]  # fmt: skip


def _user(ctx: Context, text: str, whole: str) -> int:
    known = accounts(ctx.machine).user(text)
    if known is not None:
        return known.uid
    if is_digits(text):
        return int(text)
    return ctx.die(f"invalid user: ‘{whole}’")


def _group(ctx: Context, text: str, whole: str) -> int:
    known = accounts(ctx.machine).group(text)
    if known is not None:
        return known.gid
    if is_digits(text):
        return int(text)
    return ctx.die(f"invalid group: ‘{whole}’")


class _Wanted(NamedTuple):
    """What is to be owner and group, None for what stays. `user` and `group`: what messages call them."""

    uid: int | None = None
    gid: int | None = None
    user: str | None = None
    group: str | None = None

    def named(self, user: str, group: str) -> str:
        """`user:group`, as far as both are asked for."""
        return ":".join(name for name, wanted in ((user, self.user), (group, self.group)) if wanted is not None)

    @property
    def what(self) -> str:
        return "group" if self.user is None and self.group is not None else "ownership"


def _wanted(ctx: Context, text: str) -> _Wanted:
    """OWNER[:GROUP], OWNER:, :GROUP, or for chgrp GROUP."""
    if ctx.name == "chgrp":
        return _Wanted(gid=_group(ctx, text, text), group=text) if text else _Wanted()
    colon = ":" if ":" in text else "." if "." in text and accounts(ctx.machine).user(text) is None else None
    if colon is None:
        return _Wanted(uid=_user(ctx, text, text), user=text) if text else _Wanted()
    owner, _, group = text.partition(colon)
    uid = _user(ctx, owner, text) if owner else None
    if group:
        return _Wanted(uid, _group(ctx, group, text), owner, group)
    if not owner:
        return _Wanted()
    known = accounts(ctx.machine)
    user = known.user(owner)
    if user is None:
        return _Wanted(uid=uid, user=owner)
    return _Wanted(uid, user.gid, owner, known.group_name(user.gid))


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
        known = accounts(ctx.machine)
        wanted = _Wanted(gid=inode.gid, group=known.group_name(inode.gid))
        if ctx.name == "chown":
            wanted = wanted._replace(uid=inode.uid, user=known.user_name(inode.uid))
    else:
        if not operands:
            usage_error(ctx, "missing operand")
        text = operands.pop(0)
        if not operands:
            usage_error(ctx, f"missing operand after ‘{text}’")
        wanted = _wanted(ctx, text)
    if not operands:
        usage_error(ctx, "missing operand")
    return _every(_change(ctx, options, path, wanted, top=True) for path in operands)


def _every(results: Iterable[bool]) -> int:
    """The exit status when each one has been tried."""
    failures = [result for result in results if not result]
    return int(bool(failures))


def _change(ctx: Context, options: Options, path: str, wanted: _Wanted, *, top: bool) -> bool:
    ctx.spend(5)
    files = ctx.files
    recursive = options.has("R")
    follow = not options.has("h") and (top or not recursive)
    quiet = options.has("f")
    new = wanted.named(wanted.user or "", wanted.group or "")
    try:
        inode = files.stat(path, follow=follow)
    except OSError as error:
        if not quiet:
            ctx.err(f"cannot access {quoted(path)}: {describe(error)}")
        if options.has("v"):
            ctx.line(f"failed to change {wanted.what} of {quoted(path)}{f' to {new}' if new else ''}")
        return False
    good = True
    known = accounts(ctx.machine)
    old = wanted.named(known.user_name(inode.uid), known.group_name(inode.gid))
    try:
        files.chown(path, wanted.uid, wanted.gid, follow=follow)
        if wanted.uid not in (None, inode.uid) or wanted.gid not in (None, inode.gid):
            if options.has("v", "c"):
                ctx.line(f"changed {wanted.what} of {quoted(path)} from {old} to {new}")
        elif options.has("v"):
            ctx.line(f"{wanted.what} of {quoted(path)} retained{f' as {old}' if old else ''}")
    except OSError as error:
        if not quiet:
            ctx.err(f"changing {'group' if wanted.uid is None else 'ownership'} of {quoted(path)}: {describe(error)}")
        if options.has("v"):
            ctx.line(f"failed to change {wanted.what} of {quoted(path)} from {old} to {new}")
        good = False
    if recursive and inode.is_dir:
        try:
            names = files.names(path)
        except OSError as error:
            ctx.err(f"cannot read directory {quoted(path)}: {describe(error)}")
            return False
        for name in names:
            good = _change(ctx, options, f"{path.rstrip('/')}/{name}", wanted, top=False) and good
    return good
