"""expand, unexpand: tabs to spaces and back."""

from __future__ import annotations

import re

from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.inputs import inputs, lines
from runners.sim.commands.options import parse
from runners.text import is_digits

NAMES = ("expand", "unexpand")


def main(ctx: Context) -> int:
    arguments = [f"-t{word[1:]}" if re.fullmatch(r"-\d[\d,]*", word) else word for word in ctx.args]
    back = ctx.name == "unexpand"
    options = parse(
        ctx, "ait:", ["all/a", "first-only/i" if back else "initial/i", "tabs=/t"], arguments=arguments,
        usage=f"Usage: {ctx.name} [OPTION]... [FILE]...\n"
        + ("Convert blanks in each FILE to tabs" if back else "Convert tabs in each FILE to spaces")
        + ", writing to standard output.",
    )  # fmt: skip
    stops = _stops(ctx, options.value("t") or "8")
    everywhere = back and (options.has("a", "t") and not options.has("i"))
    failed: list[str] = []
    for item in inputs(ctx, options.operands, failed):
        for line in lines(ctx, item.reader):
            ctx.stdout.write(_unexpanded(line, stops, everywhere) if back else _expanded(line, stops, options.has("i")))
    return int(bool(failed))


def _stops(ctx: Context, text: str) -> list[int]:
    found: list[int] = []
    for part in re.split(r"[,\s]+", text.strip()):
        if not is_digits(part):
            ctx.err(f"tab size contains invalid character(s): ‘{part}’")
            raise CommandExit(1)
        if int(part) == 0:
            ctx.err("tab size cannot be 0")
            raise CommandExit(1)
        if found and int(part) <= found[-1]:
            ctx.err("tab sizes must be ascending")
            raise CommandExit(1)
        found.append(int(part))
    return found


def _next(stops: list[int], column: int) -> int | None:
    """The first stop behind a column; None behind the last of a list, where a tab is one space."""
    if len(stops) == 1:
        return (column // stops[0] + 1) * stops[0]
    return next((stop for stop in stops if stop > column), None)


def _expanded(line: bytes, stops: list[int], initial: bool) -> bytes:
    if b"\t" not in line:
        return line
    out = bytearray()
    column = 0
    leading = True
    for byte in line:
        leading = leading and byte in b" \t"
        if byte == 9 and (leading or not initial):
            stop = _next(stops, column)
            width = 1 if stop is None else stop - column
            out += b" " * width
            column += width
        else:
            out.append(byte)
            column = max(column - 1, 0) if byte == 8 else column + 1
    return bytes(out)


def _unexpanded(line: bytes, stops: list[int], everywhere: bool) -> bytes:
    out = bytearray()
    pending = bytearray()
    column = 0
    active = True
    for byte in line:
        if active and byte in b" \t":
            stop = _next(stops, column)
            if stop is None:
                out += pending
                pending.clear()
                out.append(byte)
                column += 1
                continue
            if byte == 9:
                # A single space before a tab goes into it as well.
                pending.clear()
                out.append(9)
                column = stop
                continue
            pending.append(byte)
            column += 1
            if column == stop:
                out += b"\t" if len(pending) > 1 else bytes(pending)
                pending.clear()
            continue
        out += pending
        pending.clear()
        out.append(byte)
        column += 1
        active = active and everywhere
    return bytes(out + pending)
