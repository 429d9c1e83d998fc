"""tput: query terminal capabilities."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.text import is_digits

_STRINGS = {
    "clear": "\x1b[H\x1b[2J\x1b[3J", "bold": "\x1b[1m", "sgr0": "\x1b(B\x1b[m", "smul": "\x1b[4m", "rmul": "\x1b[24m",
    "rev": "\x1b[7m", "cup": "\x1b[1;1H", "civis": "\x1b[?25l", "cnorm": "\x1b[?12l\x1b[?25h", "el": "\x1b[K",
    "ed": "\x1b[J",
}  # fmt: skip
_NUMBERS = {"cols": "80", "lines": "24", "colors": "256"}


def main(ctx: Context) -> int:
    if not ctx.environment.get("TERM"):
        ctx.stderr.write(b"tput: No value for $TERM and no -T specified\n")
        return 2
    if not ctx.args:
        ctx.stderr.write(b"usage: tput [-V] [-S] [-T term] capname\n")
        return 2
    name = ctx.args[0]
    if name in _NUMBERS:
        ctx.line(_NUMBERS[name])
    elif name in ("setaf", "setab") and len(ctx.args) > 1 and is_digits(ctx.args[1]):
        base = 30 if name == "setaf" else 40
        color = int(ctx.args[1])
        ctx.out(f"\x1b[{base + color}m" if color < 8 else f"\x1b[{base + 8};5;{color}m")
    elif name in _STRINGS:
        ctx.out(_STRINGS[name])
    else:
        ctx.stderr.write(f"tput: unknown terminfo capability '{name}'\n".encode("utf-8", "surrogateescape"))
        return 4
    return 0
