"""clear, reset: clear the terminal screen."""

from __future__ import annotations

from runners.sim.commands.context import Context

NAMES = ("clear", "reset")


def main(ctx: Context) -> int:
    if not ctx.environment.get("TERM"):
        ctx.stderr.write(b"TERM environment variable not set.\n")
        return 1
    ctx.out("\x1b[H\x1b[2J\x1b[3J")
    return 0
