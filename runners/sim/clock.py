"""Virtual time. It moves only when something that takes time happens, never by the host's clock."""

from __future__ import annotations

from datetime import UTC, datetime


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
        return datetime.fromtimestamp(self.now if at is None else at, UTC)
