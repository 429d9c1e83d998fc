"""last and lastb: sessions of the past, and failed log-ins, newest first."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.logins import Login, logins
from runners.sim.tool import Tool
from runners.text import is_digits

NAMES = ("last", "lastb")

_TOOL = Tool(
    "{name} [options] [<username>...] [<tty>...]",
    "a,hostlast d,dns f,file= F,fulltimes i,ip n,limit= R,nohostname s,since= t,until= p,present= w,fullnames x,system "
    "time-format= V,version",
    "last from util-linux 2.38.1",
)  # fmt: skip


def main(ctx: Context) -> int:
    arguments = ["-n" + word[1:] if word[:1] == "-" and is_digits(word[1:]) else word for word in ctx.args]
    options = _TOOL.parse(ctx, arguments)
    path = options.value("f") or ("/var/log/btmp" if ctx.name == "lastb" else "/var/log/wtmp")
    failed = path.rsplit("/", 1)[-1].startswith("btmp")
    try:
        ctx.files.content(path)
    except OSError as error:
        ctx.err(f"cannot open {path}: {error.strerror}")
        return 1
    everything = logins(ctx.machine)
    records = [login for login in everything if login.failed == failed]
    if not failed:
        boot = ctx.machine.clock.boot
        records.append(Login("reboot", "system boot", _kernel(ctx), boot, None))
    records.sort(key=lambda login: -login.began)
    if options.operands:
        records = [login for login in records if login.user in options.operands or login.tty in options.operands]
    limit = options.value("n")
    if limit is not None and is_digits(limit):
        records = records[: int(limit)]
    for login in records:
        ctx.line(_line(ctx, login, full=options.has("F"), bare=options.has("R"), wide=options.has("w")))
    ctx.line()
    boot = ctx.machine.clock.boot
    first = min([login.began for login in everything if login.failed == failed], default=boot)
    first = first if failed else min(first, boot)
    name = path.rsplit("/", 1)[-1]
    moment = ctx.machine.clock.time(first)
    ctx.line(f"{name} begins {moment:%a %b} {moment.day:2d} {moment:%H:%M:%S %Y}")
    return 0


def _kernel(ctx: Context) -> str:
    try:
        return ctx.machine.view().text("/proc/sys/kernel/osrelease").strip()
    except OSError:
        return ""


def _line(ctx: Context, login: Login, *, full: bool, bare: bool, wide: bool) -> str:
    began = ctx.machine.clock.time(login.began)
    user = login.user if wide else login.user[:8]
    host = login.host if wide else login.host[:16]
    start = (
        f"{began:%a %b} {began.day:2d} {began:%H:%M:%S %Y}" if full else f"{began:%a %b} {began.day:2d} {began:%H:%M}"
    )
    if login.ended is None and not login.failed:
        end = "  still running" if login.user == "reboot" else "  still logged in"
        text = f"{start} {end}"
    else:
        ended = login.ended if login.ended is not None else login.began
        seconds = int(ended - login.began)
        days, rest = divmod(seconds, 86400)
        span = (
            f"({days}+{rest // 3600:02d}:{rest // 60 % 60:02d})"
            if days
            else f" ({rest // 3600:02d}:{rest // 60 % 60:02d})"
        )
        moment = ctx.machine.clock.time(ended)
        finish = f"{moment:%a %b} {moment.day:2d} {moment:%H:%M:%S %Y}" if full else f"{moment:%H:%M}"
        text = f"{start} - {finish} {span}"
    origin = "" if bare else f"{host:<16} "
    return f"{user:<8} {login.tty:<12} {origin}{text}".rstrip()
