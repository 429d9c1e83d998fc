"""comm: compare two sorted files line by line."""

from __future__ import annotations

from collections.abc import Callable

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import lines
from runners.sim.commands.options import missing_operand, parse, usage_error

_LONG = ("check-order", "nocheck-order", "output-delimiter=", "total", "zero-terminated/z")
_USAGE = "Usage: comm [OPTION]... FILE1 FILE2\nCompare sorted files FILE1 and FILE2 line by line."


def main(ctx: Context) -> int:
    options = parse(ctx, "123z", _LONG, usage=_USAGE)
    operands = options.operands
    if not operands:
        missing_operand(ctx)
    if len(operands) == 1:
        usage_error(ctx, f"missing operand after ‘{operands[0]}’")
    if len(operands) > 2:
        usage_error(ctx, f"extra operand ‘{operands[2]}’")
    end = b"\0" if options.has("z") else b"\n"
    sides = []
    for name in operands:
        try:
            reader = ctx.open(name)
            if end == b"\n":
                sides.append([line.rstrip(b"\n") for line in lines(ctx, reader)])
            else:
                sides.append(reader.read().removesuffix(b"\0").split(b"\0"))
        except OSError as error:
            ctx.die(f"{name}: {error.strerror}")
    return _compare(ctx, sides[0], sides[1], options.has, options.value("output-delimiter"), end)


def _compare(
    ctx: Context, one: list[bytes], other: list[bytes], has: Callable[[str], bool], separator: str | None, end: bytes
) -> int:
    delimiter = b"\t" if separator is None else separator.encode("utf-8", "surrogateescape") or b"\0"
    hidden = [has("1"), has("2"), has("3")]
    indents = [b"", b"" if hidden[0] else delimiter, delimiter * ((not hidden[0]) + (not hidden[1]))]
    counts = [0, 0, 0]
    out: list[bytes] = []
    checks = [not has("nocheck-order")] * 2
    disordered = False
    first = second = 0
    previous: list[bytes | None] = [None, None]
    while first < len(one) or second < len(other):
        ctx.spend(1)
        left = one[first] if first < len(one) else None
        right = other[second] if second < len(other) else None
        if right is None or (left is not None and left < right):
            column, line = 0, left
        elif left is None or right < left:
            column, line = 1, right
        else:
            column, line = 2, left
        assert line is not None
        counts[column] += 1
        if not hidden[column]:
            out.append(indents[column] + line + end)
        for side, used in ((0, column != 1), (1, column != 0)):
            if not used:
                continue
            current = left if side == 0 else right
            before = previous[side]
            # Order only matters from the moment when the files differ.
            unpaired = counts[0] or counts[1]
            falls = before is not None and current is not None and current < before
            if checks[side] and falls and (unpaired or has("check-order")):
                ctx.stdout.write(b"".join(out[:-1] if has("check-order") else out))
                out = []
                ctx.err(f"file {side + 1} is not in sorted order")
                if has("check-order"):
                    return 1
                checks[side], disordered = False, True
            previous[side] = current
        first += column != 1
        second += column != 0
    ctx.stdout.write(b"".join(out))
    if has("total"):
        ctx.stdout.write(delimiter.join([*(str(count).encode() for count in counts), b"total"]) + end)
    if disordered:
        ctx.err("input is not in sorted order")
        return 1
    return 0
