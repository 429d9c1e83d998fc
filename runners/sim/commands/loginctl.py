"""loginctl of systemd 252: sessions and users as systemd-logind knows them."""

from __future__ import annotations

from collections.abc import Sequence

from runners.sim.commands.context import Context
from runners.sim.logins import Login, sessions
from runners.sim.tool import Tool
from runners.sim.users import accounts

_TOOL = Tool(
    "loginctl [OPTIONS...] COMMAND ...", "a,all full H,host= kill-whom= M,machine= n,lines= no-ask-password no-legend "
    "no-pager o,output= p,property= s,signal= value h,help version", "systemd 252 (252.22-1~deb12u1)",
)  # fmt: skip


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    verb, *names = options.operands or ["list-sessions"]
    on = sessions(ctx.machine)
    if not any(process.program == "systemd-logind" for process in ctx.machine.processes):
        ctx.stderr.write(b"Failed to list sessions: Connection refused\n")
        return 1
    titled = not options.has("no-legend")
    known = accounts(ctx.machine)
    if verb == "list-sessions":
        rows = [
            (str(number), str(known.cred(login.user).uid), login.user, "-", login.tty)
            for number, login in enumerate(on, start=1)
        ]
        _table(ctx, ("SESSION", "UID", "USER", "SEAT", "TTY"), rows, "sessions", titled=titled)
        return 0
    if verb == "list-users":
        users = sorted({(known.cred(login.user).uid, login.user) for login in on})
        _table(ctx, ("UID", "USER", "LINGER"), [(str(uid), name, "no") for uid, name in users], "users", titled=titled)
        return 0
    if verb == "list-seats":
        _table(ctx, ("SEAT",), [("seat0",)], "seats", titled=titled)
        return 0
    if verb in ("session-status", "show-session", "user-status", "show-user"):
        return _describe(ctx, verb, names, on)
    ctx.stderr.write(f"Unknown command verb {verb}.\n".encode("utf-8", "surrogateescape"))
    return 1


def _table(ctx: Context, titles: tuple[str, ...], rows: Sequence[tuple[str, ...]], what: str, *, titled: bool) -> None:
    if not rows and titled:
        ctx.line(f"No {what}.")
        return
    shown = [titles, *rows] if titled else rows
    widths = [max(len(row[column]) for row in shown) for column in range(len(titles))]
    right = ("SESSION", "UID")
    for row in shown:
        cells = [
            f"{cell:>{width}}" if title in right else f"{cell:<{width}}"
            for cell, width, title in zip(row, widths, titles, strict=True)
        ]
        ctx.line(" ".join(cells).rstrip())
    if titled:
        ctx.line(f"\n{len(rows)} {what} listed.")


def _describe(ctx: Context, verb: str, names: list[str], on: list[Login]) -> int:
    of_session = verb.endswith(("session", "session-status")) or verb == "session-status"
    known = accounts(ctx.machine)
    for name in names or (["1"] if of_session else ["root"]):
        found = [
            (number, login)
            for number, login in enumerate(on, start=1)
            if name in ((str(number),) if of_session else (login.user, str(known.cred(login.user).uid)))
        ]
        if not found:
            missing = f"No session '{name}' known" if of_session else f"User ID {name} is not logged in or lingering"
            ctx.stderr.write(f"Failed to get path for {name}: {missing}\n".encode("utf-8", "surrogateescape"))
            return 1
        number, login = found[0]
        uid, since = known.cred(login.user).uid, f"{ctx.machine.clock.time(login.began):%a %Y-%m-%d %H:%M:%S UTC}"
        leader = next((one for one in ctx.machine.processes if one.unit == f"session-{number}.scope"), None)
        if verb.startswith("show"):
            fields = {"User": str(uid), "Name": login.user, "Timestamp": since}
            if of_session:
                fields = {"Id": str(number), **fields, "TTY": login.tty, "Remote": "yes" if login.host else "no",
                          "RemoteHost": login.host, "Service": "sshd", "Leader": str(leader.pid if leader else 0),
                          "Type": "tty", "Class": "user", "Active": "yes", "State": "active"}  # fmt: skip
            for key, value in fields.items():
                ctx.line(f"{key}={value}")
            continue
        ctx.line(f"{number} - {login.user} ({uid})" if of_session else f"{login.user} ({uid})")
        rows = [("Since", since)]
        if of_session:
            rows += [("Leader", f"{leader.pid} ({leader.name})" if leader else "-"), ("TTY", login.tty),
                     ("Remote", login.host), ("Service", "sshd; type tty; class user"), ("State", "active"),
                     ("Unit", f"session-{number}.scope")]  # fmt: skip
        else:
            rows += [("State", "active"), ("Sessions", " ".join(f"*{one}" for one, _ in found)), ("Linger", "no"),
                     ("Unit", f"user-{uid}.slice")]  # fmt: skip
        for key, value in rows:
            ctx.line(f"{key:>14}: {value}" if of_session else f"{key:>11}: {value}")
    return 0
