"""swapon and swapoff of util-linux: the areas that memory is swapped to."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.format import human_lsblk
from runners.sim.memory import swap_area
from runners.sim.process_info import meminfo

NAMES = ("swapon", "swapoff")
PATH = "/usr/sbin/swapon"


def main(ctx: Context) -> int:
    info = meminfo(ctx.machine)
    total, used = info["SwapTotal"], info["SwapTotal"] - info["SwapFree"]
    words = [word for word in ctx.args if not word.startswith("-")]
    if ctx.name == "swapon" and not words:
        if total:
            area = swap_area(ctx.machine)
            kind = "partition" if area.startswith("/dev/") else "file"
            wide = max(len(area), 4)
            ctx.line(f"{'NAME':<{wide}} {'TYPE':<{len(kind)}} {'SIZE':>5} {'USED':>4} PRIO")
            ctx.line(f"{area:<{wide}} {kind} {human_lsblk(total * 1024):>5} {human_lsblk(used * 1024):>4}   -2")
        return 0
    if ctx.cred.uid != 0:
        ctx.err("Not superuser.")
        return 1
    for word in words:
        if not ctx.files.exists(word):
            ctx.err(
                f"cannot open {word}: No such file or directory"
                if ctx.name == "swapon"
                else f"{word}: swapoff failed: No such file or directory"
            )
            return 255 if ctx.name == "swapon" else 32
    return 0
