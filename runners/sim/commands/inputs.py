"""What text tools share: going through their operands, and numbers with suffixes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from runners.sim.commands.context import Context, Reader

_UNITS = {"": 1, "c": 1, "w": 2, "b": 512}
_UNITS |= {
    letter + suffix: base**power
    for power, letter in enumerate("KMGTPE", 1)
    for suffix, base in (("", 1024), ("B", 1000), ("iB", 1024))
}
_UNITS |= {"k": 1024, "kB": 1000, "m": 1 << 20, "g": 1 << 30}


class Input(NamedTuple):
    """One operand, opened. `label` is what messages and headers call it."""

    name: str
    reader: Reader


def describe(error: OSError) -> str:
    return error.strerror or str(error)


def inputs(
    ctx: Context, operands: Sequence[str], failed: list[str], *, message: str = "{name}: {problem}"
) -> Iterator[Input]:
    """Open each operand (none: standard input). Those that cannot be opened are reported and put into `failed`."""
    for name in operands or ["-"]:
        try:
            yield Input(name, ctx.open(name))
        except OSError as error:
            ctx.err(message.format(name=name, problem=describe(error)))
            failed.append(name)


def lines(ctx: Context, reader: Reader) -> Iterator[bytes]:
    """The lines of a reader, each one charged to the budget."""
    spend = ctx.machine.budget.spend
    for line in reader.lines():
        spend(1 + (len(line) >> 8))
        yield line


def all_lines(ctx: Context, operands: Sequence[str], failed: list[str]) -> Iterator[bytes]:
    """The lines of all operands one after another, without their newlines."""
    for item in inputs(ctx, operands, failed):
        for line in lines(ctx, item.reader):
            yield line[:-1] if line.endswith(b"\n") else line


def size(text: str) -> int | None:
    """A number of bytes with an optional unit (512, 10K, 2MB); None when it is none."""
    match = re.fullmatch(r"(\d+)([A-Za-z]*)", text, re.ASCII)
    if match is None or match.group(2) not in _UNITS:
        return None
    return int(match.group(1)[:30]) * _UNITS[match.group(2)]


def human(number: int, *, base: int = 1024, suffix: str = "") -> str:
    """As -h of ls, du and df: rounded up, one decimal below ten."""
    if number < base:
        return f"{number}{suffix}"
    units = "KMGTPE" if base == 1024 else "kMGTPE"
    power = 0
    scale = 1
    while number >= scale * base and power < len(units):
        scale *= base
        power += 1
    tenths = -(-number * 10 // scale)
    if tenths < 100:
        return f"{tenths // 10}.{tenths % 10}{units[power - 1]}{suffix}"
    whole = -(-number // scale)
    if whole >= base and power < len(units):
        return f"1.0{units[power]}{suffix}"
    return f"{whole}{units[power - 1]}{suffix}"


def quoted(name: str) -> str:
    """As coreutils quote a name in messages: 'name'."""
    if "'" in name and '"' not in name:
        return f'"{name}"'
    return "'" + name.replace("'", "'\\''") + "'"


def shell_style(name: str) -> str:
    """As coreutils show a name in some messages: quoted only if the shell would need it."""
    return name if re.fullmatch(r"[\w@%+=:,./^-]+", name) else quoted(name)
