"""crontab of Debian's cron 3.0pl1: a user's own table."""

from __future__ import annotations

from runners.formats.accounts import User
from runners.formats.crontab import CrontabError, parse
from runners.sim.commands.context import CommandExit, Context
from runners.sim.machine import mix
from runners.sim.programs.cron import SPOOL
from runners.sim.systemd.journal import log
from runners.sim.tool import Tool
from runners.sim.users import accounts

_TOOL = Tool(
    "crontab [-u user] file | crontab [ -u user ] [ -i ] { -e | -l | -r }",
    "u= e l r i n T",
    "cron 3.0pl1-162",
    hinted=False,
)
_USAGE = (
    "usage:\tcrontab [-u user] file\n"
    "\tcrontab [ -u user ] [ -i ] { -e | -l | -r }\n"
    "\t\t(default operation is replace, per 1003.2)\n"
    "\t-e\t(edit user's crontab)\n"
    "\t-l\t(list user's crontab)\n"
    "\t-r\t(delete user's crontab)\n"
    "\t-i\t(prompt before deleting user's crontab)\n"
)


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    known = accounts(ctx.machine)
    name = options.value("u")
    if name is not None and ctx.cred.uid != 0 and known.user_name(ctx.cred.uid) != name:
        ctx.stderr.write(b"must be privileged to use -u\n")
        return 1
    user = known.user(name) if name is not None else known.user(ctx.cred.uid)
    if user is None:
        ctx.stderr.write(f"crontab:  user `{name}' unknown\n".encode("utf-8", "surrogateescape"))
        return 1
    _allowed(ctx, user)
    path = f"{SPOOL}/{user.name}"
    if options.has("l"):
        return _list(ctx, user, path)
    if options.has("r"):
        if not ctx.machine.view().exists(path):
            ctx.stderr.write(f"no crontab for {user.name}\n".encode("utf-8", "surrogateescape"))
            return 1
        ctx.machine.view().unlink(path)
        _say(ctx, user, "DELETE")
        return 0
    if options.has("e"):
        return _edit(ctx, user, path)
    if not options.operands:
        ctx.stderr.write(
            b"crontab: usage error: file name must be specified for replace\n"
            + _USAGE.encode("utf-8", "surrogateescape")
        )
        return 1
    return _replace(ctx, user, path, options.operands[0])


_HINTS = """# Edit this file to introduce tasks to be run by cron.
#
# Each line has five fields of time (minute, hour, day of month, month, day of week) and a command.
#
# m h  dom mon dow   command
"""


def _edit(ctx: Context, user: User, path: str) -> int:
    """Let $VISUAL, $EDITOR or the system's editor change a copy, and install what it leaves."""
    if ctx.machine.view().exists(path):
        data = _own_lines(ctx.machine.view().read(path))
    else:
        ctx.stderr.write(f"no crontab for {user.name} - using an empty one\n".encode("utf-8", "surrogateescape"))
        data = _HINTS.encode()
    number = ctx.machine.count("crontab -e")
    folder = f"/tmp/crontab.{mix(f'{ctx.machine.seed} {number}') & 0xFFFFFF:06x}"  # noqa: S108
    copy = f"{folder}/crontab"
    ctx.files.mkdir(folder, 0o700)
    try:
        ctx.files.write(copy, data, mode=0o600)
        _say(ctx, user, "BEGIN EDIT")
        editor = ctx.environment.get("VISUAL") or ctx.environment.get("EDITOR") or "/usr/bin/sensible-editor"
        status = ctx.run(["/bin/sh", "-c", f"{editor} {copy}"])
        if status:
            ctx.err(f'"{editor}" exited with status {status}')
            return 1
        if ctx.files.read(copy) == data:
            ctx.err("no changes made to crontab")
            return 0
        ctx.err("installing new crontab")
        status = _replace(ctx, user, path, copy)
        if status:
            ctx.stdout.write(b"Do you want to retry the same edit? (y/n) ")
        return status
    finally:
        ctx.files.unlink(copy)
        ctx.files.rmdir(folder)
        _say(ctx, user, "END EDIT")


def _allowed(ctx: Context, user: User) -> None:
    """cron.allow and cron.deny."""
    view = ctx.machine.view()
    if ctx.cred.uid == 0:
        return
    refused = False
    if view.exists("/etc/cron.allow"):
        refused = user.name not in view.text("/etc/cron.allow").split()
    elif view.exists("/etc/cron.deny"):
        refused = user.name in view.text("/etc/cron.deny").split()
    if refused:
        ctx.stderr.write(
            f"You ({user.name}) are not allowed to use this program (crontab)\nSee crontab(1) for more "
            f"information\n".encode("utf-8", "surrogateescape")
        )
        raise CommandExit(1)


def _say(ctx: Context, user: User, action: str) -> None:
    caller = accounts(ctx.machine).user_name(ctx.cred.uid)
    log(ctx.machine, "crontab", f"({caller}) {action} ({user.name})", pid=ctx.pid, facility="cron")


def _list(ctx: Context, user: User, path: str) -> int:
    try:
        data = ctx.machine.view().read(path)
    except OSError:
        ctx.stderr.write(f"no crontab for {user.name}\n".encode("utf-8", "surrogateescape"))
        return 1
    _say(ctx, user, "LIST")
    ctx.stdout.write(_own_lines(data))
    return 0


def _own_lines(data: bytes) -> bytes:
    lines = data.split(b"\n")
    # The three lines that crontab itself put on top are not the user's.
    if lines and lines[0].startswith(b"# DO NOT EDIT THIS FILE"):
        while (
            lines
            and lines[0].startswith(b"# ")
            and (b"DO NOT EDIT" in lines[0] or b"installed on" in lines[0] or b"Cron version" in lines[0])
        ):
            lines.pop(0)
    return b"\n".join(lines)


def _replace(ctx: Context, user: User, path: str, source: str) -> int:
    try:
        data = ctx.stdin.read() if source == "-" else ctx.files.read(source)
    except OSError as error:
        ctx.stderr.write(f"{source}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
        return 1
    text = data.decode("utf-8", "surrogateescape")
    name = "-" if source == "-" else source
    if text and not text.endswith("\n"):
        ctx.stderr.write(b"new crontab file is missing newline before EOF, can't install.\n")
        return 1
    try:
        parse(text, user.name)
    except CrontabError as error:
        ctx.stderr.write(
            f'"{name}":{error.line - 1}: {error.reason}\nerrors in crontab file, can\'t install.\n'.encode(
                "utf-8", "surrogateescape"
            )
        )
        return 1
    view = ctx.machine.view()
    try:
        if not view.exists(SPOOL):
            ctx.stderr.write(f"{SPOOL}/: mkstemp: No such file or directory\n".encode("utf-8", "surrogateescape"))
            return 1
        view.write(path, data, mode=0o600)
        group = accounts(ctx.machine).group("crontab")
        view.chown(path, user.uid, group.gid if group is not None else user.gid)
        view.chmod(path, 0o600)
    except OSError as error:
        ctx.stderr.write(f"{SPOOL}/: mkstemp: {error.strerror}\n".encode("utf-8", "surrogateescape"))
        return 1
    _say(ctx, user, "REPLACE")
    return 0
