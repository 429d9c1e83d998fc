"""vi, which on Debian is vim.tiny 9.0: without a terminal it warns, shows nothing of use and ends."""

from __future__ import annotations

from runners.sim.commands.context import Context

NAMES = ("vi", "view", "vim.tiny", "editor", "sensible-editor")

_VERSION = "VIM - Vi IMproved 9.0 (2022 Jun 28, compiled May 04 2023 10:24:44)\nIncluded patches: 1-1378, 1499\n"


def main(ctx: Context) -> int:
    if "--version" in ctx.args:
        ctx.out(_VERSION)
        return 0
    if ctx.name == "sensible-editor":
        chosen = ctx.environment.get("VISUAL") or ctx.environment.get("EDITOR") or ""
        if chosen:
            return ctx.run(["/bin/sh", "-c", f'{chosen} "$@"', chosen, *ctx.args])
    if not ctx.stdout.is_terminal:
        ctx.stderr.write(b"Vim: Warning: Output is not to a terminal\n")
    ctx.stderr.write(b"Vim: Warning: Input is not from a terminal\n")
    ctx.sleep(2.0)
    ctx.stderr.write(b"Vim: Error reading input, exiting...\nVim: Finished.\n")
    return 1
