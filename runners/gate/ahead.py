"""Worlds of the gate that are opened while the episode before it is still being watched."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from runners.worlds import LiveWorld
from scenario_dsl.worlds import World


class Ahead:
    """Each world that was begun is taken once, as if it had been opened then; `close` closes what nobody took."""

    def __init__(self) -> None:
        self._begun: dict[str, list[Future[LiveWorld]]] = {}
        self._lock = threading.Lock()

    def begin(self, opener: Callable[[World], LiveWorld], worlds: Sequence[World]) -> None:
        """Begin to open them, side by side. A world may be wanted several times."""
        pool = ThreadPoolExecutor(max(1, len(worlds)))
        with self._lock:
            for world in worlds:
                self._begun.setdefault(world.name, []).append(pool.submit(opener, world))
        pool.shutdown(wait=False)

    def take(self, world: World) -> LiveWorld | None:
        """One of these, once it is open; None where none was begun. Raises what opening it raised."""
        with self._lock:
            begun = self._begun.get(world.name)
            opening = begun.pop() if begun else None
        return None if opening is None else opening.result()

    def close(self) -> None:
        with self._lock:
            left = [opening for begun in self._begun.values() for opening in begun]
            self._begun.clear()
        for opening in left:
            # One that did not open leaves nothing, and nobody wants to know why any more.
            with suppress(BaseException):
                opening.result().close()
