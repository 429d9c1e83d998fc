"""Virtual time. It moves only when something that takes time happens, never by the host's clock."""

from __future__ import annotations

from datetime import UTC, datetime

_FIRST, _LAST = -62135596800.0, 253402300799.0
"""The years 1 and 9999: beyond them times cannot be written."""


def moment(at: float) -> datetime:
    """Seconds since the epoch as an aware UTC time, no earlier and no later than can be written."""
    return datetime.fromtimestamp(min(max(at, _FIRST), _LAST), UTC)


class Clock:
    """`now`: seconds since the epoch; `boot`: when the machine started; both virtual."""

    __slots__ = ("boot", "now")

    def __init__(self, now: float, boot: float) -> None:
        self.now = now
        self.boot = boot

    def fork(self) -> Clock:
        return Clock(self.now, self.boot)

    def time(self, at: float | None = None) -> datetime:
        """`at` (or now) as an aware UTC time: the machine's time zone is UTC."""
        return moment(self.now if at is None else at)
