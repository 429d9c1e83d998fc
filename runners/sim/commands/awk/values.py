"""AWK's values. A number is a float, a string a str (one character a byte); None is a variable never set.

`Input` is text from outside, which counts as a number where it looks like one; `Text` is a string stored in a field.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

from runners.text import is_digits

MAX_INT = 2147483647


class Input(str):
    __slots__ = ()


class Text(str):
    __slots__ = ()


Value = float | str | None

_PREFIX = re.compile(
    r"[ \t\n\r\f\v]*([+-]?(?:0x[0-9a-f]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?|nan))",
    re.IGNORECASE,
)  # fmt: skip
_LOOKS = re.compile(r"[ \t\n\r\f\v]*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ \t\n\r\f\v]*\Z")
NOT_A_NUMBER = math.copysign(math.nan, -1.0)


def number(value: Value) -> float:
    """The numeric value: of text, the number that it begins with."""
    if type(value) is float:
        return value
    return _text_number(value) if isinstance(value, str) else 0.0


def _text_number(text: str) -> float:
    if is_digits(text):
        return float(text) if len(text) < 300 else math.inf
    found = _PREFIX.match(text)
    if found is None:
        return 0.0
    digits = found[1]
    if "x" in digits or "X" in digits:
        return float(int(digits, 16)) if len(digits) < 250 else math.inf
    return float(digits)


def looks_numeric(text: str) -> bool:
    return _LOOKS.match(text) is not None


def string(value: Value, form: str = "%.6g") -> str:
    """The text of a value; `form` is CONVFMT (or OFMT)."""
    if type(value) is float:
        return number_text(value, form)
    return "" if value is None else str(value)


@lru_cache(maxsize=4096)
def number_text(value: float, form: str) -> str:
    if value != value:
        return "-nan" if math.copysign(1.0, value) < 0 else "nan"
    if -MAX_INT <= value <= MAX_INT and value == int(value):
        return str(int(value))
    try:
        return form % value
    except (TypeError, ValueError):
        return form


def truth(value: Value) -> bool:
    if type(value) is float:
        return value != 0.0
    if not value:
        return False
    if type(value) is Input and looks_numeric(value):
        return number(value) != 0.0
    return True


def compare(left: Value, right: Value, form: str) -> int:
    """Less than, equal to or greater than zero: as numbers where both are numbers or look like ones from outside."""
    if _numeric(left) and _numeric(right):
        first, second = number(left), number(right)
        return -1 if first < second else 1 if first > second else 0
    one, other = string(left, form), string(right, form)
    return -1 if one < other else 1 if one > other else 0


def _numeric(value: Value) -> bool:
    if type(value) is float or value is None:
        return True
    return type(value) is Input and looks_numeric(value)


def whole(value: float) -> int:
    """Cut to an integer, within the bounds of a C int, as mawk does."""
    if value != value:
        return -MAX_INT
    return int(value) if -MAX_INT < value < MAX_INT else MAX_INT if value > 0 else -MAX_INT
