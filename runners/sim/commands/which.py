"""which: locate a command."""

from __future__ import annotations

from runners.sim.commands.context import CommandExit, Context
from runners.sim.files.inode import EXECUTE


def main(ctx: Context) -> int:
    words = ctx.args
    every = False
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word == "--":
            break
        if word.strip("-as"):
            ctx.stderr.write(
                f"Illegal option {word}\nUsage: /usr/bin/which [-as] args\n".encode("utf-8", "surrogateescape")
            )
            raise CommandExit(2)
        every = every or "a" in word
    status = 0 if words else 1
    for name in words:
        folders = [""] if "/" in name else ctx.environment.get("PATH", "").split(":")
        found = False
        for folder in folders:
            path = f"{folder}/{name}" if folder else name
            if ctx.files.access(path, EXECUTE) and ctx.files.stat(path).is_file:
                ctx.line(path)
                found = True
                if not every:
                    break
        if not found:
            status = 1
    return status
