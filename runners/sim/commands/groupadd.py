"""groupadd, groupmod, groupdel and gpasswd of shadow 4.13."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.options import Options
from runners.sim.systemd.journal import log
from runners.sim.tasks import accounts as files
from runners.sim.tool import Tool
from runners.sim.users import accounts
from runners.text import is_digits

NAMES = ("groupadd", "groupdel", "groupmod", "gpasswd")
PATH = "/usr/sbin/groupadd"

_TOOLS = {
    "groupadd": Tool("groupadd [options] GROUP", "f,force g,gid= h K,key= o,non-unique p,password= "
"r,system R,root= P,prefix= U,users=", "groupadd 4.13", status=2, hinted=False),
    "groupdel": Tool("groupdel [options] GROUP", "h R,root= P,prefix= "
"f,force", "groupdel 4.13", status=2, hinted=False),
    "groupmod": Tool("groupmod [options] GROUP", "g,gid= h n,new-name= o,non-unique p,password= R,root= "
"P,prefix= a,append U,users=", "groupmod 4.13", status=2, hinted=False),
    "gpasswd": Tool("gpasswd [option] GROUP", "a,add= d,delete= h Q,root= r,remove-password R,restrict "
"M,members= A,administrators=", "gpasswd 4.13", status=2, hinted=False),
}  # fmt: skip


def main(ctx: Context) -> int:
    tool = _TOOLS[ctx.name]
    options = tool.parse(ctx)
    if len(options.operands) != 1:
        ctx.stderr.write(f"Usage: {tool.usage}\n\n".encode("utf-8", "surrogateescape"))
        return 2
    if ctx.cred.uid != 0:
        ctx.err("Permission denied.")
        if ctx.name != "gpasswd":
            ctx.err("cannot lock /etc/group; try again later.")
        return 10 if ctx.name != "gpasswd" else 1
    name = options.operands[0]
    group = accounts(ctx.machine).group(name)
    if ctx.name == "groupadd":
        return _add(ctx, options, name, exists=group is not None)
    if group is None:
        ctx.err(
            f"group '{name}' does not exist in /etc/group"
            if ctx.name == "gpasswd"
            else f"group '{name}' does not exist"
        )
        return 3 if ctx.name == "gpasswd" else 6
    if ctx.name == "groupdel":
        primary = next((user for user in accounts(ctx.machine).users.values() if user.gid == group.gid), None)
        if primary is not None:
            ctx.err(f"cannot remove the primary group of user '{primary.name}'")
            return 8
        files.remove(ctx.machine, "/etc/group", name)
        files.remove(ctx.machine, "/etc/gshadow", name)
        log(ctx.machine, "groupdel", f"removed group '{name}'", pid=ctx.pid)
        return 0
    return _gpasswd(ctx, options, name) if ctx.name == "gpasswd" else _modify(ctx, options, name)


def _add(ctx: Context, options: Options, name: str, *, exists: bool) -> int:
    if exists:
        if options.has("f"):
            return 0
        ctx.err(f"group '{name}' already exists")
        return 9
    text = options.value("g")
    if text is not None and (
        not is_digits(text) or (accounts(ctx.machine).group(int(text)) is not None and not options.has("o"))
    ):
        ctx.err(f"GID '{text}' already exists" if is_digits(text) else f"invalid group ID '{text}'")
        return 4 if is_digits(text) else 3
    gid = int(text) if text is not None else files.free_number(ctx.machine, "/etc/group", system=options.has("r"))
    files.append(ctx.machine, "/etc/group", [name, "x", str(gid), ""])
    files.append(ctx.machine, "/etc/gshadow", [name, "!", "", ""])
    log(ctx.machine, "groupadd", f"group added to /etc/group: name={name}, GID={gid}", pid=ctx.pid)
    log(ctx.machine, "groupadd", f"new group: name={name}, GID={gid}", pid=ctx.pid)
    return 0


def _modify(ctx: Context, options: Options, name: str) -> int:
    gid, new = options.value("g"), options.value("n")
    files.edit(
        ctx.machine, "/etc/group", name, lambda fields: [new or fields[0], fields[1], gid or fields[2], *fields[3:]]
    )
    if new is not None:
        files.edit(ctx.machine, "/etc/gshadow", name, lambda fields: [new, *fields[1:]])
    return 0


def _gpasswd(ctx: Context, options: Options, name: str) -> int:
    user = options.value("a") or options.value("d")
    if user is None:
        return 0
    if accounts(ctx.machine).user(user) is None:
        ctx.err(f"user '{user}' does not exist")
        return 3
    adding = options.has("a")
    group = accounts(ctx.machine).group(name)
    if not adding and (group is None or user not in group.members):
        ctx.err(f"user '{user}' is not a member of '{name}'")
        return 3

    def change(fields: list[str]) -> list[str]:
        members = [member for member in fields[3].split(",") if member and member != user]
        return [*fields[:3], ",".join([*members, user] if adding else members)]

    files.edit(ctx.machine, "/etc/group", name, change)
    files.edit(ctx.machine, "/etc/gshadow", name, change)
    ctx.line(f"{'Adding' if adding else 'Removing'} user {user} {'to' if adding else 'from'} group {name}")
    return 0
