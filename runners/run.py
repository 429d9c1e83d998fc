"""Playing a whole plan into a run folder: begin, go on after whatever happened, and end with exactly the plan."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TypeAlias

from compiler.verify import VerifiedBundle
from runners.agents.spec import AgentSpec
from runners.carrying import carried
from runners.course import Budget, Course
from runners.plan import Plan, PlanError
from runners.pool.executor import Executor
from runners.record_index import Last, Spent
from runners.records_io import Line
from runners.store import RunWriter, open_run
from runners.trials import Job, Lane, Work, Works
from runners.worlds import Backend, Crowded, Imaged
from scenario_dsl.errors import HostError, InternalError


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is. `lines` are the records just written; `done` counts finished trials, resumed ones included."""

    planned: int
    done: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """How a run ended.

    resumed: trials that were finished before. carried: those taken over from earlier runs just now. retried: Errored
    records that were played again. errored: trials that stayed so. interrupted: stopped by a signal. stopped: the part
    of the budget that was used up, in words; empty where none was. In both cases the same run started again goes on.
    left: trials without a final record, by agent. spent: over all starts of the run.
    seconds: (getting ready, playing), of the machine's clock.
    """

    planned: int
    done: int
    resumed: int
    carried: int
    retried: int
    errored: int
    unsupported: int
    interrupted: bool
    stopped: str
    left: Mapping[str, int]
    spent: Spent
    seconds: tuple[float, float]


Report: TypeAlias = Callable[[Progress], None]


def run(
    plan: Plan,
    bundles: Sequence[VerifiedBundle],
    agents: Sequence[AgentSpec],
    backends: Sequence[Backend],
    folder: Path,
    *,
    executor: Executor,
    course: Course | None = None,
    earlier: Sequence[Path] = (),
    progress: Report | None = None,
) -> Summary:
    """Play what is not yet played of `plan`, into `folder`.

    Trials that an earlier run finished are taken over from there. Errored trials are played again, as often as the
    course says; every attempt keeps its record. SIGINT and SIGTERM drain: nothing new is begun, what is under way is
    written; a second one breaks off. So does a budget that is used up. Raises RunFolderError, HostError, PlanError when
    the bundles, agents or backends are not those of the plan.
    """
    course = course or Course()
    works = _works(plan, bundles, agents, backends, course)
    begun = time.perf_counter()
    with open_run(folder, plan) as writer, _drain() as signalled:
        count = _Count(plan, writer, course, progress)
        count.told()
        count.take_over(earlier, folder)
        limit = _Limit(course.budget, writer)

        def stopping() -> bool:
            return signalled.is_set() or limit.reached() != ""

        try:
            if count.done < plan.size and not stopping():
                executor.start(works)
            ready = time.perf_counter()
            # Each pass plays what is still open; what failed for our reasons comes again in the next one.
            while count.done < plan.size and not stopping():
                before = count.written
                for lines in executor.play(count.open_jobs(), stopping):
                    count.write(lines)
                if count.written == before and not stopping():
                    raise InternalError("the executor gave jobs back that it was given to play")
        except KeyboardInterrupt:
            for backend in backends:
                if isinstance(backend, Crowded):
                    backend.abandon()
            raise
        finally:
            executor.close()
        return count.summary(signalled.is_set(), limit, (ready - begun, time.perf_counter() - ready))


class _Limit:
    """What is left of a budget."""

    def __init__(self, budget: Budget, writer: RunWriter) -> None:
        self._budget = budget
        self._writer = writer
        self._begun = time.monotonic()

    def reached(self) -> str:
        """What is used up, in words."""
        budget, spent = self._budget, self._writer.spent
        if budget.money is not None and spent.money >= budget.money:
            return f"money: {spent.money:.4g} of {budget.money:g}"
        if budget.tokens is not None and spent.tokens >= budget.tokens:
            return f"tokens: {spent.tokens} of {budget.tokens}"
        if budget.seconds is not None and time.monotonic() - self._begun >= budget.seconds:
            return f"wall clock: {budget.seconds:g} s"
        return ""


class _Count:
    """What is written and what is still open."""

    def __init__(self, plan: Plan, writer: RunWriter, course: Course, progress: Report | None) -> None:
        self._plan = plan
        self._writer = writer
        self._course = course
        self._progress = progress
        self._retried = 0
        self._carried = 0
        self.written = 0
        self.done = sum(map(self._finished, writer.played.values()))
        self._resumed = self.done

    def told(self, lines: Sequence[Line] = ()) -> None:
        """Tell whoever watches."""
        if self._progress is not None:
            self._progress(Progress(planned=self._plan.size, done=self.done, lines=tuple(lines)))

    def take_over(self, earlier: Sequence[Path], folder: Path) -> None:
        """Write what earlier runs have of the plan and this one has not."""
        for run_folder in earlier:
            if run_folder.resolve() == folder.resolve():
                continue
            missing = {job.trial_id for job in self._plan.jobs() if job.trial_id not in self._writer.played}
            for lines in carried(run_folder, missing):
                self._carried += len(lines)
                self.write(lines)

    def open_jobs(self) -> Iterator[Job]:
        """The trials that have no final record yet, each with its next ordinal."""
        played = dict(self._writer.played)
        for job in self._plan.jobs():
            last = played.get(job.trial_id)
            if last is None:
                yield job
            elif not self._finished(last):
                self._retried += 1
                yield Job(trial_id=job.trial_id, trial=job.trial, ordinal=last.ordinal + 1)

    def write(self, lines: Sequence[Line]) -> None:
        self._writer.append(lines)
        self.written += len(lines)
        self.done += sum(self._finished(Last(line.ordinal, line.outcome, line.kind)) for line in lines)
        self.told(lines)

    def summary(self, interrupted: bool, limit: _Limit, seconds: tuple[float, float]) -> Summary:
        played = self._writer.played
        outcomes = Counter(last.outcome for last in played.values())
        open_ = self.done < self._plan.size
        left: Counter[str] = Counter()
        if open_:
            for job in self._plan.jobs():
                last = played.get(job.trial_id)
                left[job.trial.agent.label] += last is None or not self._finished(last)
        return Summary(
            planned=self._plan.size,
            done=self.done,
            resumed=self._resumed,
            carried=self._carried,
            retried=self._retried,
            errored=outcomes["Errored"],
            unsupported=outcomes["Unsupported"],
            interrupted=interrupted and open_,
            stopped=limit.reached() if open_ and not interrupted else "",
            left={label: number for label, number in left.items() if number},
            spent=self._writer.spent,
            seconds=seconds,
        )

    def _finished(self, last: Last) -> bool:
        return last.outcome != "Errored" or last.ordinal >= self._course.tries(last.kind)


def _works(
    plan: Plan,
    bundles: Sequence[VerifiedBundle],
    agents: Sequence[AgentSpec],
    backends: Sequence[Backend],
    course: Course,
) -> Works:
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
    if [backend.name for backend in backends] != list(plan.backends):
        given = ", ".join(backend.name for backend in backends)
        raise PlanError(f"the plan is for the backends {', '.join(plan.backends)}, not for {given}")
    works: dict[str, Work] = {}
    for backend in backends:
        if isinstance(backend, Imaged):
            for bundle in bundles:
                # Of what cannot be played here anyway there need not be an image.
                known = bundle.content.scenarios
                names = {each.scenario for each in plan.scenarios if each.scenario in known}
                playable = {name for name in names if backend.unsupported(bundle.content, known[name]) is None}
                _check_images(bundle, playable, backend)
        lanes = {agent.identity: Lane(agent.lane, course.at_once(agent.lane)) for agent in agents if agent.lane}
        if isinstance(backend, Crowded):
            # Whoever plays there waits for the world.
            everybody = Lane(f"worlds of {backend.name}", course.worlds.get(backend.name, backend.at_once))
            lanes = {agent.identity: everybody for agent in agents} | lanes
        works[backend.name] = Work(contents=contents, factories=factories, backend=backend, lanes=lanes)
    return works


def _check_images(bundle: VerifiedBundle, played: Collection[str], backend: Imaged) -> None:
    """What was proven on an image is played on that one and no other. Raises HostError."""
    for proof in bundle.proof.scenarios if bundle.proof is not None else ():
        if proof.image and proof.scenario in played:
            scenario = bundle.content.scenarios[proof.scenario]
            here = backend.image(bundle.content, scenario)
            if here != proof.image:
                raise HostError(
                    f"{proof.scenario} was proven on the image {proof.image[:19]}, and that of its system "
                    f"{scenario.system} is {here[:19]} here",
                    remedy=f"`breakfix image lock {scenario.system}` names what drifted; prove and sign again with it",
                )


@contextmanager
def _drain() -> Iterator[threading.Event]:
    """Turn the first SIGINT or SIGTERM into an event. Only a main thread may; elsewhere the caller's handling stays."""
    stopping = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopping
        return

    def handle(_number: int, _frame: FrameType | None) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        stopping.set()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
