"""The in-process executor: one trial after the other, and beside them those that wait, each in a thread of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from runners.pool.backlog import Backlog
from runners.pool.executor import Stopping
from runners.pool.floor import Floor
from runners.records_io import Line
from runners.trials import Job, Works
from runners.turns import Shut, Turns
from runners.worlds import Computed, Crowded
from scenario_dsl.errors import InternalError

_Ended: TypeAlias = queue.SimpleQueue[tuple[Job, Line | BaseException]]
_CHUNK = 20
_LOOK = 0.2
"""Seconds between two looks at whether to stop, while there is nothing to do but wait."""


class LocalExecutor:
    def __init__(self) -> None:
        self._works: Works | None = None
        self._floor: Floor | None = None
        self._turns: tuple[Turns, ...] = ()
        self._chunk = _CHUNK

    def start(self, works: Works) -> None:
        self._works, self._floor = works, Floor(works)
        # What takes its time is written down one by one: a kill may cost no more than what is under way.
        self._chunk = 1 if any(isinstance(work.backend, Computed) for work in works.values()) else _CHUNK
        self._turns = tuple(work.backend.turns for work in works.values() if isinstance(work.backend, Crowded))
        for turns in self._turns:
            turns.open()

    def play(self, jobs: Iterator[Job], stopping: Stopping) -> Iterator[Sequence[Line]]:
        if self._works is None or self._floor is None:
            raise InternalError("an executor was asked to play before it was started")
        floor = self._floor
        backlog = Backlog(jobs, self._works)
        ended: _Ended = queue.SimpleQueue()
        under_way = 0
        while True:
            computed = False
            if stopping():
                for turns in self._turns:
                    turns.shut()
            else:
                while (job := backlog.take_waiting()) is not None:
                    # A daemon: whoever breaks off does not wait for a model that never answers.
                    threading.Thread(target=_play, args=(job, floor, ended), daemon=True).start()
                    under_way += 1
                if backlog.computing:
                    lines, _ = floor.play(backlog.take(self._chunk))
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
        if self._floor is not None:
            self._floor.shut()
        self._works = self._floor = None


def _play(job: Job, floor: Floor, ended: _Ended) -> None:
    try:
        (line,), _ = floor.play((job,))
        ended.put((job, line))
    except BaseException as error:
        # Nobody looks into a thread: whoever waits for its line has to hear of it.
        ended.put((job, error))
