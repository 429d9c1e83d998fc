"""id: print user and group identities."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.options import parse
from runners.sim.users import accounts
from runners.text import is_digits


def main(ctx: Context) -> int:
    options = parse(
        ctx,
        "agGnruzZ",
        ["group/g", "groups/G", "name/n", "real/r", "user/u", "zero/z"],
        usage="Usage: id [OPTION]... [USER]...\nPrint user and group information for each specified USER,",
    )
    known = accounts(ctx.machine)
    if options.has("n", "r") and not options.has("u", "g", "G"):
        ctx.die("cannot print only names or real IDs in default format")
    status = 0
    names: list[str | None] = [*options.operands] or [None]
    for name in names:
        if name is None:
            cred = ctx.cred
        else:
            user = known.user(name) or (known.user(int(name)) if is_digits(name) else None)
            if user is None:
                ctx.err(f"‘{name}’: no such user")
                status = 1
                continue
            cred = known.cred(user.name)
        groups = [cred.gid, *sorted(cred.groups - {cred.gid})]
        if options.has("u"):
            ctx.line(known.user_name(cred.uid) if options.has("n") else str(cred.uid))
        elif options.has("g"):
            ctx.line(known.group_name(cred.gid) if options.has("n") else str(cred.gid))
        elif options.has("G"):
            ctx.line(" ".join(known.group_name(gid) if options.has("n") else str(gid) for gid in groups))
        else:
            listed = ",".join(f"{gid}({known.group_name(gid)})" for gid in groups)
            ctx.line(
                f"uid={cred.uid}({known.user_name(cred.uid)}) gid={cred.gid}({known.group_name(cred.gid)}) "
                f"groups={listed}"
            )
    return status
