"""Playing a whole plan into a run folder: begin, go on after whatever happened, and end with exactly the plan."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TypeAlias

from compiler.verify import VerifiedBundle
from runners.agents.spec import AgentSpec
from runners.plan import Plan, PlanError
from runners.pool.executor import Executor
from runners.records_io import Line
from runners.store import RunWriter, open_run
from runners.trials import Job, Work
from runners.worlds import Backend


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is. `lines` are the records just written; `done` counts finished trials, resumed ones included."""

    planned: int
    done: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """How a run ended.

    resumed: trials that were finished before. retried: Errored records that were played again. errored: trials that
    stayed so. interrupted: stopped by a signal; the same run started again goes on.
    seconds: (getting ready, playing), of the machine's clock.
    """

    planned: int
    done: int
    resumed: int
    retried: int
    errored: int
    unsupported: int
    interrupted: bool
    seconds: tuple[float, float]


Report: TypeAlias = Callable[[Progress], None]


def run(
    plan: Plan,
    bundles: Sequence[VerifiedBundle],
    agents: Sequence[AgentSpec],
    backend: Backend,
    folder: Path,
    *,
    executor: Executor,
    retries: int = 2,
    progress: Report | None = None,
) -> Summary:
    """Play what is not yet played of `plan`, into `folder`.

    Errored trials are played again, up to `retries` times each; every attempt keeps its record. SIGINT drains: nothing
    new is begun, what is under way is written; a second one breaks off. Raises RunFolderError, HostError, PlanError
    when the bundles or agents are not those of the plan.
    """
    work = _work(plan, bundles, agents, backend)
    begun = time.perf_counter()
    with open_run(folder, plan) as writer, _drain() as stopping:
        count = _Count(plan, writer, retries, progress)
        try:
            if count.done < plan.size:
                executor.start(work)
            ready = time.perf_counter()
            # Each pass plays what is still open; what failed for our reasons comes again in the next one.
            for _ in range(retries + 1):
                if count.done >= plan.size or stopping.is_set():
                    break
                for lines in executor.play(count.open_jobs(), stopping.is_set):
                    count.write(lines)
        finally:
            executor.close()
        return count.summary(stopping.is_set(), (ready - begun, time.perf_counter() - ready))


class _Count:
    """What is written and what is still open."""

    def __init__(self, plan: Plan, writer: RunWriter, retries: int, progress: Report | None) -> None:
        self._plan = plan
        self._writer = writer
        self._retries = retries
        self._progress = progress
        self._retried = 0
        self.done = sum(self._finished(*entry) for entry in writer.played.values())
        self._resumed = self.done

    def open_jobs(self) -> Iterator[Job]:
        """The trials that have no final record yet, each with its next ordinal."""
        played = dict(self._writer.played)
        for job in self._plan.jobs():
            last = played.get(job.trial_id)
            if last is None:
                yield job
            elif not self._finished(*last):
                self._retried += 1
                yield Job(trial_id=job.trial_id, trial=job.trial, ordinal=last[0] + 1)

    def write(self, lines: Sequence[Line]) -> None:
        self._writer.append(lines)
        self.done += sum(self._finished(line.ordinal, line.outcome) for line in lines)
        if self._progress is not None:
            self._progress(Progress(planned=self._plan.size, done=self.done, lines=tuple(lines)))

    def summary(self, interrupted: bool, seconds: tuple[float, float]) -> Summary:
        outcomes = [outcome for _, outcome in self._writer.played.values()]
        return Summary(
            planned=self._plan.size,
            done=self.done,
            resumed=self._resumed,
            retried=self._retried,
            errored=outcomes.count("Errored"),
            unsupported=outcomes.count("Unsupported"),
            interrupted=interrupted and self.done < self._plan.size,
            seconds=seconds,
        )

    def _finished(self, ordinal: int, outcome: str) -> bool:
        return outcome != "Errored" or ordinal >= self._retries


def _work(plan: Plan, bundles: Sequence[VerifiedBundle], agents: Sequence[AgentSpec], backend: Backend) -> Work:
    contents = {bundle.digest: bundle.content for bundle in bundles}
    factories = {agent.identity: agent.factory for agent in agents}
    for scenario in plan.scenarios:
        if scenario.bundle_digest not in contents:
            raise PlanError(
                f"the plan needs the bundle {scenario.pack} {scenario.bundle_digest[:12]}, which is not given"
            )
    for identity in plan.agents:
        if identity not in factories:
            raise PlanError(f"the plan needs the agent `{identity.label}`, which is not given")
    if backend.name != plan.backend:
        raise PlanError(f"the plan is for the backend `{plan.backend}`, not `{backend.name}`")
    return Work(contents=contents, factories=factories, backend=backend)


@contextmanager
def _drain() -> Iterator[threading.Event]:
    """Turn the first SIGINT into an event. Only a main thread may; elsewhere the caller's handling stays."""
    stopping = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopping
        return
    before = signal.getsignal(signal.SIGINT)

    def handle(_number: int, _frame: FrameType | None) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        stopping.set()

    signal.signal(signal.SIGINT, handle)
    try:
        yield stopping
    finally:
        signal.signal(signal.SIGINT, before)
