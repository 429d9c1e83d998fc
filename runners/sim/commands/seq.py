"""seq: print a sequence of numbers."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from runners.sim.commands.context import Context
from runners.sim.commands.options import parse, usage_error

_MAX_WIDTH = 100


def main(ctx: Context) -> int:
    arguments = ctx.args
    at = next((at for at, word in enumerate(arguments) if re.match(r"-[.\d]", word)), None)
    if at is not None and all(word.startswith("-") for word in arguments[:at]):
        # A negative number is an operand.
        arguments = [*arguments[:at], "--", *arguments[at:]]
    options = parse(
        ctx, "+f:s:w", ["format=/f", "separator=/s", "equal-width/w"], arguments=arguments,
        usage="Usage: seq [OPTION]... LAST\n  or:  seq [OPTION]... FIRST LAST\n"
        "  or:  seq [OPTION]... FIRST INCREMENT LAST",
    )  # fmt: skip
    operands = options.operands
    if not operands:
        usage_error(ctx, "missing operand")
    if len(operands) > 3:
        usage_error(ctx, f"extra operand ‘{operands[3]}’")
    numbers = []
    for text in operands:
        try:
            numbers.append(Decimal(text))
        except InvalidOperation:
            usage_error(ctx, f"invalid floating point argument: ‘{text}’")
    first = numbers[0] if len(numbers) > 1 else Decimal(1)
    step = numbers[1] if len(numbers) == 3 else Decimal(1)
    last = numbers[-1]
    if step == 0:
        usage_error(ctx, f"invalid Zero increment value: ‘{operands[1]}’")
    texts = [operands[0] if len(numbers) > 1 else "1", operands[1] if len(numbers) == 3 else "1"]
    places = max(len(text.partition(".")[2]) for text in texts)
    separator = options.value("s")
    separator = "\n" if separator is None else separator
    form = options.value("f")
    if form is not None and not re.search(r"%[-+ #0]*\d*(\.\d+)?[aefgAEFG]", form):
        ctx.die(f"format ‘{form}’ has no % directive")
    width = 0
    if options.has("w"):
        width = max(len(f"{first:.{places}f}"), len(f"{last:.{places}f}"))
    value = first
    pending: list[str] = []
    wrote = False
    while (value <= last) if step > 0 else (value >= last):
        ctx.spend(1)
        if form is not None:
            text = form % float(value)
        else:
            text = f"{value:.{places}f}" if places or value != int(value) else str(int(value))
            if width:
                text = text.zfill(width)
        pending.append(text)
        value += step
        if len(pending) >= 1024:
            ctx.out((separator if wrote else "") + separator.join(pending))
            wrote = True
            pending.clear()
    if pending:
        ctx.out((separator if wrote else "") + separator.join(pending))
        wrote = True
    if wrote:
        ctx.out("\n")
    return 0
