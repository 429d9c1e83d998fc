"""A run over several backends: everything on each, in one run, whatever their worlds are like."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from runners.plan import PlanError, plan
from runners.pool.executor import Executor
from runners.pool.local import LocalExecutor
from runners.records_io import read_records
from runners.run import Progress, run
from tests.runners.test_run import AGENTS, BUNDLE
from tests.runners.test_turns import Crowd
from tests.runners.toy import ToyBackend


class Elsewhere(Crowd):
    name = "elsewhere"

    def __reduce__(self) -> tuple[type[Elsewhere], tuple[()]]:
        return Elsewhere, ()


def play_both(folder: Path, executor: Executor) -> None:
    made = plan((BUNDLE,), AGENTS, backends=("toy", "elsewhere"), attempts=2)
    summary = run(made, (BUNDLE,), AGENTS, (ToyBackend(), Elsewhere()), folder, executor=executor)
    assert summary.done == summary.planned == len({job.trial_id for job in made.jobs()})
    records = list(read_records(folder))
    told = {
        name: sorted(
            (one.trial.agent.label, one.trial.scenario, one.trial.world, one.trial.attempt, one.outcome, one.score)
            for one in records
            if one.trial.backend == name and one.trial.agent.label != "random"
        )
        for name in ("toy", "elsewhere")
    }
    assert len(records) == summary.planned
    assert told["toy"]
    assert told["toy"] == told["elsewhere"]


def test_everything_is_played_on_each_backend(tmp_path: Path) -> None:
    play_both(tmp_path, LocalExecutor())


def test_a_run_over_both_that_is_stopped_leaves_no_world_and_goes_on(tmp_path: Path) -> None:
    made = plan((BUNDLE,), AGENTS, backends=("toy", "elsewhere"), attempts=2)
    elsewhere = Elsewhere()

    def stop_soon(told: Progress) -> None:
        if told.lines and told.done == len(told.lines):
            os.kill(os.getpid(), signal.SIGINT)

    backends = (ToyBackend(), elsewhere)
    stopped = run(made, (BUNDLE,), AGENTS, backends, tmp_path, executor=LocalExecutor(), progress=stop_soon)
    assert stopped.interrupted
    assert 0 < stopped.done < stopped.planned
    assert elsewhere.living == 0
    assert run(made, (BUNDLE,), AGENTS, backends, tmp_path, executor=LocalExecutor()).done == stopped.planned


def test_a_plan_names_each_backend_once_and_gets_those_that_it_names(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="the backend `toy` was given twice"):
        plan((BUNDLE,), AGENTS, backends=("toy", "toy"))
    with pytest.raises(PlanError, match="at least one attempt, one seed and one backend"):
        plan((BUNDLE,), AGENTS, backends=())
    made = plan((BUNDLE,), AGENTS, backends=("toy", "elsewhere"))
    with pytest.raises(PlanError, match="for the backends toy, elsewhere, not for toy"):
        run(made, (BUNDLE,), AGENTS, (ToyBackend(),), tmp_path, executor=LocalExecutor())


def test_what_takes_its_time_is_written_one_by_one(tmp_path: Path) -> None:
    class Slow(ToyBackend):
        computed = True

    for backend, most in ((Slow(), 1), (ToyBackend(), 20)):
        made = plan((BUNDLE,), AGENTS, backends=("toy",), attempts=2)
        written: list[int] = []
        run(
            made, (BUNDLE,), AGENTS, (backend,), tmp_path / str(most), executor=LocalExecutor(),
            progress=lambda told, written=written: written.append(len(told.lines)),
        )  # fmt: skip
        assert max(written) == most
