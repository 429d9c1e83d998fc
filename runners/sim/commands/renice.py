"""renice of util-linux: change the priority of running processes."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.process_info import session
from runners.sim.processes import Process
from runners.sim.tool import Tool
from runners.sim.users import accounts
from runners.text import is_digits

_TOOL = Tool(
    "renice [-n] <priority> [-p|--pid] <pid>...",
    "n,priority= p,pid g,pgrp u,user relative",
    "renice from util-linux 2.38.1",
)


def main(ctx: Context) -> int:
    kind = "p"
    arguments = [word for word in ctx.args if word not in ("-n", "--priority", "--")]
    if arguments[:1] == ["--help"] or arguments[:1] == ["--version"]:
        _TOOL.parse(ctx, arguments[:1])
    if len(arguments) < 2:
        ctx.err("not enough arguments")
        ctx.stderr.write(f"Try '{ctx.name} --help' for more information.\n".encode("utf-8", "surrogateescape"))
        return 1
    priority, *targets = arguments
    try:
        nice = max(-20, min(19, int(priority)))
    except ValueError:
        ctx.err(f"invalid priority '{priority}'")
        ctx.stderr.write(f"Try '{ctx.name} --help' for more information.\n".encode("utf-8", "surrogateescape"))
        return 1
    status = 0
    for target in targets:
        if target in ("-p", "--pid", "-g", "--pgrp", "-u", "--user"):
            kind = target.lstrip("-")[0]
            continue
        status |= _renice(ctx, kind, target, nice)
    return status


def _renice(ctx: Context, kind: str, target: str, nice: int) -> int:
    label = {"p": "process ID", "g": "process group ID", "u": "user ID"}[kind]
    if kind == "u":
        user = accounts(ctx.machine).user(int(target) if is_digits(target) else target)
        if user is None:
            ctx.err(f"unknown user {target}")
            return 1
        number = user.uid
    elif is_digits(target):
        number = int(target)
    else:
        ctx.err(f"bad {label} value: {target}")
        return 1
    chosen = [process for process in ctx.machine.processes if _belongs(ctx, process, kind, number)]
    if not chosen:
        ctx.err(f"failed to get priority for {number} ({label}): No such process")
        return 1
    old = min(process.nice for process in chosen)
    for process in chosen:
        if ctx.cred.uid not in (0, process.cred.uid):
            ctx.err(f"failed to set priority for {number} ({label}): Operation not permitted")
            return 1
        if nice < process.nice and ctx.cred.uid != 0:
            ctx.err(f"failed to set priority for {number} ({label}): Permission denied")
            return 1
        ctx.machine.processes.put(process._replace(nice=nice))
    ctx.line(f"{number} ({label}) old priority {old}, new priority {nice}")
    return 0


def _belongs(ctx: Context, process: Process, kind: str, number: int) -> bool:
    if kind == "p":
        return process.pid == number
    return process.cred.uid == number if kind == "u" else session(ctx.machine, process) == number
