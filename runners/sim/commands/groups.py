"""groups: print the groups a user is in."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.options import parse
from runners.sim.users import accounts


def main(ctx: Context) -> int:
    options = parse(ctx, "", usage="Usage: groups [OPTION]... [USERNAME]...")
    known = accounts(ctx.machine)
    status = 0
    names: list[str | None] = [*options.operands] or [None]
    for name in names:
        if name is not None and known.user(name) is None:
            ctx.err(f"‘{name}’: no such user")
            status = 1
            continue
        cred = ctx.cred if name is None else known.cred(name)
        listed = " ".join(known.group_name(gid) for gid in [cred.gid, *sorted(cred.groups - {cred.gid})])
        ctx.line(f"{name} : {listed}" if name is not None else listed)
    return status
