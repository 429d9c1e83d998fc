"""The filters and operators of templates, each bounded before it computes."""

from __future__ import annotations

import math
import operator
import posixpath
import re
import shlex
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from scenario_dsl.values import LARGEST_NUMBER, Value

MAX_TEXT = 1 << 16
MAX_ITEMS = 1 << 12
MAX_BITS = 128
"""Results beyond these are refused: no document needs them, and `9 ** 9 ** 9` would not end."""


class TooLarge(ValueError):  # noqa: N818 (it reads as what it is)
    """A result that would be larger than a template may make."""


def bounded(value: Any) -> Any:
    """The value itself; raises TooLarge."""
    if isinstance(value, str) and len(value) > MAX_TEXT:
        raise TooLarge(f"a text longer than {MAX_TEXT} characters")
    if isinstance(value, list | tuple | dict) and len(value) > MAX_ITEMS:
        raise TooLarge(f"more than {MAX_ITEMS} items")
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise TooLarge(f"a number of more than {MAX_BITS} bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise TooLarge("a number that is not finite")
    return value


def kept(value: Value) -> Value:
    """The result of a whole expression, which a bundle has to keep; raises TooLarge for numbers that it would not."""
    if isinstance(value, int | float) and abs(value) > LARGEST_NUMBER:
        raise TooLarge("a number above 2^53, which would not be kept exactly")
    for item in value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple) else ():
        kept(item)
    return value


_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "/": operator.truediv,
        "//": operator.floordiv,
        "%": operator.mod,
        "**": operator.pow,
    }
)


def bounded_binop(sign: str, left: Any, right: Any) -> Any:
    """`left sign right`; raises TooLarge before computing what would be too large."""
    if sign == "%" and isinstance(left, str):
        raise TypeError("`%` formats no text here; use `~`")
    if sign == "**":
        if not isinstance(left, int | float) or not isinstance(right, int | float):
            raise TypeError("`**` takes numbers")
        if isinstance(left, int) and isinstance(right, int) and max(1, left.bit_length()) * right > MAX_BITS:
            raise TooLarge(f"a number of more than {MAX_BITS} bits")
    if sign == "*":
        for sequence, count in ((left, right), (right, left)):
            if isinstance(sequence, str | list | tuple) and isinstance(count, int):
                most = MAX_TEXT if isinstance(sequence, str) else MAX_ITEMS
                if len(sequence) * count > most:
                    raise TooLarge(f"more than {most} characters or items")
    return bounded(_OPERATORS[sign](left, right))


def _default(value: Any, fallback: Any = "", boolean: bool = False) -> Any:
    undefined = type(value).__name__ == "StrictUndefined"
    return fallback if undefined or value is None or (boolean and not value) else value


def _replace(value: Any, old: Any, new: Any) -> str:
    text, old, new = str(value), str(old), str(new)
    if not old:
        raise ValueError("`replace` needs a text to replace")
    if len(text) + text.count(old) * len(new) > MAX_TEXT:
        raise TooLarge(f"a text longer than {MAX_TEXT} characters")
    return text.replace(old, new)


def _join(value: Any, separator: Any = "") -> str:
    items = [str(item) for item in value]
    if sum(map(len, items)) + len(str(separator)) * len(items) > MAX_TEXT:
        raise TooLarge(f"a text longer than {MAX_TEXT} characters")
    return str(separator).join(items)


def _int(value: Any) -> int:
    if isinstance(value, str) and len(value) > 20:
        raise TooLarge("a number of more than 20 digits")
    return int(value)


def _items(value: Any) -> list[Any]:
    return list(bounded(value))


def _first(value: Any) -> Any:
    return value[0]


def _last(value: Any) -> Any:
    return value[-1]


def _split(value: Any, separator: Any = None) -> list[str]:
    return str(value).split(None if separator is None else str(separator))[:MAX_ITEMS]


def _bound(work: Callable[..., Any]) -> Callable[..., Any]:
    """The filter with its result bounded, so that no chain of filters grows step by step."""

    def filtered(*arguments: Any) -> Any:
        return bounded(work(*arguments))

    return filtered


_WORK: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "default": _default,
        "lower": lambda value: str(value).lower(),
        "upper": lambda value: str(value).upper(),
        "trim": lambda value: str(value).strip(),
        "replace": _replace,
        "regex_escape": lambda value: re.escape(str(value)),
        "quote": lambda value: shlex.quote(str(value)),
        "basename": lambda value: posixpath.basename(str(value)),
        "dirname": lambda value: posixpath.dirname(str(value)),
        "split": _split,
        "join": _join,
        "length": len,
        "first": _first,
        "last": _last,
        "list": _items,
        "reverse": lambda value: value[::-1],
        "sort": lambda value: sorted(_items(value)),
        "int": _int,
        "float": float,
        "string": str,
        "abs": abs,
    }
)
FILTERS: Mapping[str, Callable[..., Any]] = MappingProxyType({name: _bound(work) for name, work in _WORK.items()})
