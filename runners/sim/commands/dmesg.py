"""dmesg of util-linux 2.38.1: the kernel's messages."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.systemd.journal import buffered
from runners.sim.tool import Tool

PATH = "/bin/dmesg"

_TOOL = Tool(
    "dmesg [options]",
    "C,clear c,read-clear D,console-off E,console-on F,file= f,facility= H,human J,json k,kernel L,color=? l,level= "
    "n,console-level= P,nopager p,force-prefix r,raw noescape S,syslog s,buffer-size= u,userspace "
"w,follow W,follow-new x,decode d,show-delta "
    "e,reltime T,ctime t,notime time-format= since= until= V,version h,help",
    "dmesg from util-linux 2.38.1",
)  # fmt: skip
_LEVELS = ("emerg", "alert", "crit", "err", "warn", "notice", "info", "debug")


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if options.has("V"):
        ctx.line("dmesg from util-linux 2.38.1")
        return 0
    if ctx.cred.uid != 0:
        ctx.err("read kernel buffer failed: Operation not permitted")
        return 1
    levels = None
    text = options.value("l")
    if text is not None:
        names = text.split(",")
        for name in names:
            if name not in _LEVELS:
                ctx.err(f"unknown level '{name}'")
                return 1
        levels = {_LEVELS.index(name) for name in names}
    machine = ctx.machine
    boot = machine.clock.boot
    lines = []
    cleared = float(machine.counters.get("dmesg cleared", 0))
    for entry in buffered(machine, cleared):
        if levels is not None and entry.priority not in levels:
            continue
        if options.has("t"):
            stamp = ""
        elif options.has("T"):
            moment = machine.clock.time(entry.at)
            stamp = f"[{moment:%a %b} {moment.day:2d} {moment:%H:%M:%S %Y}] "
        elif options.value("time-format") == "iso":
            stamp = f"{machine.clock.time(entry.at):%Y-%m-%dT%H:%M:%S},{int(entry.at % 1 * 1e6):06d}+00:00 "
        else:
            stamp = f"[{entry.at - boot:12.6f}] "
        lead = (
            f"<{entry.priority}>"
            if options.has("r")
            else f"kern  :{_LEVELS[entry.priority]:<6}: "
            if options.has("x")
            else ""
        )
        lines.append(f"{lead}{stamp}{entry.message}")
    if not options.has("C"):
        ctx.spend(len(lines))
        for line in lines:
            ctx.line(line)
    if options.has("C", "c"):
        machine.count("dmesg cleared", int(machine.clock.now) + 1 - int(cleared))
    if options.has("w", "W"):
        ctx.sleep(10.0)
        return 130
    return 0
