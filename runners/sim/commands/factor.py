"""factor: print the prime factors of numbers."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.options import parse
from runners.text import is_digits


def main(ctx: Context) -> int:
    options = parse(
        ctx, "", usage="Usage: factor [NUMBER]...\nPrint the prime factors of each specified integer NUMBER."
    )
    status = 0
    words = options.operands or [
        word for line in ctx.stdin.lines() for word in line.decode("utf-8", "surrogateescape").split()
    ]
    for word in words:
        digits = word.removeprefix("+")
        if not is_digits(digits):
            ctx.err(f"‘{word}’ is not a valid positive integer")
            status = 1
            continue
        value = int(digits[:4000])
        ctx.line(" ".join([f"{value}:", *map(str, _factors(ctx, value))]))
    return status


def _factors(ctx: Context, value: int) -> list[int]:
    found = []
    divisor = 2
    while divisor * divisor <= value:
        while value % divisor == 0:
            found.append(divisor)
            value //= divisor
        divisor += 1 if divisor == 2 else 2
        ctx.spend(1)
    return [*found, value] if value > 1 else found
