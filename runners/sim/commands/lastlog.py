"""lastlog of shadow 4.13: when each user was here last."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.logins import logins
from runners.sim.tool import Tool
from runners.sim.users import accounts
from runners.text import is_digits

_TOOL = Tool(
    "lastlog [options]",
    "b,before= C,clear h,help R,root= S,set t,time= u,user=",
    "lastlog from shadow 4.13",
    hinted=False,
)
_DAY = 86400


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    known, now = accounts(ctx.machine), ctx.machine.clock.now
    last = {login.user: login for login in logins(ctx.machine) if not login.failed}
    days, before, wanted = options.value("t"), options.value("b"), options.value("u")
    for text in (days, before):
        if text is not None and not is_digits(text):
            ctx.err(f"invalid numeric argument '{text}'")
            return 3
    if wanted is not None and known.user(wanted) is None and not is_digits(wanted.replace("-", "")):
        ctx.err(f"Unknown user or range: {wanted}")
        return 1
    titled = False
    for user in sorted(known.users.values(), key=lambda one: one.uid):
        if wanted is not None and wanted not in (user.name, str(user.uid)):
            continue
        login = last.get(user.name)
        if days is not None and (login is None or login.began < now - int(days) * _DAY):
            continue
        if before is not None and login is not None and login.began > now - int(before) * _DAY:
            continue
        if not titled:
            titled = True
            ctx.line(f"{'Username':<16} {'Port':<8} {'From':<42} Latest")
        if login is None:
            ctx.line(f"{user.name:<16} {'':<8} {'':<42}**Never logged in**")
            continue
        moment = ctx.machine.clock.time(login.began)
        when = f"{moment:%a %b} {moment.day:2d} {moment:%H:%M:%S +0000 %Y}"
        ctx.line(f"{user.name:<16} {login.tty:<8} {login.host:<42}{when}")
    return 0
