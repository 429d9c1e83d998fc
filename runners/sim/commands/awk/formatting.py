"""printf's formats, by mawk's rules."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from runners.sim.budget import BudgetExceeded
from runners.sim.commands.awk.lexer import AwkError
from runners.sim.commands.awk.values import Value, number, string

_CONVERSION = re.compile(r"%([-+ #0]*)(\*|[0-9]*)(?:\.(\*|[0-9]*))?([hlLqjzt]*)(.?)", re.DOTALL)
_WIDEST = 1 << 20
_LONG = (1 << 31) - 1


class RunError(AwkError):
    """A mistake that shows only when the program runs."""


class _Item:
    """One conversion: `literal` comes before it."""

    __slots__ = ("flags", "kind", "literal", "precision", "width")

    def __init__(self, literal: str, flags: str, width: str, precision: str | None, kind: str) -> None:
        self.literal = literal
        self.flags = flags
        self.width = width
        self.precision = precision
        self.kind = kind


@lru_cache(maxsize=512)
def _items(form: str) -> tuple[tuple[_Item, ...], str]:
    items: list[_Item] = []
    literal = ""
    index = 0
    count = 0
    for found in _CONVERSION.finditer(form):
        literal += form[index : found.start()]
        index = found.end()
        flags, width, precision, _, kind = found.groups()
        if found[0] == "%%":
            literal += "%"
            continue
        if kind in ("", "%"):
            raise RunError(f'not enough arguments passed to printf("{form}")')
        count += 1
        if kind not in "diouxXeEfFgGcs":
            raise RunError(f'improper conversion(number {count}) in printf("{form}")')
        items.append(_Item(literal, flags, width, precision, kind))
        literal = ""
    return tuple(items), literal + form[index:]


def sprintf(form: str, values: list[Value], convfmt: str, name: str = "printf") -> tuple[str, AwkError | None]:
    """The text; with a problem, what was made before it came up."""
    items, rest = _items(form)
    out: list[str] = []
    index = 0
    for item in items:
        out.append(item.literal)
        width, precision = item.width, item.precision
        needed = 1 + (width == "*") + (precision == "*")
        if index + needed > len(values):
            return "".join(out), RunError(f'not enough arguments passed to {name}("{form}")')
        if width == "*":
            width = str(int(number(values[index])))
            index += 1
        if precision == "*":
            precision = str(int(number(values[index])))
            index += 1
        out.append(_convert(item, width, precision, values[index], convfmt))
        index += 1
    out.append(rest)
    return "".join(out), None


def _convert(item: _Item, width: str, precision: str | None, value: Value, convfmt: str) -> str:
    flags = item.flags
    if width.startswith("-"):
        flags, width = flags + "-", width[1:]
    if precision is not None and precision.startswith("-"):
        precision = None
    if int(width or 0) > _WIDEST or int(precision or 0) > _WIDEST:
        raise BudgetExceeded
    kind = item.kind
    if kind in "sc":
        text = _character(value) if kind == "c" else string(value, convfmt)
        if precision is not None and kind == "s":
            text = text[: int(precision or 0)]
        size = int(width or 0)
        return text.ljust(size) if "-" in flags else text.rjust(size)
    form = f"%{flags}{width}" + (f".{precision}" if precision is not None else "")
    amount = number(value)
    if kind in "eEfFgG":
        if amount != amount or amount in (math.inf, -math.inf):
            text = "-nan" if amount != amount and math.copysign(1.0, amount) < 0 else f"{amount:g}"
            return text.ljust(int(width or 0)) if "-" in flags else text.rjust(int(width or 0))
        return (form + kind) % amount
    if kind in "di":
        limited = _LONG if amount >= _LONG else -_LONG if amount <= -_LONG or amount != amount else int(amount)
        return (form + "d") % limited
    unsigned = 0 if not amount > 0 else min(int(min(amount, 2.0**63)), (1 << 32) - 1)
    if kind == "o" and "#" in flags:
        return f"0{unsigned:o}".rjust(int(width or 0))
    return (form + ("d" if kind == "u" else kind)) % unsigned


def _character(value: Value) -> str:
    if type(value) is float:
        return chr(int(value) & 0xFF)
    return str(value)[:1] if value else "\0"
