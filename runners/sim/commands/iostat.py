"""iostat of sysstat 12: CPU shares and the traffic of block devices."""

from __future__ import annotations

from runners.sim.block_devices import disks
from runners.sim.commands.context import Context
from runners.sim.commands.vmstat import cpu_shares
from runners.sim.ps_columns import cpu_count
from runners.sim.tool import Tool
from runners.text import is_digits

_TOOL = Tool(
    "iostat [ options ] [ <interval> [ <count> ] ]", "c d h,human k m N p=? t V x y z pretty", "sysstat version 12.6.1"
)


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if options.has("V"):
        ctx.line("sysstat version 12.6.1")
        return 0
    numbers = [word for word in options.operands if is_digits(word)]
    rounds = int(numbers[1]) if len(numbers) > 1 else 20 if numbers else 1
    system = ctx.machine
    host = system.view().text("/proc/sys/kernel/hostname").strip()
    release = system.view().text("/proc/sys/kernel/osrelease").strip()
    ctx.line(f"Linux {release} ({host}) \t{system.clock.time():%m/%d/%y} \t_x86_64_\t({cpu_count(system)} CPU)")
    ctx.line()
    for index in range(rounds):
        ctx.spend(200)
        if index:
            ctx.sleep(int(numbers[0]))
        if not options.has("d"):
            user, kernel, idle, wait, stolen = cpu_shares(ctx)
            ctx.line("avg-cpu:  %user   %nice %system %iowait  %steal   %idle")
            ctx.line(f"        {user:7.2f} {0:7.2f} {kernel:7.2f} {wait:7.2f} {stolen:7.2f} {idle:7.2f}")
            ctx.line()
        if not options.has("c"):
            _devices(ctx, extended=options.has("x"), unit="MB" if options.has("m") else "kB")
            ctx.line()
    return 0


def _devices(ctx: Context, *, extended: bool, unit: str) -> None:
    if extended:
        ctx.line(
            f"Device            r/s     r{unit}/s   rrqm/s  %rrqm r_await rareq-sz     w/s     w{unit}/s "
            f"  wrqm/s  %wrqm "
            "w_await wareq-sz  aqu-sz  %util"
        )
    else:
        ctx.line(
            f"Device             tps    {unit}_read/s    {unit}_wrtn/s    {unit}_dscd/s    {unit}_read "
            f"   {unit}_wrtn    {unit}_dscd"
        )
    seconds = max(ctx.machine.clock.now - ctx.machine.clock.boot, 1.0)
    scale = 1024.0 if unit == "MB" else 1.0
    for disk in disks(ctx.machine):
        read, written = 400_000 / scale, seconds * 18 / scale
        if extended:
            ctx.line(
                f"{disk.name:<12} {1.02:8.2f} {read / seconds:9.2f} {0.31:8.2f} {23.3:6.2f} {0.45:7.2f} {24.1:8.2f} "
                f"{2.4:7.2f} {written / seconds:9.2f} {1.9:8.2f} {44.2:6.2f} {0.8:7.2f} {7.5:8.2f} "
                f"{0.01:7.2f} {0.2:6.2f}"
            )
        else:
            ctx.line(
                f"{disk.name:<12} {3.42:9.2f} {read / seconds:12.2f} {written / seconds:12.2f} {0:12.2f} "
                f"{int(read):10d} {int(written):10d} {0:10d}"
            )
