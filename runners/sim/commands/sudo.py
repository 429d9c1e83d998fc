"""sudo 1.9.13: run a command as another user, by the rules of /etc/sudoers."""

from __future__ import annotations

import re

from runners.formats.accounts import Accounts, User
from runners.formats.sudoers import MAIN, Policy, SyntaxProblem, grants_of, load, permitted
from runners.sim.commands.context import CommandExit, Context
from runners.sim.impersonation import login_environment, run_as
from runners.sim.lifecycle import Failure
from runners.sim.lifecycle import resolve as find_program
from runners.sim.shell.nesting import Closing
from runners.sim.systemd.journal import log
from runners.sim.tool import Tool
from runners.sim.users import accounts
from runners.text import is_digits

NAMES = ("sudo", "sudoedit")

_TOOL = Tool(
    "sudo [-ABbEHnPS] [-g group] [-u user] [VAR=value] [-i | -s] [command [arg ...]]",
    "A,askpass b,background B,bell C,close-from= D,chdir= E,preserve-env=? e,edit g,group= H,set-home h i,login "
    "K,remove-timestamp k,reset-timestamp l,list n,non-interactive P,preserve-groups p,prompt= R,chroot= "
"S,stdin s,shell "
    "t,type= T,command-timeout= U,other-user= u,user= V v,validate N",
    "Sudo version 1.9.13p3",
    permute=False,
    hinted=False,
)  # fmt: skip
_USAGE = (
    "usage: sudo -h | -K | -k | -V\n"
    "usage: sudo -v [-ABkNnS] [-g group] [-h host] [-p prompt] [-u user]\n"
    "usage: sudo -l [-ABkNnS] [-g group] [-h host] [-p prompt] [-U user] [-u user] [command [arg ...]]\n"
    "usage: sudo [-ABbEHkNnPS] [-r role] [-t type] [-C num] [-D directory] [-g group] [-h host] [-p "
    "prompt] [-R directory] "
    "[-T timeout] [-u user] [VAR=value] [-i | -s] [command [arg ...]]\n"
    "usage: sudo -e [-ABkNnS] [-r role] [-t type] [-C num] [-D directory] [-g group] [-h host] [-p "
    "prompt] [-R directory] "
    "[-T timeout] [-u user] file ...\n"
)


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if options.has("V"):
        ctx.out("Sudo version 1.9.13p3\nSudoers policy plugin version 1.9.13p3\nSudoers file grammar version 50\n")
        return 0
    known = accounts(ctx.machine)
    policy = _policy(ctx)
    caller = known.user(ctx.cred.uid)
    if caller is None:
        ctx.err("you do not exist in the passwd database")
        return 1
    chosen = options.value("g")
    group = known.group(int(chosen[1:]) if chosen and chosen[0] == "#" and is_digits(chosen[1:]) else chosen or "")
    if chosen is not None and group is None:
        ctx.err(f"unknown group {chosen}")
        ctx.err("error initializing audit plugin sudoers_audit")
        return 1
    # With -g alone somebody stays who they are.
    name = options.value("u") or ("root" if group is None else caller.name)
    target = known.user(int(name[1:]) if name.startswith("#") and is_digits(name[1:]) else name)
    if target is None:
        ctx.err(f"unknown user {name}")
        ctx.err("error initializing audit plugin sudoers_audit")
        return 1
    if options.has("K", "k") and not options.operands:
        return 0
    if options.has("l"):
        return _list(ctx, policy, known, options.value("U"), caller)
    if options.has("v"):
        return 0 if _allowed(ctx, policy, known, caller, target, "validate", "", no_prompt=options.has("n")) else 1
    words = list(options.operands)
    variables: dict[str, str] = {}
    while words and "=" in words[0] and words[0].split("=", 1)[0].replace("_", "").isalnum():
        key, _, value = words.pop(0).partition("=")
        variables[key] = value
    shell = options.has("i", "s")
    if not words and not shell:
        ctx.stderr.write(_USAGE.encode("utf-8", "surrogateescape"))
        return 1
    view = ctx.machine.view(cwd=ctx.files.cwd)
    if shell:
        program = target.shell if options.has("i") else ctx.environment.get("SHELL", target.shell)
        login = ["-l"] if options.has("i") and program.endswith("/bash") else []
        words = [program, *login, *(["-c", " ".join(words)] if words else [])]
    found = find_program(view, words, policy.secure_path)
    if isinstance(found, Failure):
        if found.errno == 2:
            ctx.err(f"{words[0]}: command not found")
        else:
            ctx.err(
                f"unable to execute {found.path}: {found.message}"
                if "/" in words[0]
                else f"{words[0]}: command not found"
            )
        return 1
    path = words[0] if "/" in words[0] else _which(ctx, words[0], policy.secure_path)
    if not _allowed(ctx, policy, known, caller, target, path, " ".join(words[1:]), no_prompt=options.has("n")):
        return 1
    cred = known.cred(target.name)
    if group is not None:
        cred = cred._replace(gid=group.gid, groups=cred.groups | {group.gid})
    runnable = find_program(ctx.machine.view(cred, ctx.files.cwd), words, policy.secure_path)
    if isinstance(runnable, Failure):
        ctx.err(f"unable to execute {path}: {runnable.message}")
        return 1
    environment = login_environment(target, ctx.environment)
    if options.has("E"):
        environment = {**ctx.environment, **({} if options.has("i") else {"HOME": target.home})}
    environment |= {
        "PATH": policy.secure_path if not options.has("i") else environment["PATH"], "SUDO_USER": caller.name,
        "SUDO_UID": str(caller.uid), "SUDO_GID": str(caller.gid), "SUDO_COMMAND": " ".join([path, *words[1:]]),
    } | variables  # fmt: skip
    where = options.value("D") or (target.home if options.has("i") else None)
    tty = ctx.tty if ctx.tty != "?" else "unknown"
    log(ctx.machine, "sudo", f"{caller.name:>8} : TTY={tty} ; PWD={ctx.files.cwd} ; USER={target.name} ; "
        f"COMMAND={' '.join([path, *words[1:]])}", pid=ctx.pid, priority=5, uid=ctx.cred.uid)  # fmt: skip
    log(ctx.machine, "sudo", f"pam_unix(sudo:session): session opened for user {target.name}(uid={target.uid}) by "
        f"(uid={caller.uid})", pid=ctx.pid, uid=ctx.cred.uid)  # fmt: skip
    closed = Closing("sudo", f"pam_unix(sudo:session): session closed for user {target.name}", ctx.pid, ctx.cred.uid)
    return run_as(ctx, known, target, words, environment, where, closing=closed, cred=cred)


def _which(ctx: Context, name: str, search: str) -> str:
    for folder in search.split(":"):
        if ctx.machine.view().access(f"{folder}/{name}", 1):
            return f"{folder}/{name}"
    return name


def _policy(ctx: Context) -> Policy:
    """The rules, after the checks on their file; ends the command where sudo refuses to work."""
    view = ctx.machine.view()
    try:
        inode = view.stat(MAIN)
        if inode.uid != 0:
            ctx.err(f"{MAIN} is owned by uid {inode.uid}, should be 0")
        elif inode.mode & 0o002:
            ctx.err(f"{MAIN} is world writable")
        else:
            policy = load(view, wary=True)
            for file, wrong in policy.refused:
                ctx.err(f"{file} {wrong}")
            for problem in policy.problems:
                ctx.stderr.write(problem_text(problem).encode("utf-8", "surrogateescape"))
            return policy
    except OSError as error:
        ctx.err(f"unable to open {MAIN}: {error.strerror}")
    ctx.err("no valid sudoers sources found, quitting")
    ctx.err("error initializing audit plugin sudoers_audit")
    raise CommandExit(1)


def problem_text(problem: SyntaxProblem) -> str:
    """A syntax error as sudo and visudo show it: place, line and a mark under the word."""
    word = re.match(r"[\w.-]*:?", problem.text[problem.column - 1 :])
    marks = " " * (problem.column - 1) + "^" + "~" * (max(len(word[0]), 1) - 1 if word is not None else 0)
    return f"{problem.path}:{problem.line}:{problem.column}: syntax error\n{problem.text}\n{marks}\n"


def _allowed(
    ctx: Context,
    policy: Policy,
    known: Accounts,
    caller: User,
    target: User,
    command: str,
    arguments: str,
    *,
    no_prompt: bool,
) -> bool:
    if caller.uid == 0:
        return True
    if command == "validate":
        mine = grants_of(policy, known, caller)
        grant = mine[-1] if mine else None
    else:
        grant = permitted(policy, known, caller, target.name, command, arguments)
    if grant is not None and not grant.password:
        return True
    if no_prompt:
        ctx.err("a password is required")
        return False
    if not ctx.stdout.is_terminal:
        ctx.err(
            "a terminal is required to read the password; either use the -S option to read from standard "
            "input or configure an askpass helper"
        )
        ctx.err("a password is required")
        return False
    if grant is None and not grants_of(policy, known, caller):
        ctx.stderr.write(f"{caller.name} is not in the sudoers file.\n".encode("utf-8", "surrogateescape"))
    else:
        ctx.err("a password is required")
    return False


def _list(ctx: Context, policy: Policy, known: Accounts, other: str | None, caller: User) -> int:
    user = known.user(other) if other else caller
    if user is None:
        ctx.err(f"unknown user {other}")
        return 1
    host = ctx.machine.spec.hostname
    grants = grants_of(policy, known, user)
    if not grants:
        ctx.line(f"User {user.name} is not allowed to run sudo on {host}.")
        return 0 if caller.uid == 0 else 1
    ctx.line(f"Matching Defaults entries for {user.name} on {host}:")
    ctx.line(f"    env_reset, mail_badpass, secure_path={policy.secure_path.replace(':', chr(92) + ':')}, use_pty")
    ctx.line()
    ctx.line(f"User {user.name} may run the following commands on {host}:")
    lines: dict[tuple[tuple[str, ...], bool, str], list[str]] = {}
    for grant in grants:
        lines.setdefault((grant.users, grant.password, grant.who), []).append(grant.command)
    for (users, password, _), commands in lines.items():
        shown = "ALL : ALL" if users == ("ALL",) else ", ".join(users)
        ctx.line(f"    ({shown}) {'' if password else 'NOPASSWD: '}{', '.join(commands)}")
    return 0
