"""Who may play now, where many episodes go on at once, and what is prepared for those that come next."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, NamedTuple, Protocol, TypeVar

_FRESH_SECONDS = 120.0
"""How long a prepared world may wait. After that its trouble is older than its scenario says, and another is made."""


class _Closes(Protocol):
    def close(self) -> None: ...


World = TypeVar("World", bound=_Closes)


class Shut(BaseException):
    """Its turn will not come: the run is ending."""


class _Warm(NamedTuple, Generic[World]):
    world: World
    since: float


class Turns:
    """`at_once` episodes play, while the worlds of the next `ahead` ones are prepared.

    Such a warm world is the one that would have been opened, only earlier. It belongs to the thread that made it, which
    closes it on whatever way it leaves.
    """

    def __init__(self, at_once: int, ahead: int) -> None:
        self._at_once, self._playing, self._waiting = at_once, 0, 0
        self._ahead = threading.BoundedSemaphore(ahead)
        self._changed = threading.Condition()
        self._shut = False

    @contextmanager
    def take(self, prepare: Callable[[], World]) -> Iterator[World]:
        """A prepared world, and the right to play until the end of the block; the world is the caller's to close.

        Raises Shut, and what preparing raises.
        """
        warm = None if self._enter_at_once() else self._wait_with(prepare)
        try:
            if warm is not None and time.monotonic() - warm.since > _FRESH_SECONDS:
                warm.world.close()
                warm = None
            yield prepare() if warm is None else warm.world
        finally:
            with self._changed:
                self._playing -= 1
                self._changed.notify_all()

    def open(self) -> None:
        """Let in whoever comes."""
        with self._changed:
            self._shut = False

    def shut(self) -> None:
        """Send away whoever waits, and whoever comes; who plays plays to the end."""
        with self._changed:
            self._shut = True
            self._changed.notify_all()

    def _enter_at_once(self) -> bool:
        with self._changed:
            if self._shut:
                raise Shut
            free = self._playing + self._waiting < self._at_once
            self._playing += free
            return free

    def _wait_with(self, prepare: Callable[[], World]) -> _Warm[World]:
        """Prepare a world while others play, then wait for a turn."""
        with self._ahead:
            with self._changed:
                self._waiting += 1
            world: World | None = None
            try:
                world = prepare()
                warm = _Warm(world, time.monotonic())
                self._enter()
                return warm
            except BaseException:
                if world is not None:
                    world.close()
                raise
            finally:
                with self._changed:
                    self._waiting -= 1

    def _enter(self) -> None:
        with self._changed:
            while self._playing >= self._at_once and not self._shut:
                self._changed.wait()
            if self._shut:
                raise Shut
            self._playing += 1
