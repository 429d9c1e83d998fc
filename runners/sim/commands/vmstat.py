"""vmstat of procps-ng 4.0.2: processes, memory, paging and CPU, from /proc."""

from __future__ import annotations

import re

from runners.sim.commands.context import Context
from runners.sim.process_info import meminfo
from runners.sim.tool import Tool
from runners.text import is_digits

_TOOL = Tool(
    "vmstat [options] [delay [count]]",
    "a,active f,forks m,slabs n,one-header s,stats d,disk D,disk-sum p,partition= S,unit= w,wide "
"t,timestamp V,version h,help",
    "vmstat from procps-ng 4.0.2", hinted=False,
)  # fmt: skip
_UNITS = {"k": 1000, "K": 1024, "m": 10**6, "M": 1 << 20}


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if options.has("V"):
        ctx.line("vmstat from procps-ng 4.0.2")
        return 0
    for operand in options.operands[:2]:
        if not is_digits(operand):
            ctx.err(f"failed to parse argument: '{operand}'")
            return 1
    delay = int(options.operands[0]) if options.operands else 0
    rounds = int(options.operands[1]) if len(options.operands) > 1 else 30 if delay else 1
    if options.has("s"):
        return _statistics(ctx)
    divisor = _UNITS.get(options.value("S") or "K", 1024)
    active, wide, stamped = options.has("a"), options.has("w"), options.has("t")
    for index in range(rounds):
        ctx.spend(200)
        if index:
            ctx.sleep(delay)
        if index == 0 or (index % 20 == 0 and not options.has("n")):
            _headers(ctx, active=active, wide=wide, stamped=stamped)
        _row(ctx, divisor, active=active, wide=wide, stamped=stamped, since_boot=index == 0)
    return 0


def _headers(ctx: Context, *, active: bool, wide: bool, stamped: bool) -> None:
    third, fourth = (" inact", "active") if active else ("  buff", " cache")
    if wide:
        stamp = " -----timestamp-----" if stamped else ""
        ctx.line(
            "--procs-- -----------------------memory---------------------- ---swap-- -----io---- -system-- "
            f"--------cpu--------{stamp}"
        )
        tail = "                 UTC" if stamped else ""
        ctx.line(
            f"   r    b         swpd         free {third.strip():>12} {fourth.strip():>12}   si   so  "
            f"  bi    bo   in   cs"
            f"  us  sy  id  wa  st{tail}"
        )
        return
    stamp = " -----timestamp-----" if stamped else ""
    ctx.line(f"procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----{stamp}")
    tail = "                 UTC" if stamped else ""
    ctx.line(f" r  b   swpd   free {third} {fourth}   si   so    bi    bo   in   cs us sy id wa st{tail}")


def cpu_shares(ctx: Context) -> tuple[int, int, int, int, int]:
    """User, system, idle, waiting and stolen time since boot, in whole percent that add up to 100."""
    match = re.search(r"^cpu +(.*)$", ctx.machine.view().text("/proc/stat"), re.MULTILINE)
    ticks = [int(word) for word in match.group(1).split()] if match else [0, 0, 0, 1]
    ticks += [0] * (8 - len(ticks))
    user, nice, system, _, wait, irq, soft, steal = ticks[:8]
    total = max(sum(ticks[:8]), 1)
    parts = [round(value * 100 / total) for value in (user + nice, system + irq + soft, wait, steal)]
    return parts[0], parts[1], 100 - sum(parts), parts[2], parts[3]


def _row(ctx: Context, divisor: int, *, active: bool, wide: bool, stamped: bool, since_boot: bool) -> None:
    machine = ctx.machine
    info = meminfo(machine)
    running = max(sum(1 for process in machine.processes if process.state == "R" or process.cpu_share >= 0.5), 1)
    blocked = sum(1 for process in machine.processes if process.state == "D")
    swapped = info.get("SwapTotal", 0) - info.get("SwapFree", 0)
    cached = info.get("Cached", 0) + info.get("SReclaimable", 0)
    third = info.get("Inactive", 0) if active else info.get("Buffers", 0)
    fourth = info.get("Active", 0) if active else cached
    memory = [value * 1024 // divisor for value in (swapped, info["MemFree"], third, fourth)]
    busy = sum(process.cpu_share for process in machine.processes)
    if since_boot:
        shares = cpu_shares(ctx)
    else:
        user = min(int(busy * 85 / _cpus(ctx)), 85)
        system = min(int(busy * 15 / _cpus(ctx)), 15)
        shares = (user, system, 100 - user - system, 0, 0)
    jitter = int(machine.random("vmstat") * 40)
    blocks = (18, 42 + jitter // 4) if since_boot else (0, jitter)
    system_figures = (180 + jitter + int(busy * 400), 260 + jitter * 2 + int(busy * 900))
    if wide:
        line = f"{running:4d} {blocked:4d} " + " ".join(f"{value:12d}" for value in memory)
        line += f" {0:4d} {0:4d} {blocks[0]:5d} {blocks[1]:5d} {system_figures[0]:4d} {system_figures[1]:4d} "
        line += " ".join(f"{share:3d}" for share in shares)
    else:
        line = f"{running:2d} {blocked:2d} " + " ".join(f"{value:6d}" for value in memory)
        line += f" {0:4d} {0:4d} {blocks[0]:5d} {blocks[1]:5d} {system_figures[0]:4d} {system_figures[1]:4d} "
        line += " ".join(f"{share:2d}" for share in shares)
    if stamped:
        line += f" {machine.clock.time():%Y-%m-%d %H:%M:%S}"
    ctx.line(line)


def _cpus(ctx: Context) -> int:
    text = ctx.machine.view().text("/proc/stat")
    return max(len(re.findall(r"^cpu\d", text, re.MULTILINE)), 1)


def _statistics(ctx: Context) -> int:
    info = meminfo(ctx.machine)
    cached = info.get("Cached", 0) + info.get("SReclaimable", 0)
    available = info.get("MemAvailable", info["MemFree"])
    swap, swap_free = info.get("SwapTotal", 0), info.get("SwapFree", 0)
    rows = [
        (info["MemTotal"], "K total memory"), (info["MemTotal"] - available, "K used memory"),
        (info.get("Active", 0), "K active memory"), (info.get("Inactive", 0), "K inactive memory"),
        (info["MemFree"], "K free memory"), (info.get("Buffers", 0), "K buffer memory"), (cached, "K swap cache"),
        (swap, "K total swap"), (swap - swap_free, "K used swap"), (swap_free, "K free swap"),
    ]  # fmt: skip
    text = ctx.machine.view().text("/proc/stat")
    ticks = [int(word) for word in text.split("\n", 1)[0].split()[1:]] + [0] * 10
    names = (
        "non-nice user",
        "nice user",
        "system",
        "idle",
        "IO-wait",
        "IRQ",
        "softirq",
        "stolen",
        "non-nice guest",
        "nice guest",
    )
    rows += [(value, f"{name} cpu ticks") for value, name in zip(ticks, names, strict=False)]
    for key, name in (
        ("intr", "interrupts"),
        ("ctxt", "CPU context switches"),
        ("btime", "boot time"),
        ("processes", "forks"),
    ):
        match = re.search(rf"^{key} (\d+)", text, re.MULTILINE)
        rows.append((int(match.group(1)) if match else 0, name))
    for value, name in rows:
        ctx.line(f"{value:13d} {name}")
    return 0
