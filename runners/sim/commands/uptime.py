"""uptime of procps-ng: how long the machine has been running."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.tool import Tool
from runners.sim.uptime import uptime_line, uptime_seconds

_TOOL = Tool("uptime [options]", "p,pretty s,since V,version h,help", "uptime from procps-ng 4.0.2")


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if options.has("V"):
        ctx.line("uptime from procps-ng 4.0.2")
    elif options.has("s"):
        ctx.line(f"{ctx.machine.clock.time(ctx.machine.clock.boot):%Y-%m-%d %H:%M:%S}")
    elif options.has("p"):
        ctx.line(_pretty(int(uptime_seconds(ctx.machine))))
    else:
        ctx.line(uptime_line(ctx.machine))
    return 0


def _pretty(seconds: int) -> str:
    parts = []
    for name, length in (("year", 31536000), ("week", 604800), ("day", 86400), ("hour", 3600), ("minute", 60)):
        count, seconds = divmod(seconds, length)
        if count:
            parts.append(f"{count} {name}{'s' if count > 1 else ''}")
    return "up " + (", ".join(parts) or "0 minutes")
