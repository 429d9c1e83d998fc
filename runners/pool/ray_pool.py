"""The Ray executor: one actor a core, jobs in flight, a crashed worker or node replaced and its trials played again."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from runners.pool.backlog import Backlog
from runners.pool.chunking import ChunkSize
from runners.pool.executor import Stopping
from runners.pool.floor import Floor
from runners.pool.ray_start import start_ray
from runners.records_io import Line
from runners.trials import Job, Works, errored
from scenario_dsl.errors import HostError, InternalError

_AHEAD = 2
"""Chunks given to each worker at once: one that it plays and one that waits, so that it never idles."""
_LOOK = 1.0
"""Seconds between two looks at whether to stop, while nothing is finished."""
_FIRST_SECONDS = 120.0
"""How long the first worker may take to start."""
_MOST_HIRED = 5
"""Workers in a row, for each place, that may die before they play anything."""
_REMEDY = "see the workers' logs in /tmp/ray/session_latest/logs, or play with --executor local"


class _Player:
    """Lives in a worker process. It unpacks the work once, and its backend keeps what it has booted."""

    def __init__(self, works: Works) -> None:
        self._floor = Floor(works)

    def play(self, jobs: Sequence[Job]) -> tuple[tuple[Line, ...], float]:
        """The lines, and the seconds they took. Several calls take turns, whenever one waits for its agent."""
        return self._floor.play(jobs)

    def ready(self) -> bool:
        return True


@dataclass(slots=True)
class _Worker:
    """A place for a worker. `load`: chunks given to it; `waiting`: jobs that wait there; `alone`: a suspect has it."""

    player: Any
    hiring: Any
    load: int = 0
    waiting: int = 0
    alone: bool = False

    @property
    def here(self) -> bool:
        return self.hiring is None

    @property
    def idle(self) -> bool:
        return not (self.load or self.waiting or self.alone)


@dataclass(slots=True)
class _Sent:
    """Jobs under way: a chunk that computes, one job that waits, or a suspect alone."""

    jobs: tuple[Job, ...]
    worker: int
    kind: Literal["chunk", "waiting", "alone"]


class RayExecutor:
    """`workers`: None takes every CPU that Ray has. Each has `_places` threads for jobs that wait."""

    def __init__(self, workers: int | None = None) -> None:
        self._count = workers
        self._own = False
        self._works: Works | None = None
        self._shared: Any = None
        self._workers: list[_Worker] = []
        self._places = 0
        self._fruitless = 0

    def start(self, works: Works) -> None:
        self._own = start_ray(self._count)
        import ray

        self._works = works
        self._shared = ray.put(works)
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        count = self._count or max(1, int(resources.get("CPU", 1)))
        most = sum({lane.name: lane.most for work in works.values() for lane in work.lanes.values()}.values())
        self._places = -(-most // count)
        self._workers = [self._hired() for _ in range(count)]
        # All of them where that is quick; on a cluster that others use too, some come later.
        ray.wait([worker.hiring for worker in self._workers], num_returns=count, timeout=_FIRST_SECONDS / 4)
        ray.wait([worker.hiring for worker in self._workers], num_returns=1, timeout=_FIRST_SECONDS)
        self._welcome([worker.hiring for worker in self._workers])
        if not any(worker.here for worker in self._workers):
            raise HostError("no worker of Ray could be started", remedy=f"see that a CPU is free; {_REMEDY}")

    def play(self, jobs: Iterator[Job], stopping: Stopping) -> Iterator[Sequence[Line]]:
        if self._works is None or not self._workers:
            raise InternalError("an executor was asked to play before it was started")
        import ray

        size = ChunkSize(len(self._workers))
        backlog = Backlog(jobs, self._works)
        # Jobs whose worker died go alone, so that the one that kills its worker takes no others with it.
        suspects: deque[Job] = deque()
        losses: Counter[str] = Counter()
        sent: dict[Any, _Sent] = {}
        while True:
            if not stopping():
                self._send(backlog, suspects, size, sent)
            hiring = [worker.hiring for worker in self._workers if not worker.here]
            if not sent and (stopping() or not (hiring and (suspects or backlog.left))):
                return
            done, _ = ray.wait([*sent, *hiring], num_returns=1, timeout=_LOOK)
            self._welcome(done)
            for reference in done:
                if reference not in sent:
                    continue
                finished = sent.pop(reference)
                try:
                    lines, seconds = ray.get(reference)
                except ray.exceptions.RayError as error:
                    yield from self._lost(finished, backlog, suspects, losses, sent, error)
                    continue
                self._fruitless = 0
                self._free(finished, backlog)
                if finished.kind == "chunk":
                    size.measured(len(lines), seconds)
                yield lines

    def close(self) -> None:
        if not self._workers and not self._own:
            # Never started: then Ray, which takes its time to import, is not needed to stop it.
            return
        import ray

        for worker in self._workers:
            ray.kill(worker.player)
        self._workers = []
        self._works = self._shared = None
        if self._own:
            ray.shutdown()
            self._own = False

    def _send(self, backlog: Backlog, suspects: deque[Job], size: ChunkSize, sent: dict[Any, _Sent]) -> None:
        """Give the workers that are here as much as they take."""
        here = [index for index, worker in enumerate(self._workers) if worker.here and not worker.alone]
        if suspects and here:
            # One worker gets nothing more until it is idle, and then a suspect; the others go on.
            chosen = min(here, key=lambda index: (self._workers[index].load + self._workers[index].waiting, index))
            here.remove(chosen)
            if self._workers[chosen].idle:
                self._give(chosen, (suspects.popleft(),), "alone", sent)
        while here:
            index = min(here, key=lambda index: self._workers[index].waiting)
            if self._workers[index].waiting >= self._places or (job := backlog.take_waiting()) is None:
                break
            self._give(index, (job,), "waiting", sent)
        while here and backlog.computing:
            index = min(here, key=lambda index: self._workers[index].load)
            if self._workers[index].load >= _AHEAD:
                return
            self._give(index, backlog.take(size.next(backlog.computing)), "chunk", sent)

    def _give(
        self, index: int, jobs: tuple[Job, ...], kind: Literal["chunk", "waiting", "alone"], sent: dict[Any, _Sent]
    ) -> None:
        worker = self._workers[index]
        sent[worker.player.play.remote(jobs)] = _Sent(jobs, index, kind)
        worker.load += kind == "chunk"
        worker.waiting += kind == "waiting"
        worker.alone = kind == "alone"

    def _free(self, finished: _Sent, backlog: Backlog) -> None:
        worker = self._workers[finished.worker]
        worker.load -= finished.kind == "chunk"
        worker.waiting -= finished.kind == "waiting"
        worker.alone = False
        if finished.kind == "waiting":
            backlog.ended(finished.jobs[0])

    def _lost(
        self,
        first: _Sent,
        backlog: Backlog,
        suspects: deque[Job],
        losses: Counter[str],
        sent: dict[Any, _Sent],
        error: Exception,
    ) -> Iterator[Sequence[Line]]:
        """A worker died with all that it had been given. Hire another; a job that died alone is Errored."""
        import ray

        lost = [first]
        for reference in [reference for reference, entry in sent.items() if entry.worker == first.worker]:
            lost.append(sent.pop(reference))
        for entry in lost:
            self._free(entry, backlog)
        # It may be out of reach rather than dead; it must not play on beside the one that takes its place.
        ray.kill(self._workers[first.worker].player)
        self._workers[first.worker] = self._hired()
        jobs = [job for entry in lost for job in entry.jobs]
        if len(jobs) == 1:
            yield (Line.of(errored(jobs[0], f"the worker died: {type(error).__name__}", "worker")),)
            return
        suspects.extend(job for entry in lost if entry.kind == "chunk" for job in entry.jobs)
        # Many wait in one worker, each for minutes: one after the other they would take hours. So the first time they
        # only move, and who loses a worker again goes alone.
        waiting = [entry.jobs[0] for entry in lost if entry.kind == "waiting"]
        losses.update(job.trial_id for job in waiting)
        suspects.extend(job for job in waiting if losses[job.trial_id] > 1)
        backlog.again([job for job in waiting if losses[job.trial_id] <= 1])

    def _hired(self) -> _Worker:
        """A worker on its way. Where no CPU is free for it, it comes when one is, or never."""
        import ray

        kind: Any = ray.remote(_Player)
        threads = _AHEAD + self._places if self._places else 1
        player = kind.options(num_cpus=1, max_concurrency=threads).remote(self._shared)
        return _Worker(player=player, hiring=player.ready.remote())

    def _welcome(self, done: Sequence[Any]) -> None:
        """Note who has started. One that died at it is hired anew; when all do, it is this machine's trouble."""
        import ray

        for index, worker in enumerate(self._workers):
            if worker.here or worker.hiring not in done:
                continue
            ready, _ = ray.wait([worker.hiring], timeout=0)
            if not ready:
                continue
            try:
                ray.get(worker.hiring)
                worker.hiring = None
            except ray.exceptions.RayError as error:
                self._fruitless += 1
                if self._fruitless > _MOST_HIRED * len(self._workers):
                    reason = " ".join(str(error).split())[:300]
                    raise HostError(f"workers of Ray die as they start: {reason}", remedy=_REMEDY) from error
                self._workers[index] = self._hired()
