"""nologin: the shell of accounts that nobody logs in to."""

from __future__ import annotations

from runners.sim.commands.context import Context

PATH = "/usr/sbin/nologin"


def main(ctx: Context) -> int:
    ctx.line("This account is currently not available.")
    return 1
