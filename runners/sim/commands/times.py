"""Dates as date -d, touch -d and find -newermt read them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from runners.sim.clock import moment

_UNITS = {
    "sec": 1, "second": 1, "min": 60, "minute": 60, "hour": 3600, "day": 86400, "week": 604800, "fortnight": 1209600,
}  # fmt: skip
_RELATIVE = re.compile(
    r"([-+]?\s*\d+|an?|last|next)\s*(sec|second|min|minute|hour|day|week|fortnight|month|year)s?(\s+ago)?\b", re.I
)
_DATES = (
    (re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})"), ("year", "month", "day")),
    (re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})"), ("year", "month", "day")),
    (re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})"), ("month", "day", "year")),
    (re.compile(r"\b(\d{4})(\d{2})(\d{2})\b"), ("year", "month", "day")),
)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
_NAMED = re.compile(r"(?:(\d{1,2})[ -]([A-Za-z]{3,9})(?:[ -](\d{4}))?|([A-Za-z]{3,9}) (\d{1,2})(?:,? (\d{4})\b)?)")
_TIME = re.compile(r"(?:T|\b)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s*([ap]m)?", re.I)
_ZONE = re.compile(r"\b(?:UTC|GMT|Z)\b|(?<=\d)Z|(?<=\s)([-+])(\d{2}):?(\d{2})$|(?<=\d)([-+])(\d{2}):?(\d{2})$")

_LATEST = 253402300800.0
"""Seconds since the epoch at the end of the year 9999, the last that can be written."""


def parse_date(text: str, now: float) -> float | None:
    """Seconds since the epoch, or None where it is no date. Without a zone, UTC."""
    rest = text.strip()
    if rest.startswith("@"):
        try:
            seconds = float(rest[1:])
        except ValueError:
            return None
        return seconds if abs(seconds) < _LATEST else None
    at = moment(now)
    shift = timedelta()
    zone = _ZONE.search(rest)
    offset = 0
    if zone is not None and (zone.group(0) in ("UTC", "GMT", "Z") or _TIME.search(rest)):
        sign, hours, minutes = (
            zone.group(1) or zone.group(4),
            zone.group(2) or zone.group(5),
            zone.group(3) or zone.group(6),
        )
        if sign:
            offset = (int(hours) * 60 + int(minutes)) * 60 * (1 if sign == "+" else -1)
        rest = rest[: zone.start()] + rest[zone.end() :]
    fixed = False
    try:
        for pattern, fields in _DATES:
            match = pattern.search(rest)
            if match is not None:
                parts = dict(zip(fields, (int(piece) for piece in match.groups()), strict=True))
                at = at.replace(hour=0, minute=0, second=0, microsecond=0, **parts)  # type: ignore[arg-type]
                rest = rest[: match.start()] + " " + rest[match.end() :]
                fixed = True
                break
        else:
            named = _NAMED.search(rest)
            if named is not None:
                day, month = named.group(1) or named.group(5), (named.group(2) or named.group(4)).lower()[:3]
                if month in _MONTHS:
                    year = int(named.group(3) or named.group(6) or at.year)
                    at = at.replace(
                        year=year,
                        month=_MONTHS.index(month) + 1,
                        day=int(day),
                        hour=0,
                        minute=0,
                        second=0,
                        microsecond=0,
                    )
                    rest = rest[: named.start()] + " " + rest[named.end() :]
                    fixed = True
        clock = _TIME.search(rest)
        if clock is not None:
            hour = int(clock.group(1))
            if clock.group(5):
                hour = hour % 12 + (12 if clock.group(5).lower() == "pm" else 0)
            micro = int((clock.group(4) or "0")[:6].ljust(6, "0"))
            at = at.replace(hour=hour, minute=int(clock.group(2)), second=int(clock.group(3) or 0), microsecond=micro)
            rest = rest[: clock.start()] + " " + rest[clock.end() :]
            fixed = True
        for match in list(_RELATIVE.finditer(rest)):
            shift += _relative(match, at)
            rest = rest.replace(match.group(), " ", 1)
        at, shift, rest = _words(rest, at, shift, fixed)
        if rest.strip():
            return None
        return (at + shift).timestamp() - offset
    except (ValueError, OverflowError):
        return None


def _relative(match: re.Match[str], at: datetime) -> timedelta:
    count_text = match.group(1).replace(" ", "").lower()
    count = {"a": 1, "an": 1, "next": 1, "last": -1}.get(count_text)
    if count is None:
        count = int(count_text)
    if match.group(3):
        count = -count
    unit = match.group(2).lower()
    if unit in _UNITS:
        return timedelta(seconds=_UNITS[unit] * count)
    months = count * (12 if unit == "year" else 1)
    total = at.year * 12 + at.month - 1 + months
    year, month = divmod(total, 12)
    day = at.day
    base = at.replace(year=year, month=month + 1, day=1) + timedelta(days=day - 1)
    return base - at


def _words(rest: str, at: datetime, shift: timedelta, fixed: bool) -> tuple[datetime, timedelta, str]:
    left: list[str] = []
    for word in rest.lower().replace(",", " ").split():
        if word in ("now", "today"):
            continue
        if word == "yesterday":
            shift -= timedelta(days=1)
        elif word == "tomorrow":
            shift += timedelta(days=1)
        elif word in ("midnight",) or word == "noon":
            at = at.replace(hour=12 if word == "noon" else 0, minute=0, second=0, microsecond=0)
        elif word[:3] in _DAYS and len(word) in (3, 6, 7, 8, 9):
            days = (_DAYS.index(word[:3]) - at.weekday()) % 7
            if not fixed:
                at = at.replace(hour=0, minute=0, second=0, microsecond=0)
                shift += timedelta(days=days)
        elif word not in ("last", "next", "ago"):
            left.append(word)
        elif word == "last":
            shift -= timedelta(days=7)
    return at, shift, " ".join(left)
