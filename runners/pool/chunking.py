"""How many trials travel together: enough that sending them costs little, few enough that nobody waits at the end."""

from __future__ import annotations

_FIRST = 4
_LARGEST = 64
_TARGET_SECONDS = 0.2
_SMOOTHING = 0.3


class ChunkSize:
    """Sizes chunks by what trials turn out to cost."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._cost: float | None = None

    def measured(self, jobs: int, seconds: float) -> None:
        """A chunk of so many jobs took so long."""
        cost = max(seconds / jobs, 1e-6)
        self._cost = cost if self._cost is None else (1 - _SMOOTHING) * self._cost + _SMOOTHING * cost

    def next(self, remaining: int) -> int:
        """The size for the next chunk, with so many jobs not yet sent. At least 1."""
        wanted = _FIRST if self._cost is None else int(_TARGET_SECONDS / self._cost)
        # Towards the end the chunks get smaller, so that all workers finish together.
        fair = -(-remaining // (2 * self._workers))
        return max(1, min(wanted, fair, _LARGEST))
