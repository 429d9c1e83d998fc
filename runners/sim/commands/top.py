"""top of procps-ng 4.0.2 in batch mode: one or more screens of the busiest processes."""

from __future__ import annotations

from collections.abc import Callable

from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.options import Options
from runners.sim.process_info import command_line, is_kernel_thread, meminfo, pid_width
from runners.sim.processes import Process
from runners.sim.ps_columns import cpu_count
from runners.sim.tool import Tool
from runners.sim.uptime import uptime_line
from runners.sim.users import accounts
from runners.text import is_digits

_TOOL = Tool(
    "top [-b] [-c] [-H] [-i] [-d secs] [-n max] [-u|U user] [-p pid(s)] [-o field] [-w [cols]]",
    "b,batch-mode c,cmdline-toggle H,threads-show i,idle-toggle S s 1 d,delay= n,iterations= u,filter-only-euser= "
    "U,filter-any-user= p,pid= o,sort-override= w,width=? e,scale-task-mem= E,scale-summary-mem= V,version h,help",
    "top from procps-ng 4.0.2", status=0, hinted=False,
)  # fmt: skip

_SORTS: dict[str, Callable[[Process], float | str]] = {
    "PID": lambda process: process.pid,
    "USER": lambda process: process.cred.uid,
    "%CPU": lambda process: process.cpu_share,
    "%MEM": lambda process: process.rss,
    "RES": lambda process: process.rss,
    "VIRT": lambda process: process.vsz,
    "TIME+": lambda process: process.cpu,
    "TIME": lambda process: process.cpu,
    "S": lambda process: process.state,
    "PR": lambda process: process.nice,
    "NI": lambda process: process.nice,
    "COMMAND": lambda process: process.name,
    "PPID": lambda process: process.ppid,
}


def main(ctx: Context) -> int:
    options = _TOOL.parse(
        ctx, [word if word.startswith("-") or index else f"-{word}" for index, word in enumerate(ctx.args)]
    )
    if options.has("V"):
        ctx.line("top from procps-ng 4.0.2")
        return 0
    if not options.has("b") and not ctx.stdout.is_terminal:
        ctx.stderr.write(b"top: failed tty get\n")
        return 1
    rounds = options.value("n")
    if rounds is not None and (not is_digits(rounds) or int(rounds) < 1):
        ctx.err(f"bad iterations argument '{rounds}'")
        return 1
    for index in range(int(rounds) if rounds else 1 if not options.has("b") else 20):
        if index:
            ctx.sleep(_delay(options))
            ctx.line()
        _screen(ctx, options)
    return 0


def _delay(options: Options) -> float:
    try:
        return max(float(options.value("d") or "3.0"), 0.1)
    except ValueError:
        return 3.0


def _own(ctx: Context) -> Process:
    tty = ctx.tty
    return Process(
        pid=max(ctx.pid, ctx.machine.processes.next_pid), ppid=ctx.pid, cred=ctx.cred, argv=tuple(ctx.argv),
        exe="/usr/bin/top", program="top", cwd=ctx.files.cwd, started=ctx.machine.clock.now, state="R", rss=4 << 20,
        vsz=11 << 20, tty=tty,
    )  # fmt: skip


def _screen(ctx: Context, options: Options) -> None:
    machine = ctx.machine
    processes = list(machine.processes)
    known = machine.processes.get(ctx.pid)
    if known is None or known.argv != tuple(ctx.argv):
        processes.append(_own(ctx))
    info = meminfo(machine)
    out = [f"top -{uptime_line(machine)}"]
    states = [process.state for process in processes]
    running = states.count("R")
    stopped, zombies = states.count("T"), states.count("Z")
    sleeping = len(states) - running - stopped - zombies
    out.append(
        f"Tasks: {len(states):3d} total, {running:3d} running, {sleeping:3d} sleeping, {stopped:3d} stopped, "
        f"{zombies:3d} zombie"
    )
    out.append(_cpu_line(ctx, processes))
    total, unused = info["MemTotal"] / 1024, info["MemFree"] / 1024
    available = info.get("MemAvailable", info["MemFree"]) / 1024
    cache = (info.get("Cached", 0) + info.get("SReclaimable", 0) + info.get("Buffers", 0)) / 1024
    swap, swap_free = info.get("SwapTotal", 0) / 1024, info.get("SwapFree", 0) / 1024
    out.append(
        f"MiB Mem :{total:9.1f} total,{unused:9.1f} free,{total - available:9.1f} used,{cache:9.1f} buff/cache     "
    )
    out.append(
        f"MiB Swap:{swap:9.1f} total,{swap_free:9.1f} free,{swap - swap_free:9.1f} used.{available:9.1f} avail Mem "
    )
    width = pid_width(machine)
    out += ["", f"{'PID':>{width}} USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND"]
    users = accounts(machine)
    for process in _chosen(ctx, options, processes):
        out.append(
            _row(process, users.user_name(process.cred.uid), info["MemTotal"], width, options, machine.clock.now)
        )
    ctx.spend(5 * len(out))
    ctx.out("\n".join(out) + "\n")


def _cpu_line(ctx: Context, processes: list[Process]) -> str:
    cpus = cpu_count(ctx.machine)
    busy = min(sum(process.cpu_share for process in processes if process.state in "RSD"), float(cpus)) * 100 / cpus
    nice = sum(process.cpu_share for process in processes if process.nice > 0) * 100 / cpus
    waiting = min(sum(1 for process in processes if process.state == "D") * 25.0 / cpus, 100 - busy)
    user, system = busy * 0.85, busy * 0.15
    idle = max(100 - user - system - waiting, 0.0)
    figures = ((user - min(nice, user), "us"), (system, "sy"), (min(nice, user), "ni"), (idle, "id"), (waiting, "wa"),
               (0.0, "hi"), (0.0, "si"), (0.0, "st"))  # fmt: skip
    return "%Cpu(s):" + ",".join(f"{value:5.1f} {name}" for value, name in figures)


def _chosen(ctx: Context, options: Options, processes: list[Process]) -> list[Process]:
    user = options.value("u", "U")
    if user is not None:
        account = accounts(ctx.machine).user(int(user) if is_digits(user) else user)
        if account is None:
            ctx.err("Invalid user")
            raise CommandExit(1)
        processes = [process for process in processes if process.cred.uid == account.uid]
    pids = {pid for value in options.values("p") for pid in value.split(",")}
    if pids:
        processes = [process for process in processes if str(process.pid) in pids]
    if options.has("i"):
        processes = [process for process in processes if process.cpu_share > 0 or process.state == "R"]
    field = options.value("o") or "%CPU"
    key = _SORTS.get(field.lstrip("+-"))
    if key is None:
        ctx.err(f"unrecognized field name '{field}'")
        raise CommandExit(1)
    processes = sorted(processes, key=lambda process: process.pid)
    return sorted(processes, key=key, reverse=not field.startswith("-"))


def _memory(kib: int, width: int) -> str:
    """A figure in KiB that is scaled up when it does not fit."""
    if len(str(kib)) <= width:
        return str(kib)
    value = float(kib)
    for unit in "mgt":
        value /= 1024
        for text in (f"{value:.1f}{unit}", f"{value:.0f}{unit}"):
            if len(text) <= width:
                return text
    return "?"


def _row(process: Process, user: str, total: int, width: int, options: Options, now: float) -> str:
    rss = process.rss // 1024
    shared = 0 if is_kernel_thread(process) else min(rss * 6 // 10, 12288 + rss // 20)
    minutes, seconds = divmod(process.cpu_used(now), 60)
    name = user if len(user) <= 8 else user[:7] + "+"
    command = command_line(process) if options.has("c") else process.name
    columns = options.value("w")
    room = int(columns) - 69 if columns and is_digits(columns) else 11 if not options.has("w") else 400
    if len(command) > room:
        command = command[: room - 1] + "+"
    return (
        f"{process.pid:>{width}} {name:<8} {20 + process.nice:>3} {process.nice:>3} "
        f"{_memory(process.vsz // 1024, 7):>7} {_memory(rss, 6):>6} {_memory(shared, 6):>6} {process.state} "
        f"{process.cpu_share * 100:5.1f} {rss * 100 / total:5.1f} {int(minutes):3d}:{seconds:05.2f} {command}"
    )
