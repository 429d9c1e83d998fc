"""kill of procps-ng: send a signal to processes by pid."""

from __future__ import annotations

import os

from runners.sim.commands.context import Context
from runners.sim.process_info import session
from runners.sim.signals import NAMES as SIGNAL_NAMES
from runners.sim.signals import number_of, send
from runners.text import is_digits

_USAGE = """
Usage:
 kill [options] <pid> [...]

Options:
 -<signal>, -s, --signal <signal>  which signal, by name or number (default TERM)
 -l, --list=[<signal>]             the names of all signals, or of one
 -h, --help
 -V, --version

For more details see kill(1).
"""


def main(ctx: Context) -> int:
    arguments = list(ctx.args)
    number = 15
    if not arguments:
        ctx.stderr.write(_USAGE.encode("utf-8", "surrogateescape"))
        return 1
    first = arguments[0]
    if first in ("-l", "--list", "-L", "--table"):
        return _list(ctx, arguments[1:])
    if first in ("-h", "--help"):
        ctx.out(_USAGE)
        return 0
    if first in ("-V", "--version"):
        ctx.line("kill from procps-ng 4.0.2")
        return 0
    name = None
    if first in ("-s", "--signal"):
        if len(arguments) < 2:
            ctx.stderr.write(_USAGE.encode("utf-8", "surrogateescape"))
            return 1
        name, arguments = arguments[1], arguments[2:]
    elif first.startswith("-") and first != "--":
        name, arguments = first.removeprefix("-").removeprefix("-signal="), arguments[1:]
    if name is not None:
        found = number_of(name)
        if found is None:
            ctx.err(f'unknown signal name "{name}"' if not is_digits(name) else f"invalid argument {name}")
            return 1
        number = found
    if arguments[:1] == ["--"]:
        arguments = arguments[1:]
    if not arguments:
        ctx.stderr.write(_USAGE.encode("utf-8", "surrogateescape"))
        return 1
    return _send_all(ctx, arguments, number)


def _send_all(ctx: Context, arguments: list[str], number: int) -> int:
    status = 0
    for argument in arguments:
        if not is_digits(argument.removeprefix("-")):
            ctx.err(f"failed to parse argument: '{argument}'")
            status = 1
            continue
        pid = int(argument)
        targets = [pid] if pid > 0 else group_members(ctx, -pid)
        problem = 3 if not targets else 0
        for target in targets:
            problem = send(ctx, target, number) or problem
        if problem:
            ctx.stderr.write(f"{ctx.name}: ({argument}): {os.strerror(problem)}\n".encode("utf-8", "surrogateescape"))
            status = 1
    return status


def group_members(ctx: Context, group: int) -> list[int]:
    """The members of a process group; group 1 (-1) is everything but init."""
    table = ctx.machine.processes
    if group == 1:
        return [process.pid for process in table if process.pid not in (1, ctx.pid)]
    return [process.pid for process in table if session(ctx.machine, process) == (group or ctx.pid)]


def _list(ctx: Context, arguments: list[str]) -> int:
    if not arguments:
        ctx.line(" ".join(SIGNAL_NAMES[number] for number in range(1, 17)))
        ctx.line(" ".join(SIGNAL_NAMES[number] for number in range(17, 32)))
        return 0
    status = 0
    for argument in arguments:
        if is_digits(argument):
            # A shell reports death by signal n as 128 + n.
            number = int(argument) & 127
            ctx.line(SIGNAL_NAMES.get(number, argument))
        else:
            found = number_of(argument)
            if found is None:
                ctx.err(f'unknown signal name "{argument}"')
                status = 1
            else:
                ctx.line(str(found))
    return status
