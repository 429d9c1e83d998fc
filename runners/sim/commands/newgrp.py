"""newgrp and sg of shadow 4.13: a shell, or a command, with another primary group."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.files.view import FileView
from runners.sim.users import accounts

NAMES = ("newgrp", "sg")


def main(ctx: Context) -> int:
    words = [word for word in ctx.args if word not in ("-", "-c")]
    known = accounts(ctx.machine)
    user = known.user(ctx.cred.uid)
    if ctx.name == "sg" and not words:
        ctx.stderr.write(b"Usage: sg group [[-c] command]\n")
        return 1
    group = known.group(words[0]) if words else known.group(user.gid) if user is not None else None
    if words and group is None:
        ctx.err(f"group '{words[0]}' does not exist")
        return 1
    gid = group.gid if group is not None else ctx.cred.gid
    listed = group is not None and user is not None and user.name in group.members
    if ctx.cred.uid != 0 and not listed and gid not in (ctx.cred.gid, *ctx.cred.groups):
        ctx.stderr.write(b"Password: \nInvalid password.\n")
        return 1
    cred = ctx.cred._replace(gid=gid, groups=frozenset({*ctx.cred.groups, ctx.cred.gid, gid}))
    shell = ctx.environment.get("SHELL") or (user.shell if user is not None else "/bin/sh")
    argv = ["/bin/sh", "-c", " ".join(words[1:])] if len(words) > 1 and ctx.name == "sg" else [shell]
    child = Context(
        machine=ctx.machine, argv=argv, files=FileView(ctx.files.tree, cred, ctx.files.cwd, ctx.files.umask),
        environment=dict(ctx.environment), stdin=ctx.stdin, stdout=ctx.stdout, stderr=ctx.stderr, runner=ctx.runner,
        pid=ctx.pid, tty=ctx.tty, hub=ctx.hub,
    )  # fmt: skip
    return ctx.runner(argv, child)
