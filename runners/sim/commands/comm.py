"""comm: compare two sorted files line by line."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe, lines
from runners.sim.commands.options import parse, usage_error


def _load(ctx: Context, name: str) -> list[bytes]:
    try:
        return [line[:-1] if line.endswith(b"\n") else line for line in lines(ctx, ctx.open(name))]
    except OSError as error:
        ctx.die(f"{name}: {describe(error)}")


def main(ctx: Context) -> int:
    options = parse(
        ctx, "123z", ["check-order", "nocheck-order", "output-delimiter=", "total", "zero-terminated/z"],
        usage="Usage: comm [OPTION]... FILE1 FILE2\nCompare sorted files FILE1 and FILE2 line by line.",
    )  # fmt: skip
    names = options.operands
    if len(names) < 2:
        usage_error(ctx, "missing operand" if not names else f"missing operand after ‘{names[0]}’")
    if len(names) > 2:
        usage_error(ctx, f"extra operand ‘{names[2]}’")
    left, right = _load(ctx, names[0]), _load(ctx, names[1])
    delimiter = (options.value("output-delimiter") or "\t").encode()
    show = [not options.has(name) for name in "123"]
    prefixes = [b"", delimiter * show[0], delimiter * (show[0] + show[1])]
    i = j = 0
    disorder = False
    told = [False, False]

    def check(rows: list[bytes], at: int, which: int) -> None:
        nonlocal disorder
        if at > 0 and rows[at - 1] > rows[at] and not told[which] and not options.has("nocheck-order"):
            ctx.err(f"file {which + 1} is not in sorted order")
            told[which] = disorder = True

    while i < len(left) or j < len(right):
        if j >= len(right) or (i < len(left) and left[i] < right[j]):
            column, line = 0, left[i]
            i += 1
            if i < len(left):
                check(left, i, 0)
        elif i >= len(left) or right[j] < left[i]:
            column, line = 1, right[j]
            j += 1
            if j < len(right):
                check(right, j, 1)
        else:
            column, line = 2, left[i]
            i += 1
            j += 1
            if i < len(left):
                check(left, i, 0)
            if j < len(right):
                check(right, j, 1)
        if show[column]:
            ctx.stdout.write(prefixes[column] + line + b"\n")
    if disorder:
        ctx.err("input is not in sorted order")
        return 1
    return 0
