"""killall of psmisc: signal processes by name."""

from __future__ import annotations

import os

from runners.sim.commands.context import Context
from runners.sim.process_info import elapsed
from runners.sim.processes import Process
from runners.sim.regexes import RegexError, extended
from runners.sim.signals import NAMES as SIGNAL_NAMES
from runners.sim.signals import number_of, send
from runners.sim.tool import Tool
from runners.sim.users import accounts
from runners.text import is_digits

_USAGE = """Usage: killall [OPTION]... [--] NAME...
       killall -l, --list
       killall -V, --version

  -e,--exact          require exact match for very long names
  -I,--ignore-case    case insensitive process name match
  -g,--process-group  kill process group instead of process
  -y,--younger-than   kill processes younger than TIME
  -o,--older-than     kill processes older than TIME
  -i,--interactive    ask for confirmation before killing
  -l,--list           list all known signal names
  -q,--quiet          don't print complaints
  -r,--regexp         interpret NAME as an extended regular expression
  -s,--signal SIGNAL  send this signal instead of SIGTERM
  -u,--user USER      kill only process(es) running as USER
  -v,--verbose        report if the signal was successfully sent
  -V,--version        display version information
  -w,--wait           wait for processes to die
  -n,--ns PID         match processes that belong to the same namespaces
                      as PID
  -Z,--context REGEXP kill only process(es) having context
                      (must precede other arguments)

"""
_TOOL = Tool(
    "killall [OPTION]... [--] NAME...",
    "e,exact I,ignore-case g,process-group y,younger-than= o,older-than= i,interactive l,list q,quiet r,regexp "
    "s,signal= u,user= v,verbose V,version w,wait n,ns=",
    "killall (PSmisc) 23.6", hinted=False,
)  # fmt: skip


def main(ctx: Context) -> int:
    arguments = list(ctx.args)
    number = 15
    for word in arguments:
        if word == "--":
            break
        if word.startswith("-") and not word.startswith("--") and number_of(word[1:]) is not None:
            number = number_of(word[1:]) or 0
            arguments.remove(word)
            break
    options = _TOOL.parse(ctx, arguments)
    if options.has("l"):
        ctx.line(" ".join(SIGNAL_NAMES[signal] for signal in range(1, 32)))
        return 0
    named = options.value("s")
    if named is not None:
        found = number_of(named)
        if found is None:
            ctx.stderr.write(f"{named}: unknown signal; killall -l lists signals.\n".encode("utf-8", "surrogateescape"))
            return 1
        number = found
    user = options.value("u")
    uid = None
    if user is not None:
        account = accounts(ctx.machine).user(user)
        if account is None:
            ctx.stderr.write(f"Cannot find user {user}\n".encode("utf-8", "surrogateescape"))
            return 1
        uid = account.uid
    if not options.operands and uid is None:
        ctx.stderr.write(_USAGE.encode("utf-8", "surrogateescape"))
        return 1
    status = 0
    for name in options.operands or [""]:
        try:
            matches = [
                process for process in ctx.machine.processes
                if process.pid != ctx.pid
                and (uid is None or process.cred.uid == uid)
                and (not name or _named(process, name, regexp=options.has("r"), fold=options.has("I")))
                and _aged(ctx, process, options.value("o"), options.value("y"))
            ]  # fmt: skip
        except RegexError:
            ctx.stderr.write(f"killall: Bad regular expression: {name}\n".encode("utf-8", "surrogateescape"))
            return 1
        if not matches:
            if not options.has("q"):
                ctx.stderr.write(f"{name}: no process found\n".encode("utf-8", "surrogateescape"))
            status = 1
        for process in matches:
            problem = send(ctx, process.pid, number)
            if problem:
                ctx.stderr.write(
                    f"{process.name}({process.pid}): {os.strerror(problem)}\n".encode("utf-8", "surrogateescape")
                )
                status = 1
            elif options.has("v"):
                ctx.stderr.write(
                    f"Killed {process.name}({process.pid}) with signal {number}\n".encode("utf-8", "surrogateescape")
                )
    return status


def _named(process: Process, name: str, *, regexp: bool, fold: bool) -> bool:
    if regexp:
        return extended(name, ignore_case=fold).search(process.name.encode("utf-8", "surrogateescape")) is not None
    if "/" in name:
        return process.exe == name
    if fold:
        return process.name.lower() == name.lower()
    return process.name == name[:15] and process.exe != ""


def _aged(ctx: Context, process: Process, older: str | None, younger: str | None) -> bool:
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
    age = elapsed(ctx.machine, process)
    for text, wanted in ((older, True), (younger, False)):
        if text and is_digits(text[:-1].replace(".", "", 1)) and text[-1] in units:
            limit = float(text[:-1]) * units[text[-1]]
            if (age > limit) != wanted:
                return False
    return True
