"""Several worlds at once, where a backend's worlds mostly wait because their time is the real one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Generic, Self, TypeVar

from runners.worlds import Backend, Crowded, LiveWorld

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def turn(backend: Backend, prepare: Callable[[], LiveWorld]) -> Iterator[LiveWorld]:
    """A prepared world to play in, as soon as the backend has room for one more episode. The caller closes it."""
    if isinstance(backend, Crowded):
        with backend.turns.take(prepare) as live:
            yield live
    else:
        yield prepare()


def each(backend: Backend, work: Callable[[Item], Result], items: Iterable[Item]) -> tuple[Result, ...]:
    """Do the work on every item, side by side where the backend's worlds mostly wait; results in their order.

    Nobody who holds a world open may wait for others that still have to be opened: there are only so many.
    """
    given = tuple(items)
    if len(given) < 2 or not isinstance(backend, Crowded):
        return tuple(map(work, given))
    with ThreadPoolExecutor(min(len(given), backend.at_once)) as pool:
        try:
            return tuple(pool.map(work, given))
        except KeyboardInterrupt:
            # Who is at work in a world finds it gone and ends, for nobody wants to wait until all of it is done.
            backend.abandon()
            raise


class Ahead(Generic[Result]):
    """One piece of work that may be begun before it is known whether its result will be wanted, while the one who will
    want it waits. Nobody else's result depends on when it is done. At the end of the block it is over."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._pool = ThreadPoolExecutor(1)
        self._begun: Future[Result] | None = None

    def __enter__(self) -> Self:
        return self

    def begin(self, work: Callable[[], Result]) -> None:
        """Begin with it, where the backend's worlds mostly wait."""
        if isinstance(self._backend, Crowded):
            self._begun = self._pool.submit(work)

    def result(self, work: Callable[[], Result]) -> Result:
        """What the work that was begun gives, or, where none was, what this does. Raises what the work raises."""
        return work() if self._begun is None else self._begun.result()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is KeyboardInterrupt and isinstance(self._backend, Crowded):
            self._backend.abandon()
        # What nobody wants is played to its end: its worlds are closed where they were opened.
        self._pool.shutdown()


class Once(Generic[Result]):
    """Something that several threads want: whoever is the first makes it, and the others wait for that."""

    def __init__(self, make: Callable[[], Result]) -> None:
        self._make = make
        self._made: list[Result] = []
        self._lock = threading.Lock()

    def __call__(self) -> Result:
        """Raises what making it raises; then the next one tries anew."""
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]
