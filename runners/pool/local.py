"""The in-process executor: one trial after the other, for debugging and for a fair comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from runners.pool.executor import Stopping, play_chunk
from runners.records_io import Line
from runners.trials import Job, Work
from scenario_dsl.errors import InternalError

_CHUNK = 20


class LocalExecutor:
    def __init__(self) -> None:
        self._work: Work | None = None

    def start(self, work: Work) -> None:
        self._work = work

    def play(self, jobs: Iterator[Job], stopping: Stopping) -> Iterator[Sequence[Line]]:
        if self._work is None:
            raise InternalError("an executor was asked to play before it was started")
        while not stopping():
            chunk = tuple(islice(jobs, _CHUNK))
            if not chunk:
                return
            yield play_chunk(chunk, self._work)

    def close(self) -> None:
        self._work = None
