"""So many places, of which a world takes one for each of its machines."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from runners.turns import Shut


class Places:
    """Who wants several waits until all of them are free at once; more than there are counts as all."""

    def __init__(self, total: int) -> None:
        self._total = self._free = total
        self._changed = threading.Condition()
        self._shut = False

    def take(self, count: int) -> None:
        """Raises Shut."""
        with self._changed:
            self._changed.wait_for(lambda: self._shut or self._free >= min(count, self._total))
            if self._shut:
                raise Shut
            self._free -= min(count, self._total)

    def shut(self) -> None:
        """Send away whoever waits, and whoever comes."""
        with self._changed:
            self._shut = True
            self._changed.notify_all()

    def give(self, count: int) -> None:
        with self._changed:
            self._free += min(count, self._total)
            self._changed.notify_all()

    @contextmanager
    def taken(self, count: int) -> Iterator[None]:
        self.take(count)
        try:
            yield
        finally:
            self.give(count)
