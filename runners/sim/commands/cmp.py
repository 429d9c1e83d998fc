"""cmp: compare two files byte by byte."""

from __future__ import annotations

import re

from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.inputs import size
from runners.sim.commands.options import parse, usage_error

_LONG = ("print-bytes/b", "ignore-initial=/i", "verbose/l", "bytes=/n", "quiet/s", "silent/s", "version/v")
_USAGE = "Usage: cmp [OPTION]... FILE1 [FILE2 [SKIP1 [SKIP2]]]\nCompare two files byte by byte."


def main(ctx: Context) -> int:
    options = parse(ctx, "bi:ln:sv", _LONG, status=2, usage=_USAGE, version="cmp (GNU diffutils) 3.8")
    if options.has("v"):
        ctx.line("cmp (GNU diffutils) 3.8")
        return 0
    operands = options.operands
    if not operands:
        usage_error(ctx, f"missing operand after '{ctx.argv[-1]}'", 2)
    if len(operands) > 4:
        usage_error(ctx, f"extra operand '{operands[4]}'", 2)
    names = operands[0], operands[1] if len(operands) > 1 else "-"
    skips = _skips(ctx, options.value("i"), operands[2:])
    limit = options.value("n")
    most = None if limit is None else _size(ctx, limit, "--bytes")
    data = []
    for name, skip in zip(names, skips, strict=True):
        try:
            content = ctx.open(name).read()[skip:]
        except OSError as error:
            if not options.has("s") or error.errno != 2:
                ctx.err(f"{name}: {error.strerror}")
            return 2
        data.append(content if most is None else content[:most])
    ctx.spend(1 + (min(len(data[0]), len(data[1])) >> 8))
    if data[0] == data[1]:
        return 0
    if options.has("s"):
        return 1
    _report(ctx, names, data[0], data[1], options.has("l"), options.has("b"))
    return 1


def _report(ctx: Context, names: tuple[str, str], first: bytes, second: bytes, every: bool, show: bool) -> None:
    shared = min(len(first), len(second))
    differing = _first_difference(first, second, shared)
    if every:
        width = len(str(shared))
        for index in range(differing, shared):
            one, other = first[index], second[index]
            if one != other:
                ctx.spend(1)
                if show:
                    ctx.line(f"{index + 1:>{width}} {one:>3o} {_visible(one):<4} {other:>3o} {_visible(other)}")
                else:
                    ctx.line(f"{index + 1:>{width}} {one:>3o} {other:>3o}")
    elif differing < shared:
        line = first.count(b"\n", 0, differing) + 1
        text = f"{names[0]} {names[1]} differ: byte {differing + 1}, line {line}"
        if show:
            one, other = first[differing], second[differing]
            text += f" is {one:>3o} {_visible(one)} {other:>3o} {_visible(other)}"
        ctx.line(text)
        return
    if len(first) != len(second):
        name = names[0] if len(first) < len(second) else names[1]
        if shared == 0:
            ctx.err(f"EOF on {name} which is empty")
            return
        lines = first.count(b"\n", 0, shared)
        where = f"line {lines}" if first[shared - 1 : shared] == b"\n" else f"in line {lines + 1}"
        ctx.err(f"EOF on {name} after byte {shared}" + ("" if every else f", {where}"))


def _first_difference(first: bytes, second: bytes, shared: int) -> int:
    """Where they begin to differ, within the shared length, found by halves."""
    low, high = 0, shared
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _visible(byte: int) -> str:
    prefix = ""
    if byte >= 128:
        prefix, byte = "M-", byte - 128
    if byte < 32:
        return f"{prefix}^{chr(byte + 64)}"
    return f"{prefix}^?" if byte == 127 else prefix + chr(byte)


def _skips(ctx: Context, option: str | None, operands: list[str]) -> tuple[int, int]:
    first, _, second = (option or "0").partition(":")
    both = [first, second or first]
    for index, operand in enumerate(operands):
        both[index] = operand
        if option is None and len(operands) == 1:
            both[1] = "0"
    return _size(ctx, both[0], "--ignore-initial"), _size(ctx, both[1], "--ignore-initial")


def _size(ctx: Context, text: str, option: str) -> int:
    found = size(text) if re.match(r"\d", text) else None
    if found is None:
        ctx.err(f"invalid {option} value '{text}'")
        raise CommandExit(2)
    return found
