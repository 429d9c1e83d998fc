"""Virtual time. It moves only when something that takes time happens, never by the host's clock."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

_FIRST, _LAST = -62135596800.0, 253402300799.0
"""The years 1 and 9999: beyond them times cannot be written."""


def moment(at: float) -> datetime:
    """Seconds since the epoch as an aware UTC time, no earlier and no later than can be written."""
    return datetime.fromtimestamp(min(max(at, _FIRST), _LAST), UTC)


def to_microseconds(at: float) -> tuple[int, int]:
    """Whole seconds and microseconds, rounded as `datetime` does."""
    whole = int(at)
    micros = round((at - whole) * 1e6)
    return (whole + 1, micros - 1_000_000) if micros >= 1_000_000 else (whole, micros)


@lru_cache(maxsize=4096)
def _written(second: int, form: str) -> str:
    return datetime.fromtimestamp(second, UTC).strftime(form)


class Clock:
    """`now`: seconds since the epoch; `boot`: when the machine started; both virtual."""

    __slots__ = ("boot", "now")

    def __init__(self, now: float, boot: float) -> None:
        self.now = now
        self.boot = boot

    def fork(self) -> Clock:
        return Clock(self.now, self.boot)

    def written(self, form: str, at: float | None = None) -> str:
        """`at` (or now) as `strftime` writes it, by a form that shows no more than seconds."""
        given = self.now if at is None else at
        if 0.0 <= given < _LAST:
            second = int(given)
            return _written(second if given - second < 0.999 else to_microseconds(given)[0], form)
        return moment(given).strftime(form)

    def time(self, at: float | None = None) -> datetime:
        """`at` (or now) as an aware UTC time: the machine's time zone is UTC."""
        return moment(self.now if at is None else at)
