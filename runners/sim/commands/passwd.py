"""passwd, chpasswd and chage of shadow 4.13."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from runners.formats.accounts import Shadow
from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.options import Options
from runners.sim.commands.useradd import expiry_days
from runners.sim.passwords import hashed, today
from runners.sim.systemd.journal import log
from runners.sim.tasks import accounts as files
from runners.sim.tool import Tool
from runners.sim.users import accounts
from runners.text import is_digits

NAMES = ("passwd", "chpasswd", "chage")

_PASSWD = Tool(
    "passwd [options] [LOGIN]",
    "a,all d,delete e,expire h k,keep-tokens i,inactive= l,lock n,mindays= q,quiet r,repository= R,root= S,status "
    "u,unlock w,warndays= x,maxdays= s,stdin",
    "passwd 4.13", status=6, hinted=False,
)  # fmt: skip
_CHPASSWD = Tool(
    "chpasswd [options]",
    "c,crypt-method= e,encrypted h m,md5 R,root= s,sha-rounds=",
    "chpasswd 4.13",
    status=2,
    hinted=False,
)
_CHAGE = Tool(
    "chage [options] LOGIN", "d,lastday= E,expiredate= h i,iso8601 I,inactive= l,list m,mindays= "
"M,maxdays= R,root= W,warndays=",
    "chage 4.13", status=2, hinted=False,
)  # fmt: skip


def main(ctx: Context) -> int:
    return {"passwd": _passwd, "chpasswd": _chpasswd, "chage": _chage}[ctx.name](ctx)


def _passwd(ctx: Context) -> int:
    options = _PASSWD.parse(ctx)
    known = accounts(ctx.machine)
    own = known.user_name(ctx.cred.uid)
    name = options.operands[0] if options.operands else own
    if options.has("S") and options.has("a"):
        for entry in known.shadow.values():
            ctx.line(_status(entry))
        return 0
    shadow = known.shadow.get(name)
    if known.user(name) is None or shadow is None:
        ctx.err(f"user '{name}' does not exist")
        return 1
    if ctx.cred.uid != 0 and (name != own or options.has("l", "u", "d", "e", "n", "x", "w", "i")):
        ctx.err(
            "Permission denied." if options.given else f"You may not view or modify password information for {name}."
        )
        return 1
    if options.has("S"):
        ctx.line(_status(shadow))
        return 0
    if options.has("l", "u", "d", "e", "n", "x", "w", "i"):
        return _adjust(ctx, options, name, shadow)
    return _change(ctx, name)


def _status(shadow: Shadow) -> str:
    kind = "L" if shadow.locked else "NP" if not shadow.password else "P"
    changed = datetime.fromtimestamp(_days(shadow.changed) * 86400, UTC)
    days = " ".join(days or "-1" for days in (shadow.minimum, shadow.maximum, shadow.warn, shadow.inactive))
    return f"{shadow.name} {kind} {changed:%Y-%m-%d} {days}"


def _check_days(ctx: Context, tool: Tool, options: Options, names: str, status: int) -> None:
    """Ends the command where what should be a number of days is none."""
    for name in names:
        value = options.value(name)
        if value is not None and value != "-1" and not is_digits(value):
            said = f"{ctx.name}: invalid numeric argument '{value}'\nUsage: {tool.usage}\n"
            ctx.stderr.write(said.encode("utf-8", "surrogateescape"))
            raise CommandExit(status)


def _days(text: str, usual: int = 0) -> int:
    """What stands in /etc/shadow; anybody may have edited it. No more days than can be written as a date."""
    return min(int(text), 900_000) if is_digits(text) else usual


def _adjust(ctx: Context, options: Options, name: str, shadow: Shadow) -> int:
    _check_days(ctx, _PASSWD, options, "nxwi", 6)
    if options.has("u") and shadow.password in ("!", "!!"):
        ctx.err("unlocking the password would result in a passwordless account.")
        ctx.stderr.write(b"You should set a password with usermod -p to unlock the password of this account.\n")
        return 3

    def change(fields: list[str]) -> list[str]:
        fields = list(fields)
        if options.has("l") and not fields[1].startswith("!"):
            fields[1] = "!" + fields[1]
        if options.has("u"):
            fields[1] = fields[1].removeprefix("!")
        if options.has("d"):
            fields[1] = ""
        if options.has("e"):
            fields[2] = "0"
        for option, index in (("n", 3), ("x", 4), ("w", 5), ("i", 6)):
            value = options.value(option)
            if value is not None:
                fields[index] = "" if value == "-1" else value
        return fields

    files.edit(ctx.machine, "/etc/shadow", name, change)
    if not options.has("q"):
        ctx.line(
            "passwd: password changed."
            if options.has("l", "u", "d")
            else "passwd: password expiry information changed."
        )
    return 0


def _change(ctx: Context, name: str) -> int:
    lines = ctx.stdin.read().decode("utf-8", "surrogateescape").splitlines()
    if ctx.cred.uid != 0:
        ctx.stderr.write(f"Changing password for {name}.\nCurrent password: ".encode("utf-8", "surrogateescape"))
        lines = lines[1:]
    ctx.stderr.write(b"New password: ")
    if not lines:
        ctx.stderr.write(
            b"Password change has been aborted.\npasswd: Authentication token manipulation error\n"
            b"passwd: password unchanged\n"
        )
        return 10
    ctx.stderr.write(b"Retype new password: ")
    if len(lines) < 2 or lines[0] != lines[1]:
        ctx.stderr.write(
            b"Sorry, passwords do not match.\npasswd: Authentication token manipulation error\npasswd: "
            b"password unchanged\n"
        )
        return 10
    _store(ctx, name, lines[0])
    log(ctx.machine, "passwd", f"pam_unix(passwd:chauthtok): password changed for {name}", pid=ctx.pid)
    ctx.stderr.write(b"passwd: password updated successfully\n")
    return 0


def _store(ctx: Context, name: str, password: str, *, encrypted: bool = False) -> None:
    secret = password if encrypted else hashed(ctx.machine, name, password)
    day = today(ctx.machine)
    files.edit(ctx.machine, "/etc/shadow", name, lambda fields: [fields[0], secret, day, *fields[3:]])


def _chpasswd(ctx: Context) -> int:
    options = _CHPASSWD.parse(ctx)
    if ctx.cred.uid != 0:
        ctx.err("cannot lock /etc/passwd; try again later.")
        return 1
    known = accounts(ctx.machine)
    pairs = []
    for number, line in enumerate(ctx.stdin.read().decode("utf-8", "surrogateescape").splitlines(), 1):
        name, colon, password = line.partition(":")
        if not colon:
            ctx.err(f"line {number}: missing new password")
        elif known.user(name) is None:
            ctx.err(f"line {number}: user '{name}' does not exist")
        else:
            pairs.append((name, password))
            continue
        ctx.err("error detected, changes ignored")
        return 1
    for name, password in pairs:
        _store(ctx, name, password, encrypted=options.has("e"))
        log(ctx.machine, "chpasswd", f"pam_unix(chpasswd:chauthtok): password changed for {name}", pid=ctx.pid)
    return 0


def _chage(ctx: Context) -> int:
    options = _CHAGE.parse(ctx)
    if len(options.operands) != 1:
        ctx.stderr.write(f"Usage: {_CHAGE.usage}\n\n".encode("utf-8", "surrogateescape"))
        return 2
    name = options.operands[0]
    known = accounts(ctx.machine)
    if ctx.cred.uid != 0 and not (options.has("l") and known.user_name(ctx.cred.uid) == name):
        ctx.err("Permission denied.")
        return 1
    shadow = known.shadow.get(name)
    if shadow is None:
        ctx.err(f"user '{name}' does not exist in /etc/passwd")
        return 1
    if options.has("l"):
        return _aging(ctx, shadow)

    _check_days(ctx, _CHAGE, options, "mMWI", 2)

    def change(fields: list[str]) -> list[str]:
        fields = list(fields)
        for option, index in (("d", 2), ("m", 3), ("M", 4), ("W", 5), ("I", 6), ("E", 7)):
            value = options.value(option)
            if value is not None:
                fields[index] = expiry_days(value)
        return fields

    files.edit(ctx.machine, "/etc/shadow", name, change)
    return 0


def _aging(ctx: Context, shadow: Shadow) -> int:
    def day(number: int) -> str:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=number)
        return f"{moment:%b %d, %Y}"

    changed = _days(shadow.changed)
    maximum = _days(shadow.maximum, 99999)
    forced = shadow.changed == "0"
    never = maximum >= 10000
    last = "password must be changed" if forced else day(changed)
    expires = "password must be changed" if forced else "never" if never else day(changed + maximum)
    inactive = (
        "password must be changed"
        if forced
        else "never"
        if never or not shadow.inactive
        else day(changed + maximum + _days(shadow.inactive))
    )
    ctx.line(f"Last password change\t\t\t\t\t: {last}")
    ctx.line(f"Password expires\t\t\t\t\t: {expires}")
    ctx.line(f"Password inactive\t\t\t\t\t: {inactive}")
    ctx.line(f"Account expires\t\t\t\t\t\t: {day(_days(shadow.expires)) if is_digits(shadow.expires) else 'never'}")
    ctx.line(f"Minimum number of days between password change\t\t: {shadow.minimum or -1}")
    ctx.line(f"Maximum number of days between password change\t\t: {shadow.maximum or -1}")
    ctx.line(f"Number of days of warning before password expires\t: {shadow.warn or -1}")
    return 0
