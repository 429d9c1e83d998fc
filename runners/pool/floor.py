"""Where the jobs of one process are played: those that compute one at a time, those whose worlds wait side by side."""

from __future__ import annotations

import time
from collections.abc import Sequence

from runners.pool.turnstile import Turnstile, with_turnstile
from runners.records_io import Line
from runners.trials import Job, Work, Works, run_trial
from runners.worlds import Crowded


class Floor:
    """Any number of threads may play here at once: each takes its turn."""

    def __init__(self, works: Works) -> None:
        self._narrow, self._wide = Turnstile(), Turnstile(wide=True)
        self._works = {name: with_turnstile(work, self._of(work)) for name, work in works.items()}

    def play(self, jobs: Sequence[Job]) -> tuple[tuple[Line, ...], float]:
        """The lines, and the seconds that playing took, turns not counted. Raises Shut when nobody is let in."""
        lines: list[Line] = []
        seconds = 0.0
        for job in jobs:
            work = self._works[job.trial.backend]
            with self._of(work).inside():
                begun = time.perf_counter()
                lines.append(Line.of(run_trial(job, work)))
                seconds += time.perf_counter() - begun
        return tuple(lines), seconds

    def shut(self) -> None:
        """Let nobody in any more; who computes finishes first."""
        self._narrow.shut()
        self._wide.shut()

    def _of(self, work: Work) -> Turnstile:
        return self._wide if isinstance(work.backend, Crowded) else self._narrow
