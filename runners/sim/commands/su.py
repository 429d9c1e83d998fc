"""su and runuser of util-linux: become another user."""

from __future__ import annotations

from runners.formats.accounts import Accounts
from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.options import Options
from runners.sim.files.inode import Cred
from runners.sim.impersonation import login_environment, run_as
from runners.sim.passwords import today
from runners.sim.shell.nesting import Closing
from runners.sim.systemd.journal import log
from runners.sim.tool import Tool
from runners.sim.users import accounts
from runners.text import is_digits

NAMES = ("su", "runuser")
PATH = "/bin/su"

_TOOL = Tool(
    "su [options] [-] [<user> [<argument>...]]",
    "m,preserve-environment p w,whitelist-environment= g,group= G,supp-group= l,login c,command= "
"session-command= f,fast "
    "s,shell= P,pty T,no-pty u,user= V,version",
    "su from util-linux 2.38.1",
)  # fmt: skip


def main(ctx: Context) -> int:
    login = "-" in ctx.args
    options = _TOOL.parse(ctx, [word for word in ctx.args if word != "-"])
    login = login or options.has("l")
    operands = list(options.operands)
    direct: list[str] = []
    name = options.value("u")
    if name is not None:
        direct, operands = operands, []
    elif operands:
        name = operands.pop(0)
    name = name or "root"
    known = accounts(ctx.machine)
    user = known.user(name)
    if user is None:
        ctx.err(f"user {name} does not exist or the user entry does not contain all the required fields")
        return 1
    caller = known.user_name(ctx.cred.uid)
    if ctx.cred.uid != 0:
        if ctx.name == "runuser":
            ctx.err("may not be used by non-root users")
            return 1
        ctx.stderr.write(b"Password: ")
        ctx.sleep(2.0)
        ctx.stderr.write(b"\n")
        log(
            ctx.machine, "su", f"FAILED SU (to {name}) {caller} on {ctx.tty}", pid=ctx.pid, priority=5, uid=ctx.cred.uid
        )
        ctx.err("Authentication failure")
        return 1
    cred = _cred(ctx, options, known, name)
    refused = _account_problem(ctx, known, name)
    if ctx.name == "su" and refused:
        ctx.stderr.write(f"{refused}\nsu: Authentication failure\n".encode("utf-8", "surrogateescape"))
        return 1
    shell = options.value("s") or (
        user.shell if login or not options.has("m", "p") else ctx.environment.get("SHELL", user.shell)
    )
    if not ctx.machine.view(known.cred(name)).access(shell, 1):
        ctx.err(
            f"failed to execute {shell}: "
            f"{'Permission denied' if ctx.files.exists(shell) else 'No such file or directory'}"
        )
        return 126 if ctx.files.exists(shell) else 127
    if login:
        environment = login_environment(user, ctx.environment)
        cwd = user.home
        if not ctx.machine.view(known.cred(name)).exists(user.home):
            ctx.stderr.write(
                f"su: warning: cannot change directory to {user.home}: No such file or directory\n".encode(
                    "utf-8", "surrogateescape"
                )
            )
            cwd = "/" if not ctx.files.cwd else ctx.files.cwd
    else:
        environment = dict(ctx.environment)
        cwd = ctx.files.cwd
        if not options.has("m", "p"):
            environment |= {"HOME": user.home, "SHELL": shell}
            if user.uid != 0:
                environment |= {"USER": user.name, "LOGNAME": user.name}
    command = options.value("c", "session-command")
    if ctx.name == "su":
        log(ctx.machine, "su", f"(to {name}) {caller} on {ctx.tty}", pid=ctx.pid, priority=5)
        log(ctx.machine, "su", f"pam_unix(su{'-l' if login else ''}:session): session opened for user "
f"{name}(uid={user.uid}) "
            f"by (uid={ctx.cred.uid})", pid=ctx.pid)  # fmt: skip
    argv = direct or [shell, *(["-l"] if login and shell.endswith("sh") and "bash" in shell else []),
                      *(["-c", command] if command is not None else []), *operands]  # fmt: skip
    if direct:
        argv = direct
    closed = Closing("su", f"pam_unix(su{'-l' if login else ''}:session): session closed for user {name}", ctx.pid, 0)
    return run_as(ctx, known, user, argv, environment, cwd, closing=closed if ctx.name == "su" else None, cred=cred)


def _cred(ctx: Context, options: Options, known: Accounts, name: str) -> Cred:
    """With -g another primary group; with -G these groups and no others, the first of them primary without -g."""
    chosen: list[int] = []
    for word in (*options.values("g")[-1:], *options.values("G")):
        group = known.group(word)
        if group is None:
            ctx.err(f"group {word} does not exist")
            raise CommandExit(1)
        chosen.append(group.gid)
    if options.has("G"):
        return known.cred(name)._replace(gid=chosen[0], groups=frozenset(chosen))
    return known.cred(name, chosen[0] if chosen else None)


def _account_problem(ctx: Context, known: Accounts, name: str) -> str:
    """PAM's look at the account, which comes before its shell: has it expired?"""
    shadow = known.shadow.get(name)
    if shadow is None or not is_digits(shadow.expires) or int(shadow.expires) > int(today(ctx.machine)):
        return ""
    return "Your account has expired; please contact your system administrator."
