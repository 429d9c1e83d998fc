"""who, w and users: who is logged in."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.logins import Login, sessions
from runners.sim.tool import Tool
from runners.sim.uptime import uptime_line

NAMES = ("who", "w", "users")

_WHO = Tool(
    "who [OPTION]... [ FILE | ARG1 ARG2 ]",
    "a,all b,boot d,dead H,heading l,login lookup m p,process q,count r,runlevel s,short t,time T,mesg u,users w",
    "who (GNU coreutils) 9.1",
)
_W = Tool(
    "w [options] [user]",
    "h,no-header u,no-current s,short f,from o,old-style i,ip-addr p,pids V,version",
    "w from procps-ng 4.0.2",
)
_USERS = Tool("users [OPTION]... [FILE]", "", "users (GNU coreutils) 9.1")


def main(ctx: Context) -> int:
    if ctx.name == "w":
        return _w(ctx)
    if ctx.name == "users":
        _USERS.parse(ctx)
        names = sorted(login.user for login in sessions(ctx.machine))
        if names:
            ctx.line(" ".join(names))
        return 0
    options = _WHO.parse(ctx)
    on = sessions(ctx.machine)
    if options.has("q"):
        ctx.line(" ".join(login.user for login in on))
        ctx.line(f"# users={len(on)}")
        return 0
    everything = options.has("a")
    if options.has("H"):
        ctx.line("NAME     LINE         TIME             COMMENT")
    if everything or options.has("b"):
        ctx.line(f"         system boot  {ctx.machine.clock.time(ctx.machine.clock.boot):%Y-%m-%d %H:%M}")
    if everything or options.has("r"):
        ctx.line(f"         run-level 5  {ctx.machine.clock.time(ctx.machine.clock.boot + 9):%Y-%m-%d %H:%M}")
    if options.has("m") or len(options.operands) == 2:
        on = [login for login in on if login.tty == ctx.tty]
    if everything or options.has("u", "s", "H", "m", "T", "w") or not options.given:
        for login in on:
            ctx.line(
                _who_line(ctx, login, detailed=everything or options.has("u"), mesg=everything or options.has("T", "w"))
            )
    return 0


def _who_line(ctx: Context, login: Login, *, detailed: bool, mesg: bool) -> str:
    began = f"{ctx.machine.clock.time(login.began):%Y-%m-%d %H:%M}"
    line = f"{login.user:<8} {'+ ' if mesg else ''}{login.tty:<12} {began}"
    if detailed:
        line += f"   .          {_shell_pid(ctx, login):>5}"
    return f"{line} ({login.host})" if login.host else line


def _shell_pid(ctx: Context, login: Login) -> int:
    on_tty = [process.pid for process in ctx.machine.processes if process.tty == login.tty]
    return min(on_tty, default=0)


def _w(ctx: Context) -> int:
    options = _W.parse(ctx)
    if options.has("V"):
        ctx.line("w from procps-ng 4.0.2")
        return 0
    if not options.has("h"):
        ctx.line(uptime_line(ctx.machine))
        ctx.line(
            "USER     TTY      FROM              IDLE WHAT" if options.has("s")
            else "USER     TTY      FROM             LOGIN@   IDLE   JCPU   PCPU WHAT"
        )  # fmt: skip
    for login in sessions(ctx.machine):
        if options.operands and login.user != options.operands[0]:
            continue
        began = ctx.machine.clock.time(login.began)
        age = ctx.machine.clock.now - login.began
        at = f"{began:%H:%M} " if age < 12 * 3600 else f"{began:%a%H}  " if age < 7 * 86400 else f"{began:%d%b%y}"
        what = _what(ctx, login)
        idle = "1.00s" if login.tty == ctx.tty else _idle(age)
        origin = f"{login.user:<8} {login.tty:<8} {login.host or '-':<16} "
        ctx.line(f"{origin}{idle:>6} {what}" if options.has("s") else f"{origin}{at:>7} {idle:>6}  0.03s  0.00s {what}")
    return 0


def _idle(seconds: float) -> str:
    if seconds >= 2 * 86400:
        return f"{int(seconds // 86400)}days"
    if seconds >= 3600:
        return f"{int(seconds // 3600)}:{int(seconds // 60 % 60):02d}m"
    return f"{int(seconds // 60)}:{int(seconds % 60):02d} "


def _what(ctx: Context, login: Login) -> str:
    on_tty = [process for process in ctx.machine.processes if process.tty == login.tty]
    return " ".join(max(on_tty, key=lambda process: process.pid).argv) if on_tty else "-bash"
