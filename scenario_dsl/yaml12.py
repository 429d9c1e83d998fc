"""Plain scalars by the core schema of YAML 1.2: `0644` is no octal, `on` no boolean, `1:30` no number.

Source: YAML 1.2.2, section 10.3.2 (tag resolution of the core schema).
"""

from __future__ import annotations

import re

from scenario_dsl.values import LARGEST_NUMBER, Scalar

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_UNBOUND = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


class NumberOutOfRange(ValueError):  # noqa: N818 (it reads as what it is)
    """A number that JSON cannot keep: too large, infinite, or not a number."""


def resolve(text: str) -> Scalar:
    """The value of a plain scalar; raises NumberOutOfRange."""
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text):
        number = float(text)
        if not abs(number) <= LARGEST_NUMBER:
            raise NumberOutOfRange(text)
        return number
    if _UNBOUND.fullmatch(text):
        raise NumberOutOfRange(text)
    return text


def _integer(text: str) -> int:
    # Checked by length first: Python refuses to convert thousands of digits.
    if len(text.lstrip("-+0")) > 20:
        raise NumberOutOfRange(text)
    base = {"0o": 8, "0x": 16}.get(text[:2])
    number = int(text[2:], base) if base else int(text)
    if abs(number) > LARGEST_NUMBER:
        raise NumberOutOfRange(text)
    return number
