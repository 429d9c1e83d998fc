"""The in-process executor: one trial after the other, and beside them those that wait, each in a thread of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from runners.pool.backlog import Backlog
from runners.pool.executor import Stopping, play_chunk
from runners.pool.turnstile import Shut, Turnstile, with_turnstile
from runners.records_io import Line
from runners.trials import Job, Work
from runners.turns import Turns
from runners.worlds import Crowded
from scenario_dsl.errors import InternalError

_Ended: TypeAlias = queue.SimpleQueue[tuple[Job, Line | BaseException]]
_CHUNK = 20
_LOOK = 0.2
"""Seconds between two looks at whether to stop, while there is nothing to do but wait."""


class LocalExecutor:
    def __init__(self) -> None:
        self._work: Work | None = None
        self._turnstile = Turnstile()
        self._turns: Turns | None = None

    def start(self, work: Work) -> None:
        self._work = work
        if isinstance(work.backend, Crowded):
            self._turnstile, self._turns = Turnstile(wide=True), work.backend.turns
            self._turns.open()

    def play(self, jobs: Iterator[Job], stopping: Stopping) -> Iterator[Sequence[Line]]:
        if self._work is None:
            raise InternalError("an executor was asked to play before it was started")
        turnstile = self._turnstile
        work = with_turnstile(self._work, turnstile)
        backlog = Backlog(jobs, work)
        ended: _Ended = queue.SimpleQueue()
        under_way = 0
        while True:
            computed = False
            if stopping():
                if self._turns is not None:
                    self._turns.shut()
            else:
                while (job := backlog.take_waiting()) is not None:
                    # A daemon: whoever breaks off does not wait for a model that never answers.
                    threading.Thread(target=_play, args=(job, work, turnstile, ended), daemon=True).start()
                    under_way += 1
                if backlog.computing:
                    with turnstile.inside():
                        lines = play_chunk(backlog.take(_CHUNK), work)
                    computed = True
                    yield lines
            if not under_way:
                if computed:
                    continue
                return
            try:
                done, line = ended.get(block=not computed, timeout=_LOOK)
            except queue.Empty:
                continue
            under_way -= 1
            backlog.ended(done)
            if isinstance(line, Line):
                yield (line,)
            elif not isinstance(line, Shut):
                raise line

    def close(self) -> None:
        # Threads that still wait for their agents end when they come back; none may compute while Python goes down.
        self._turnstile.shut()
        self._work = None


def _play(job: Job, work: Work, turnstile: Turnstile, ended: _Ended) -> None:
    try:
        with turnstile.inside():
            (line,) = play_chunk((job,), work)
        ended.put((job, line))
    except BaseException as error:
        # Nobody looks into a thread: whoever waits for its line has to hear of it.
        ended.put((job, error))
