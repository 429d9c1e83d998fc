"""logger, wall, mesg and write of util-linux and bsdutils: messages to the log and to people."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.systemd.journal import log
from runners.sim.tool import Tool
from runners.sim.users import accounts

NAMES = ("logger", "wall", "mesg", "systemd-cat")

_LOGGER = Tool(
    "logger [options] [<message>]",
    "i id=? f,file= e,skip-empty no-act p,priority= octet-count prio-prefix s,stderr S,size= t,tag= "
"n,server= P,port= T,tcp "
    "d,udp rfc3164 rfc5424=? u,socket= journald=? V,version h,help",
    "logger from util-linux 2.38.1",
)  # fmt: skip
_WALL = Tool(
    "wall [options] [<file> | <message>]",
    "g,group= n,nobanner t,timeout= V,version h,help",
    "wall from util-linux 2.38.1",
)
_PRIORITIES = {
    "emerg": 0,
    "panic": 0,
    "alert": 1,
    "crit": 2,
    "err": 3,
    "error": 3,
    "warning": 4,
    "warn": 4,
    "notice": 5,
    "info": 6,
    "debug": 7,
}
_FACILITIES = {
    "kern": 0, "user": 1, "mail": 2, "daemon": 3, "auth": 4, "security": 4, "syslog": 5, "lpr": 6, "news": 7, "uucp": 8,
    "cron": 9, "authpriv": 10, "ftp": 11, **{f"local{number}": 16 + number for number in range(8)},
}  # fmt: skip
"""Their numbers, as syslog(3) has them."""


def main(ctx: Context) -> int:
    if ctx.name == "mesg":
        ctx.stderr.write(b"mesg: ttyname failed: Inappropriate ioctl for device\n")
        return 2
    if ctx.name == "wall":
        options = _WALL.parse(ctx)
        return 0 if options.operands or ctx.stdin.read() is not None else 1
    if ctx.name == "systemd-cat":
        return _cat(ctx)
    options = _LOGGER.parse(ctx)
    facility, dot, level = (options.value("p") or "user.notice").rpartition(".")
    if level not in _PRIORITIES:
        ctx.err(f"unknown priority name: {options.value('p')}")
        return 1
    if dot and facility not in _FACILITIES:
        ctx.err(f"unknown facility name: {options.value('p')}")
        return 1
    tag = options.value("t") or accounts(ctx.machine).user_name(ctx.cred.uid)
    if options.operands:
        messages = [" ".join(options.operands)]
    else:
        try:
            path = options.value("f")
            data = ctx.files.read(path) if path is not None else ctx.stdin.read()
        except OSError as error:
            ctx.err(f"file {options.value('f')}: {error.strerror}")
            return 1
        messages = data.decode("utf-8", "surrogateescape").splitlines()
    pid = ctx.pid if options.has("i", "id") else 0
    code = _FACILITIES[facility or "user"] * 8 + _PRIORITIES[level]
    facility = {"authpriv": "auth", "security": "auth"}.get(facility, facility or "user")
    for message in messages:
        if message or not options.has("e"):
            log(ctx.machine, tag, message, pid=pid, priority=_PRIORITIES[level], uid=ctx.cred.uid, facility=facility)
            if options.has("s"):
                when = ctx.machine.clock.time()
                number = f"[{pid}]" if pid else ""
                ctx.stderr.write(
                    f"<{code}>{when:%b} {when.day:2} {when:%H:%M:%S} {tag}{number}: {message}\n".encode(
                        "utf-8", "surrogateescape"
                    )
                )
    return 0


def _cat(ctx: Context) -> int:
    words = list(ctx.args)
    tag = "unknown"
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word in ("-t", "-p") and words:
            value = words.pop(0)
            tag = value if word == "-t" else tag
    if words:
        return ctx.run(words)
    for line in ctx.stdin.read().decode("utf-8", "surrogateescape").splitlines():
        log(ctx.machine, tag, line, pid=ctx.pid, uid=ctx.cred.uid, transport="stdout")
    return 0
