"""man, apropos and whatis where the pages were left out, as images of servers do."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.text import is_digits

NAMES = ("man", "apropos", "whatis")


def main(ctx: Context) -> int:
    words = [word for word in ctx.args if not word.startswith("-")]
    if ctx.name == "man":
        pages = [word for word in words if not is_digits(word)]
        if not pages:
            ctx.line("What manual page do you want?\nFor example, try 'man man'.")
            return 1
        section = f" in section {words[0]}" if is_digits(words[0]) else ""
        for page in pages:
            ctx.stderr.write(f"No manual entry for {page}{section}\n".encode("utf-8", "surrogateescape"))
        return 16
    for word in words:
        ctx.stderr.write(f"{word}: nothing appropriate.\n".encode("utf-8", "surrogateescape"))
    return 16 if words else 1
