"""prlimit of util-linux 2.38.1: a process's limits."""

from __future__ import annotations

from runners.sim.commands import wrappers
from runners.sim.commands.context import Context
from runners.sim.kernelfs.process_files import limits_of
from runners.sim.tool import Tool
from runners.text import is_digits

_RESOURCES = (
    ("v", "as", "AS", "address space limit", "Max address space", "bytes"),
    ("c", "core", "CORE", "max core file size", "Max core file size", "bytes"),
    ("t", "cpu", "CPU", "CPU time", "Max cpu time", "seconds"),
    ("d", "data", "DATA", "max data size", "Max data size", "bytes"),
    ("f", "fsize", "FSIZE", "max file size", "Max file size", "bytes"),
    ("x", "locks", "LOCKS", "max number of file locks held", "Max file locks", "locks"),
    ("l", "memlock", "MEMLOCK", "max locked-in-memory address space", "Max locked memory", "bytes"),
    ("q", "msgqueue", "MSGQUEUE", "max bytes in POSIX mqueues", "Max msgqueue size", "bytes"),
    ("e", "nice", "NICE", "max nice prio allowed to raise", "Max nice priority", ""),
    ("n", "nofile", "NOFILE", "max number of open files", "Max open files", "files"),
    ("u", "nproc", "NPROC", "max number of processes", "Max processes", "processes"),
    ("m", "rss", "RSS", "max resident set size", "Max resident set", "bytes"),
    ("r", "rtprio", "RTPRIO", "max real-time priority", "Max realtime priority", ""),
    ("y", "rttime", "RTTIME", "timeout for real-time tasks", "Max realtime timeout", "microsecs"),
    ("i", "sigpending", "SIGPENDING", "max number of pending signals", "Max pending signals", "signals"),
    ("s", "stack", "STACK", "max stack size", "Max stack size", "bytes"),
)
_TOOL = Tool(
    "prlimit [options] [--<resource>=<limit>] [-p PID]",
    " ".join(f"{letter},{name}=?" for letter, name, *_ in _RESOURCES)
    + " p,pid= o,output= noheadings raw verbose h,help V,version",
    "prlimit from util-linux 2.38.1", permute=False,
)  # fmt: skip


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    given = options.value("p")
    if given is not None and not is_digits(given):
        ctx.err(f"invalid PID argument: '{given}'")
        return 1
    process = ctx.machine.processes.get(int(given) if given is not None else ctx.pid)
    if process is None:
        ctx.err("failed to get the AS resource limit: No such process")
        return 1
    wanted = [one for one in _RESOURCES if options.has(one[0])]
    if any(options.value(letter) for letter, *_ in wanted):
        # A unit's limits are its manager's business here: of one process alone they cannot be changed.
        name = next(one[2] for one in wanted if options.value(one[0]))
        ctx.err(f"failed to set the {name} resource limit: Operation not permitted")
        return 1
    if options.operands and given is None:
        return wrappers.run(ctx, options.operands, message="failed to execute {name}: {problem}", in_place=True)
    values = limits_of(ctx.machine, process)
    rows = [(name, text, *values[kernel], unit) for _, _, name, text, kernel, unit in wanted or _RESOURCES]
    if not options.has("noheadings"):
        rows.insert(0, ("RESOURCE", "DESCRIPTION", "SOFT", "HARD", "UNITS"))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for name, text, soft, hard, unit in rows:
        line = f"{name:<{widths[0]}} {text:<{widths[1]}} {soft:>{widths[2]}} {hard:>{widths[3]}} {unit}"
        ctx.line(line.rstrip() if not unit else line)
    return 0
