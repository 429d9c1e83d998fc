"""Perl's values: text, numbers, references, and how one becomes the other. Text is bytes in latin-1."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from runners.text import is_digits

Value = Any
"""None (undef), str, int, float or Reference."""

_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")
_SPECIAL = re.compile(r"\s*([-+]?)(inf(?:inity)?|nan)", re.IGNORECASE)
_DIRECTIVE = re.compile(r"%([-+ 0#]*)(\*|\d+)?(?:\.(\*|\d+)?)?[hlqLV]*([a-zA-Z%])")
_COUNTER = re.compile(r"[a-zA-Z]*[0-9]*")
_WORD = 1 << 64
_WIDEST = 1 << 20


class PerlError(Exception):
    """The program cannot go on; the text is Perl's message, with its newline."""


class CompileError(PerlError):
    """The program was not begun. `status`: what perl exits with."""

    status = 255


class ModuleMissing(CompileError):  # noqa: N818 (as Perl calls it)
    """A module that is not installed."""

    status = 2


class Died(PerlError):  # noqa: N818
    """`die`: may be caught by eval. `value`: what $@ becomes."""

    def __init__(self, value: Value) -> None:
        super().__init__(text(value))
        self.value = value


class Box:
    """A scalar variable. `position`: for which text m//g stands where in it."""

    __slots__ = ("position", "value")

    def __init__(self, value: Value = None) -> None:
        self.value = value
        self.position: tuple[str, int] | None = None


class Reference:
    """What `\\`, `[…]`, `{…}` and `sub {…}` give. `kind`: ARRAY, HASH, SCALAR, CODE, GLOB or Regexp."""

    __slots__ = ("kind", "target")

    def __init__(self, kind: str, target: Any) -> None:
        self.kind = kind
        self.target = target


class Errno(str):
    """$!: a message that is a number where one is wanted."""

    __slots__ = ("number",)
    number: int

    def __new__(cls, number: int, message: str) -> Errno:
        made = super().__new__(cls, message)
        made.number = number
        return made


class Code:
    """A subroutine: called with its arguments, and whether a list is wanted of it."""

    __slots__ = ("call",)

    def __init__(self, call: Callable[[list[Value], bool], list[Value]]) -> None:
        self.call = call


def text(value: Value) -> str:
    if type(value) is str:
        return value
    if value is None:
        return ""
    if type(value) is int:
        return str(value)
    if isinstance(value, Reference):
        return str(value.target) if value.kind == "Regexp" else f"{value.kind}(0x55d0c0001000)"
    return str(value) if isinstance(value, str) else _float_text(value)


def _float_text(value: float) -> str:
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    if math.isnan(value):
        return "NaN"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.15g}"


def number(value: Value) -> int | float:
    if type(value) is int or type(value) is float:
        return value
    if value is None:
        return 0
    if isinstance(value, Reference):
        return 0x55D0C0001000
    if isinstance(value, Errno):
        return value.number
    found = _NUMBER.match(value)
    if found is None:
        special = _SPECIAL.match(value)
        return float(special[1] + special[2][:3]) if special else 0
    digits = found[1]
    try:
        return whole(int(digits))
    except ValueError:
        return float(digits)


def whole(value: int) -> int | float:
    """An integer as a machine word holds it; beyond that it is a floating point number."""
    return value if -_WORD < value * 2 < _WORD * 2 else float(value)


def integer(value: Value) -> int:
    found = number(value)
    return found if type(found) is int else 0 if math.isinf(found) or math.isnan(found) else int(found)


def upper(value: str) -> str:
    """Of bytes: letters beyond ASCII stay as they are."""
    return value.encode("latin-1", "replace").upper().decode("latin-1")


def lower(value: str) -> str:
    return value.encode("latin-1", "replace").lower().decode("latin-1")


def true(value: Value) -> bool:
    return value is not None and value != "" and value != "0" and value != 0


def incremented(value: Value) -> Value:
    """`++`, which also counts on through letters."""
    if type(value) is not str or not value or not _COUNTER.fullmatch(value) or is_digits(value):
        return plus(number(value), 1)
    letters = list(value)
    for at in range(len(letters) - 1, -1, -1):
        letter = letters[at]
        if letter not in "zZ9":
            letters[at] = chr(ord(letter) + 1)
            return "".join(letters)
        letters[at] = {"z": "a", "Z": "A", "9": "0"}[letter]
    return {"a": "a", "A": "A", "0": "1"}[letters[0]] + "".join(letters)


def plus(left: float, right: float) -> int | float:
    found = left + right
    return whole(found) if type(found) is int else found


def formatted(pattern: str, arguments: list[Value]) -> str:
    """sprintf."""
    rest = iter(arguments)

    def one(found: re.Match[str]) -> str:
        flags, width, precision, letter = found[1], found[2], found[3], found[4]
        if letter == "%":
            return "%"
        if width == "*":
            wide = integer(next(rest, None))
            flags, width = (flags + "-", str(-wide)) if wide < 0 else (flags, str(wide))
        if precision == "*":
            precision = str(integer(next(rest, None)))
        value = next(rest, None)
        given = "." in found[0]
        if int(width or 0) > _WIDEST or int(precision or 0) > _WIDEST:
            raise PerlError("Out of memory!\n")
        body = _converted(letter, flags, precision, given, value)
        if body is None:
            return found[0]
        room = int(width or 0)
        if "-" in flags:
            return body.ljust(room)
        if "0" in flags and letter != "c" and not (given and letter in "diuxXob"):
            sign = body[: len(body) - len(body.lstrip("+- "))]
            return sign + body[len(sign) :].rjust(room - len(sign), "0")
        return body.rjust(room)

    return _DIRECTIVE.sub(one, pattern)


def _converted(letter: str, flags: str, precision: str | None, given: bool, value: Value) -> str | None:
    if letter == "s":
        shown = text(value)
        return shown[: int(precision or 0)] if given else shown
    if letter == "c":
        return chr(integer(value) & 255)
    places = int(precision or 0) if given else 6
    sign = "+" if "+" in flags else " " if " " in flags else ""
    if letter in "eEfFgG":
        measured = float(number(value))
        if math.isinf(measured) or math.isnan(measured):
            return _float_text(measured)
        body = f"%{'#' if '#' in flags else ''}.{places}{letter}" % measured
        return body if body.startswith("-") or not sign else sign + body
    whole_number = integer(value)
    if letter in "di":
        digits = str(abs(whole_number)).rjust(int(precision or 0), "0")
        return ("-" if whole_number < 0 else sign) + digits
    if letter in "uxXobB":
        base = {"u": "d", "B": "b"}.get(letter, letter)
        digits = format(whole_number % _WORD, base).rjust(int(precision or 0), "0")
        prefix = {"x": "0x", "X": "0X", "o": "0", "b": "0b"}.get(base, "") if "#" in flags and whole_number else ""
        return prefix + digits
    return None
