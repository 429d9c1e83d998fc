"""pgrep and pkill of procps-ng 4.0.2: find or signal processes by name and attributes."""

from __future__ import annotations

import errno
import os

from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.options import Options
from runners.sim.process_info import command_line, elapsed, session
from runners.sim.processes import Process
from runners.sim.regexes import RegexError, extended
from runners.sim.signals import number_of, send
from runners.sim.tool import Tool
from runners.sim.users import accounts
from runners.text import is_digits

NAMES = ("pgrep", "pkill")

_COMMON = (
    "f,full g,pgroup= G,group= i,ignore-case n,newest o,oldest O,older= P,parent= s,session= t,terminal= u,euid= "
    "U,uid= v,inverse x,exact F,pidfile= L,logpidfile r,runstates= c,count signal= A,ignore-ancestors"
)
_PGREP = Tool(
    "pgrep [options] <pattern>", f"d,delimiter= l,list-name a,list-full w,lightweight {_COMMON}",
    "pgrep from procps-ng 4.0.2", status=2,
)  # fmt: skip
_PKILL = Tool("pkill [options] <pattern>", f"e,echo q,queue= {_COMMON}", "pkill from procps-ng 4.0.2", status=2)


def main(ctx: Context) -> int:
    killing = ctx.name == "pkill"
    arguments = list(ctx.args)
    number = 15
    if killing:
        for word in arguments:
            if word.startswith("-") and number_of(word[1:]) is not None and not word.startswith("--"):
                number = number_of(word[1:]) or 0
                arguments.remove(word)
                break
    options = (_PKILL if killing else _PGREP).parse(ctx, arguments)
    name = options.value("signal")
    if name is not None:
        found = number_of(name)
        if found is None:
            ctx.err(f'Unknown signal "{name}".')
            return 2
        number = found
    matches = _matches(ctx, options)
    if killing:
        return _kill(ctx, options, matches, number)
    return _list(ctx, options, matches)


def _list(ctx: Context, options: Options, matches: list[Process]) -> int:
    if options.has("c"):
        ctx.line(str(len(matches)))
    elif matches:
        delimiter = options.value("d")
        lines = [_line(options, process) for process in matches]
        ctx.line(("\n" if delimiter is None else delimiter).join(lines))
    return 0 if matches else 1


def _line(options: Options, process: Process) -> str:
    if options.has("a"):
        return f"{process.pid} {command_line(process)}"
    return f"{process.pid} {process.name}" if options.has("l") else str(process.pid)


def _kill(ctx: Context, options: Options, matches: list[Process], number: int) -> int:
    done = 0
    for process in matches:
        problem = send(ctx, process.pid, number)
        if problem == errno.ESRCH:
            continue
        if problem:
            ctx.err(f"killing pid {process.pid} failed: {os.strerror(problem)}")
            continue
        done += 1
        if options.has("e"):
            ctx.line(f"{process.name} killed (pid {process.pid})")
    if options.has("c"):
        ctx.line(str(len(matches)))
    return 0 if done else 1


def _matches(ctx: Context, options: Options) -> list[Process]:
    """The processes asked for, oldest pid first; this command itself is never among them."""
    criteria = options.has("P", "u", "U", "G", "g", "s", "t", "F", "r", "O", "n", "o")
    if len(options.operands) > 1:
        ctx.err("only one pattern can be provided")
        _hint(ctx)
    if not options.operands and not criteria:
        ctx.err("no matching criteria specified")
        _hint(ctx)
    pattern = options.operands[0] if options.operands else ""
    if options.has("x") and pattern:
        pattern = f"^({pattern})$"
    try:
        matcher = extended(pattern, ignore_case=options.has("i"))
    except RegexError as error:
        ctx.err(str(error))
        raise CommandExit(2) from None
    if pattern and not options.has("f") and len(options.operands[0]) > 15 and not set(pattern) & set("[]()*+?.|^$"):
        ctx.err("pattern that searches for process name longer than 15 characters will result in zero matches")
        ctx.stderr.write(
            f"Try `{ctx.name} -f' option to match against the complete command line.\n".encode(
                "utf-8", "surrogateescape"
            )
        )
    found = []
    for process in ctx.machine.processes:
        if process.pid == ctx.pid:
            continue
        ctx.spend(2)
        text = command_line(process) if options.has("f") else process.name
        chosen = matcher.search(text.encode("utf-8", "surrogateescape")) is not None and _attributes(
            ctx, options, process
        )
        if chosen != options.has("v"):
            found.append(process)
    if found and options.has("n", "o"):
        pick = max if options.has("n") else min
        found = [pick(found, key=lambda process: (process.started, process.pid))]
    return found


def _hint(ctx: Context) -> None:
    ctx.stderr.write(f"Try `{ctx.name} --help' for more information.\n".encode("utf-8", "surrogateescape"))
    raise CommandExit(2)


def _attributes(ctx: Context, options: Options, process: Process) -> bool:
    parents = options.value("P")
    if parents is not None and str(process.ppid) not in parents.split(","):
        return False
    users = options.value("u", "U")
    if users is not None and process.cred.uid not in _uids(ctx, users):
        return False
    groups = options.value("G")
    if groups is not None and process.cred.gid not in _gids(ctx, groups):
        return False
    sessions = options.value("s", "g")
    if sessions is not None and str(session(ctx.machine, process)) not in sessions.split(","):
        return False
    terminals = options.value("t")
    if terminals is not None and process.tty not in terminals.split(","):
        return False
    states = options.value("r")
    if states is not None and process.state not in states:
        return False
    older = options.value("O")
    if older is not None and is_digits(older) and elapsed(ctx.machine, process) < int(older):
        return False
    pid_file = options.value("F")
    return pid_file is None or process.pid == _pid_in(ctx, pid_file)


def _uids(ctx: Context, text: str) -> set[int]:
    known = accounts(ctx.machine)
    uids = set()
    for item in text.split(","):
        user = known.user(item)
        if is_digits(item):
            uids.add(int(item))
        elif user is not None:
            uids.add(user.uid)
        else:
            ctx.err(f"invalid user name: {item}")
            _hint(ctx)
    return uids


def _gids(ctx: Context, text: str) -> set[int]:
    known = accounts(ctx.machine)
    gids = set()
    for item in text.split(","):
        group = known.group(item)
        if is_digits(item):
            gids.add(int(item))
        elif group is not None:
            gids.add(group.gid)
        else:
            ctx.err(f"invalid group name: {item}")
            _hint(ctx)
    return gids


def _pid_in(ctx: Context, path: str) -> int:
    try:
        words = ctx.files.text(path).split()
    except OSError:
        words = []
    if not words or not is_digits(words[0]):
        ctx.err(f"pidfile not valid\nTry `{ctx.name} --help' for more information.")
        raise CommandExit(2)
    return int(words[0])
