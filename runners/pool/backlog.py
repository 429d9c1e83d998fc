"""What is still to be sent: jobs that compute, in the plan's order, and jobs that wait, a queue for each lane."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import islice

from runners.trials import Job, Lane, Works

_AHEAD = 4096
"""Computing jobs that are taken from the plan in advance, which is also how far its end is seen coming."""
_MOST = 50_000
"""Jobs held at the most: where almost all of them wait, the plan is not unrolled just to find one that computes."""


class Backlog:
    """Takes jobs from the plan as they are asked for. A lane gives no more than it may have under way."""

    def __init__(self, jobs: Iterator[Job], works: Works) -> None:
        self._jobs = jobs
        self._works = works
        self._computing: deque[Job] = deque()
        self._waiting: dict[str, deque[Job]] = {}
        self._under_way: Counter[str] = Counter()
        self._held = 0

    @property
    def computing(self) -> int:
        """Jobs that compute and were not yet sent, as far as they are seen."""
        self._fill()
        return len(self._computing)

    @property
    def left(self) -> bool:
        """Is there anything that was not yet sent?"""
        return self.computing > 0 or any(self._waiting.values())

    def take(self, count: int) -> tuple[Job, ...]:
        """The next jobs that compute."""
        self._held -= min(count, len(self._computing))
        return tuple(self._computing.popleft() for _ in range(min(count, len(self._computing))))

    def take_waiting(self) -> Job | None:
        """A job that waits and may begin now, the least busy lane's first."""
        self._fill()
        free = [
            (self._under_way[name], name)
            for name, jobs in self._waiting.items()
            if jobs and self._under_way[name] < self._lane(jobs[0]).most
        ]
        if not free:
            return None
        _, name = min(free)
        self._under_way[name] += 1
        self._held -= 1
        return self._waiting[name].popleft()

    def ended(self, job: Job) -> None:
        """A waiting job is under way no more."""
        self._under_way[self._lane(job).name] -= 1

    def again(self, jobs: Sequence[Job]) -> None:
        """Jobs that wait and were lost on the way: they come first."""
        for job in reversed(jobs):
            self._waiting.setdefault(self._lane(job).name, deque()).appendleft(job)
            self._held += 1

    def _waits(self, job: Job) -> bool:
        return job.trial.agent in self._works[job.trial.backend].lanes

    def _lane(self, job: Job) -> Lane:
        return self._works[job.trial.backend].lanes[job.trial.agent]

    def _fill(self) -> None:
        while len(self._computing) < _AHEAD and self._held < _MOST:
            more = tuple(islice(self._jobs, _AHEAD))
            if not more:
                return
            self._held += len(more)
            for job in more:
                if self._waits(job):
                    self._waiting.setdefault(self._lane(job).name, deque()).append(job)
                else:
                    self._computing.append(job)
