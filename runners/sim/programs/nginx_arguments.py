"""Arguments of nginx's directives as values."""

from __future__ import annotations

import re

from runners.sim.programs.nginx_grammar import Directive
from runners.text import is_digits


def returned(one: Directive | None) -> tuple[int, str] | None:
    if one is None:
        return None
    if is_digits(one.args[0]):
        return int(one.args[0]), one.args[1] if len(one.args) > 1 else ""
    return 302, one.args[0]


def seconds(text: str) -> float:
    """`1m30s`; what is no time is the default."""
    parts = re.findall(r"(\d+)(ms|[smhdwyM]?)", text)
    return sum(int(number) * _UNITS[unit or "s"] for number, unit in parts) if parts else 60.0


_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800, "M": 2592000, "y": 31536000}


def expires(text: str) -> int | None:
    """Seconds that a client may keep an answer; -1: none at all, None: nothing is said of it."""
    if text == "off":
        return None
    if text == "epoch" or text.startswith("-"):
        return -1
    if text == "max":
        return 315360000
    return int(seconds(text))


def size(text: str) -> int:
    match = re.fullmatch(r"(\d+)([kKmMgG]?)", text)
    return int(match[1]) * {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}.get(match[2].lower(), 1) if match else 1 << 20
