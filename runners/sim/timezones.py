"""Time zones as a process's TZ names them. The machine itself keeps UTC."""

from __future__ import annotations

import re
from datetime import UTC, timedelta, timezone, tzinfo
from functools import lru_cache
from importlib.resources import files
from zoneinfo import ZoneInfo

_FIXED = re.compile(r"(?:<([A-Za-z0-9+-]{3,})>|([A-Za-z]{3,}))([-+]?)([0-9]{1,2})(?::([0-9]{2}))?")
_NAME = re.compile(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)*")
_LETTERS = re.compile(r"[A-Za-z]*")


def zone_of(tz: str | None) -> tzinfo:
    """By the zone's name, or written out (`UTC-3`, `<+03>-3`; the sign says what to add to get UTC). What names none is
    UTC that is called by its first letters, as in glibc."""
    if not tz:
        return UTC
    name = tz.removeprefix(":")
    if fixed := _FIXED.fullmatch(name):
        bracketed, plain, sign, hours, minutes = fixed.groups()
        offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
        if offset < timedelta(hours=24):
            return timezone(offset if sign == "-" else -offset, bracketed or plain)
    return _named(name) or timezone(timedelta(0), begun[0] if (begun := _LETTERS.match(name)) and begun[0] else "UTC")


@lru_cache(maxsize=64)
def _named(name: str) -> tzinfo | None:
    """Out of the package tzdata, never out of the host's own: the same on any machine."""
    if _NAME.fullmatch(name) is None:
        return None
    try:
        with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as data:
            return ZoneInfo.from_file(data, key=name)
    except (OSError, ValueError):
        return None


def offset(text: str, colons: int) -> str:
    """An offset as %z writes it, `+hhmmss` at most, with so many colons."""
    hours, minutes, seconds = text[:3], text[3:5], text[5:7] or "00"
    return (f"{hours}{minutes}", f"{hours}:{minutes}", f"{hours}:{minutes}:{seconds}", hours)[colons]
