"""pidof: the pids of running programs."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.processes import Process
from runners.sim.tool import Tool

PATH = "/bin/pidof"

_TOOL = Tool(
    "pidof [options] [program [...]]", "s,single-shot c,check-root q x w,with-workers o,omit-pid= "
"S,separator= t,lightweight",
    "pidof from procps-ng 4.0.2", hinted=False,
)  # fmt: skip


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    omitted = {pid for value in options.values("o") for pid in value.replace("%PPID", "0").split(",")}
    found = []
    for name in options.operands:
        matches = [
            str(process.pid)
            for process in sorted(ctx.machine.processes, key=lambda process: -process.pid)
            if process.pid != ctx.pid and _runs(process, name, scripts=options.has("x"))
        ]
        found += [pid for pid in matches if pid not in omitted]
    if options.has("s"):
        found = found[:1]
    if found and not options.has("q"):
        ctx.line((options.value("S") or " ").join(found))
    return 0 if found else 1


def _runs(process: Process, name: str, *, scripts: bool) -> bool:
    if process.state == "Z" or not process.argv or not process.exe:
        return False
    if "/" in name:
        return name in (process.exe, process.argv[0])
    program = process.argv[0].split(" ")[0].rstrip(":").rsplit("/", 1)[-1].lstrip("-")
    if name in (program, process.exe.rsplit("/", 1)[-1]):
        return True
    return scripts and len(process.argv) > 1 and process.argv[1].rsplit("/", 1)[-1] == name
