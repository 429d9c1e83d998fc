"""What systemd remembers of its units: immutable records in a handle."""

from __future__ import annotations

from collections.abc import Mapping


class SystemdState:
    """Runtime state of all units, by full unit name."""

    __slots__ = ("units",)

    def __init__(self) -> None:
        self.units: Mapping[str, object] = {}

    def fork(self) -> SystemdState:
        other = SystemdState()
        other.units = self.units
        return other
