"""free of procps-ng 4.0.2: memory and swap, from /proc/meminfo."""

from __future__ import annotations

from collections.abc import Sequence

from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.options import Options
from runners.sim.format import human_free
from runners.sim.process_info import meminfo
from runners.sim.tool import Tool
from runners.text import is_digits

_USAGE = """Usage:
 free [options]

Options:
 -b, --bytes         show output in bytes
     --kilo          show output in kilobytes
     --mega          show output in megabytes
     --giga          show output in gigabytes
     --tera          show output in terabytes
     --peta          show output in petabytes
 -k, --kibi          show output in kibibytes
 -m, --mebi          show output in mebibytes
 -g, --gibi          show output in gibibytes
     --tebi          show output in tebibytes
     --pebi          show output in pebibytes
 -h, --human         show human-readable output
     --si            use powers of 1000 not 1024
 -l, --lohi          show detailed low and high memory statistics
 -t, --total         show total for RAM + swap
 -v, --committed     show committed memory and commit limit
 -s N, --seconds N   repeat printing every N seconds
 -c N, --count N     repeat printing N times, then exit
 -w, --wide          wide output

     --help     display this help and exit
 -V, --version  output version information and exit

For more details see free(1).
"""
_TOOL = Tool(
    "free [options]",
    "b,bytes k,kibi m,mebi g,gibi kilo mega giga tebi pebi tera peta h,human si l,lohi t,total v,committed "
    "s,seconds= c,count= w,wide V,version",
    "free from procps-ng 4.0.2", hinted=False, after_error=f"\n{_USAGE}",
)  # fmt: skip

_DIVISORS = {
    "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "tebi": 1 << 40, "pebi": 1 << 50,
    "kilo": 10**3, "mega": 10**6, "giga": 10**9, "tera": 10**12, "peta": 10**15,
}  # fmt: skip


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if options.has("V"):
        ctx.line("free from procps-ng 4.0.2")
        return 0
    rounds = _number(ctx, options.value("c"), "count") or 1
    pause = options.value("s")
    if pause is not None:
        rounds = rounds if options.has("c") else 60
    for index in range(rounds):
        if index:
            ctx.line()
            ctx.sleep(_seconds(ctx, pause or "1"))
        _report(ctx, options)
    return 0


def _number(ctx: Context, text: str | None, what: str) -> int | None:
    if text is None:
        return None
    if not is_digits(text) or int(text) < 1:
        ctx.err(f"failed to parse {what} argument: '{text}'")
        raise CommandExit(1)
    return int(text)


def _seconds(ctx: Context, text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if seconds <= 0:
        ctx.err(f"seconds argument failed: '{text}': Invalid argument")
        raise CommandExit(1)
    return seconds


def _report(ctx: Context, options: Options) -> None:
    info = meminfo(ctx.machine)
    cached = info.get("Cached", 0) + info.get("SReclaimable", 0)
    buffers = info.get("Buffers", 0)
    total, unused, available = info["MemTotal"], info["MemFree"], info.get("MemAvailable", info["MemFree"])
    swap, swap_free = info.get("SwapTotal", 0), info.get("SwapFree", 0)
    used = total - available
    wide = options.has("w")
    shared = info.get("Shmem", 0)
    memory = [total, used, unused, shared, *((buffers, cached) if wide else (buffers + cached,)), available]
    titles = ["total", "used", "free", "shared", *(("buffers", "cache") if wide else ("buff/cache",)), "available"]
    ctx.line(" " * 9 + " ".join(f"{title:>11}" for title in titles))
    ctx.line(_row(options, "Mem:", memory))
    if options.has("l"):
        ctx.line(_row(options, "Low:", [total, total - unused, unused]))
        ctx.line(_row(options, "High:", [0, 0, 0]))
    ctx.line(_row(options, "Swap:", [swap, swap - swap_free, swap_free]))
    if options.has("t"):
        ctx.line(_row(options, "Total:", [total + swap, used + swap - swap_free, unused + swap_free]))
    if options.has("v"):
        limit, committed = info.get("CommitLimit", total), info.get("Committed_AS", used)
        ctx.line(_row(options, "Comm:", [limit, committed, limit - committed]))


def _row(options: Options, label: str, figures: Sequence[int]) -> str:
    cells = [f"{_show(options, value):>11}" for value in figures]
    return f"{label:<9}{' '.join(cells)}"


def _show(options: Options, kib: int) -> str:
    si = options.has("si")
    unit = options.last("h", *_DIVISORS) or "k"
    if unit == "h":
        return human_free(kib, si=si)
    divisor = _DIVISORS[unit]
    if si and unit in "bkmg":
        divisor = {"b": 1, "k": 10**3, "m": 10**6, "g": 10**9}[unit]
    return str(kib * 1024 // divisor)
