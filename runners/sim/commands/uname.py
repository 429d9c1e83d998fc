"""uname of coreutils: the kernel and the machine's name."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.tool import Tool

NAMES = ("uname", "arch")

_TOOL = Tool(
    "uname [OPTION]...",
    "a,all s,kernel-name n,nodename r,kernel-release v,kernel-version m,machine p,processor i,hardware-platform "
    "o,operating-system",
    "uname (GNU coreutils) 9.1",
)  # fmt: skip
_ARCH = Tool("arch [OPTION]...", "", "arch (GNU coreutils) 9.1")


def main(ctx: Context) -> int:
    tool = _ARCH if ctx.name == "arch" else _TOOL
    options = tool.parse(ctx)
    if options.operands:
        tool.fail(ctx, f"extra operand ‘{options.operands[0]}’")
    if ctx.name == "arch":
        ctx.line("x86_64")
        return 0
    view = ctx.machine.view()
    parts = {
        "s": "Linux",
        "n": view.text("/proc/sys/kernel/hostname").strip(),
        "r": view.text("/proc/sys/kernel/osrelease").strip(),
        "v": "#" + view.text("/proc/version").rpartition("#")[2].strip(),
        "m": "x86_64",
        "p": "unknown",
        "i": "unknown",
        "o": "GNU/Linux",
    }
    wanted = {name for name, _ in options.given}
    if "a" in wanted:
        ctx.line(" ".join(text for name, text in parts.items() if name not in "pi"))
    else:
        ctx.line(" ".join(text for name, text in parts.items() if name in (wanted or {"s"})))
    return 0
