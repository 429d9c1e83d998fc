"""The Ray executor: one actor a core, chunks of trials in flight, a crashed worker replaced and its trials retried."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from runners.pool.chunking import ChunkSize
from runners.pool.executor import Stopping, play_chunk
from runners.pool.ray_start import start_ray
from runners.records_io import Line
from runners.trials import Job, Work, errored
from scenario_dsl.errors import InternalError

_AHEAD = 2
"""Chunks given to each worker at once: one that it plays and one that waits, so that it never idles."""
_LOOKAHEAD = 4096
"""Jobs taken from the plan at a time, which is also how far the end of it is seen coming."""


class _Player:
    """Lives in a worker process. It unpacks the work once, and its backend keeps what it has booted."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def play(self, jobs: Sequence[Job]) -> tuple[tuple[Line, ...], float]:
        """The lines, and the seconds they took."""
        begun = time.perf_counter()
        lines = play_chunk(jobs, self._work)
        return lines, time.perf_counter() - begun

    def ready(self) -> bool:
        return True


@dataclass(slots=True)
class _Sent:
    """A chunk under way. `weight`: how many of its worker's places it takes; a suspect takes all of them."""

    jobs: tuple[Job, ...]
    worker: int
    weight: int


class RayExecutor:
    """`workers`: None takes every CPU that Ray has."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers
        self._own = False
        self._work: Any = None
        self._players: list[Any] = []

    def start(self, work: Work) -> None:
        self._own = start_ray(self._workers)
        import ray

        self._work = ray.put(work)
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        count = self._workers or max(1, int(resources.get("CPU", 1)))
        self._players = [self._hire() for _ in range(count)]
        ray.get([player.ready.remote() for player in self._players])

    def play(self, jobs: Iterator[Job], stopping: Stopping) -> Iterator[Sequence[Line]]:
        if not self._players:
            raise InternalError("an executor was asked to play before it was started")
        import ray

        size = ChunkSize(len(self._players))
        waiting: deque[Job] = deque()
        # Jobs whose worker died go alone, so that the one that kills its worker takes no others with it.
        suspects: deque[Job] = deque()
        sent: dict[Any, _Sent] = {}
        load = [0] * len(self._players)
        while True:
            if not stopping():
                while len(waiting) < _LOOKAHEAD and (more := tuple(islice(jobs, _LOOKAHEAD))):
                    waiting.extend(more)
                while (waiting or suspects) and min(load) < _AHEAD:
                    worker = load.index(min(load))
                    chunk: tuple[Job, ...]
                    if suspects:
                        if load[worker] > 0:
                            break
                        chunk, weight = (suspects.popleft(),), _AHEAD
                    else:
                        count = min(len(waiting), size.next(len(waiting)))
                        chunk, weight = tuple(waiting.popleft() for _ in range(count)), 1
                    sent[self._players[worker].play.remote(chunk)] = _Sent(chunk, worker, weight)
                    load[worker] += weight
            if not sent:
                return
            (done,), _ = ray.wait(list(sent), num_returns=1)
            finished = sent.pop(done)
            load[finished.worker] -= finished.weight
            try:
                lines, seconds = ray.get(done)
            except ray.exceptions.RayError as error:
                yield from self._lost(finished, sent, load, suspects, error)
                continue
            size.measured(len(lines), seconds)
            yield lines

    def close(self) -> None:
        if not self._players and not self._own:
            # Never started: then Ray, which takes its time to import, is not needed to stop it.
            return
        import ray

        for player in self._players:
            ray.kill(player)
        self._players = []
        self._work = None
        if self._own:
            ray.shutdown()
            self._own = False

    def _lost(
        self, first: _Sent, sent: dict[Any, _Sent], load: list[int], suspects: deque[Job], error: Exception
    ) -> Iterator[Sequence[Line]]:
        """A worker died with all that it had been given. Hire another; a job that died alone is Errored."""
        lost = [first]
        for reference in [reference for reference, entry in sent.items() if entry.worker == first.worker]:
            lost.append(sent.pop(reference))
        load[first.worker] = 0
        self._players[first.worker] = self._hire()
        jobs = [job for entry in lost for job in entry.jobs]
        if len(jobs) == 1:
            yield (Line.of(errored(jobs[0], f"the worker died: {type(error).__name__}", "worker")),)
        else:
            suspects.extend(jobs)

    def _hire(self) -> Any:
        import ray

        return ray.remote(num_cpus=1)(_Player).remote(self._work)
