"""When a line of a log file was written, as the usual formats say it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

_MONTHS = {
    "Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "May": 5, "Jun": 6,
    "Jul": 7, "Aug": 8, "Sep": 9, "Oct": 10, "Nov": 11, "Dec": 12,
}  # fmt: skip
_ISO = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,6}))?(Z|[+-]\d\d:?\d\d)?")
_CLF = re.compile(r"\[(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-]\d{4})\]")
_WORDS = re.compile(r"(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d)")
_SYSLOG = re.compile(r"\A([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d) ")
_SEARCHED = 120
"""The time stands near the beginning of a line, behind at most a client's address."""


def written(line: str, now: float) -> float | None:
    """Seconds since the epoch, or None where no time is found. `now` gives the year to formats without one.

    Formats: ISO 8601 and the like (rsyslog, postgres, nginx's error log), the access log's, redis', traditional syslog.
    Times without a zone are UTC.
    """
    head = line[:_SEARCHED]
    try:
        if match := _ISO.search(head):
            date, clock = (int(match[1]), int(match[2]), int(match[3])), (match[4], match[5], match[6])
            return _seconds(date, clock, match[8]) + float(f"0.{match[7] or 0}")
        if match := _CLF.search(head):
            date = (int(match[3]), _MONTHS[match[2]], int(match[1]))
            return _seconds(date, (match[4], match[5], match[6]), match[7])
        if match := _WORDS.search(head):
            date = (int(match[3]), _MONTHS[match[2]], int(match[1]))
            return _seconds(date, (match[4], match[5], match[6]), None)
        if match := _SYSLOG.search(head):
            year = datetime.fromtimestamp(now, UTC).year
            at = _seconds((year, _MONTHS[match[1]], int(match[2])), (match[3], match[4], match[5]), None)
            return at if at <= now + 86400 else at - 365 * 86400
    except (ValueError, KeyError):
        return None
    return None


def recent(lines: Iterator[str], since: float, now: float) -> Iterator[str]:
    """Lines written at or after `since`. A line without a time belongs to the one before it."""
    at: float | None = None
    for line in lines:
        found = written(line, now)
        at = found if found is not None else at
        if at is not None and at >= since:
            yield line


def _seconds(date: tuple[int, int, int], clock: tuple[str, str, str], zone: str | None) -> float:
    hour, minute, second = map(int, clock)
    moment = datetime(*date, hour, minute, second, tzinfo=UTC)
    if zone and zone != "Z":
        sign = -1 if zone[0] == "-" else 1
        digits = zone[1:].replace(":", "")
        moment -= sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return moment.timestamp()
