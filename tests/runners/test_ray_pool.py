"""The Ray executor: real workers, real crashes, and addresses where nobody listens."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compiler.model import PackContent
from runners.agents.registry import parse_agent
from runners.agents.spec import Endpoint
from runners.course import Course, retrying
from runners.plan import plan
from runners.pool import ray_start
from runners.pool.local import LocalExecutor
from runners.pool.ray_pool import RayExecutor
from runners.pool.ray_start import ADDRESS, start_ray
from runners.records_io import read_records
from runners.run import Summary, run
from scenario_dsl.errors import HostError
from scenario_dsl.worlds import ResolvedScenario, World
from tests.runners.agents.llm.server import Handler, says, serving
from tests.runners.cases import bundle_of, cascading, investigation, repair
from tests.runners.test_backends import play_both
from tests.runners.toy import ToyBackend, ToyWorld
from tests.runners.waiting import Meter, Slow, slow

BUNDLE = bundle_of(repair(), investigation(), cascading())
AGENTS = tuple(parse_agent(name) for name in ("gold", "bad", "nop"))
ROOT = Path(__file__).parents[2]


class Deadly(ToyBackend):
    """Kills the process that opens a certain world; once for each seed, unless it is `stubborn`."""

    def __init__(self, marks: Path, *, stubborn: bool) -> None:
        super().__init__()
        self.marks = marks
        self.stubborn = stubborn

    def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> ToyWorld:
        mark = self.marks / str(seed)
        if (scenario.name, world.name) == ("repair", "noise") and (self.stubborn or not mark.exists()):
            mark.touch()
            os._exit(1)
        return super().open(content, scenario, world, seed=seed)


@pytest.fixture
def workers_find_tests(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Workers import what the package offers; the toy host is not part of it."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv(ADDRESS, raising=False)
    return iter(())


def play(folder: Path, backend: ToyBackend, *, attempts: int, executor: RayExecutor | LocalExecutor) -> Summary:
    made = plan((BUNDLE,), AGENTS, backends=("toy",), attempts=attempts)
    return run(made, (BUNDLE,), AGENTS, (backend,), folder, executor=executor, course=Course(retries=retrying(1)))


@pytest.mark.slow
@pytest.mark.usefixtures("workers_find_tests")
def test_ray_plays_everything_on_each_backend(tmp_path: Path) -> None:
    play_both(tmp_path, RayExecutor(2))


@pytest.mark.slow
@pytest.mark.usefixtures("workers_find_tests")
def test_ray_plays_exactly_what_one_process_plays(tmp_path: Path) -> None:
    summary = play(tmp_path / "ray", ToyBackend(), attempts=20, executor=RayExecutor(2))
    play(tmp_path / "local", ToyBackend(), attempts=20, executor=LocalExecutor())
    assert summary.done == summary.planned == 20 * 3 * 9
    by_ray = sorted(read_records(tmp_path / "ray"), key=lambda record: record.trial_id)
    here = sorted(read_records(tmp_path / "local"), key=lambda record: record.trial_id)
    assert by_ray == here


@pytest.mark.slow
@pytest.mark.usefixtures("workers_find_tests")
def test_a_worker_that_dies_costs_nothing_but_a_retry(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    summary = play(tmp_path / "run", Deadly(marks, stubborn=False), attempts=2, executor=RayExecutor(2))
    assert (summary.done, summary.errored) == (summary.planned, 0)
    identifiers = [record.trial_id for record in read_records(tmp_path / "run") if record.outcome != "Errored"]
    assert len(identifiers) == len(set(identifiers)) == summary.planned


@pytest.mark.slow
@pytest.mark.usefixtures("workers_find_tests")
def test_a_trial_that_always_kills_its_worker_is_errored(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    summary = play(tmp_path / "run", Deadly(marks, stubborn=True), attempts=1, executor=RayExecutor(2))
    errored = [record for record in read_records(tmp_path / "run") if record.outcome == "Errored"]
    assert summary.done == summary.planned
    # The control itself kills whoever plays there; the primary kills where its gate opens that control.
    played = {(record.trial.scenario, record.trial.world, record.trial.agent.name) for record in errored}
    assert played == {
        ("repair", "noise", "gold"),
        ("repair", "noise", "bad"),
        ("repair", "noise", "nop"),
        ("repair", "primary", "gold"),
        ("repair", "primary", "bad"),
    }
    assert sorted(record.ordinal for record in errored) == [0] * 5 + [1] * 5
    assert errored[0].error is not None
    assert errored[0].error.startswith("the worker died")


@pytest.mark.slow
@pytest.mark.usefixtures("workers_find_tests")
def test_what_waits_plays_at_once_beside_what_computes(tmp_path: Path) -> None:
    agents = (AGENTS[0], slow(ways=Slow(seconds=0.2)))
    made = plan((BUNDLE,), agents, backends=("toy",), attempts=4)
    course = Course(in_flight={"there": 12})

    def playing(folder: Path, executor: RayExecutor | LocalExecutor) -> Summary:
        return run(made, (BUNDLE,), agents, (ToyBackend(),), folder, executor=executor, course=course)

    summary = playing(tmp_path / "ray", RayExecutor(2))
    playing(tmp_path / "local", LocalExecutor())
    assert (summary.done, summary.errored) == (72, 0)
    # 36 episodes of two waits of 0.2 s: 14 s one after the other, 7 s with one in each worker.
    assert summary.seconds[1] < 6
    by_ray = sorted(read_records(tmp_path / "ray"), key=lambda record: record.trial_id)
    assert by_ray == sorted(read_records(tmp_path / "local"), key=lambda record: record.trial_id)


@pytest.mark.slow
@pytest.mark.usefixtures("workers_find_tests")
def test_a_waiting_trial_that_kills_its_worker_takes_no_others_with_it(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    agents = (slow(ways=Slow(seconds=0.05)),)
    made = plan((BUNDLE,), agents, backends=("toy",), attempts=2)
    course = Course(in_flight={"there": 4}, retries=retrying(0))
    backend = Deadly(marks, stubborn=True)
    summary = run(made, (BUNDLE,), agents, (backend,), tmp_path / "run", executor=RayExecutor(2), course=course)
    records = list(read_records(tmp_path / "run"))
    assert summary.done == len(records) == 18
    errored = [record for record in records if record.outcome == "Errored"]
    assert {(record.trial.scenario, record.trial.world) for record in errored} == {("repair", "noise")}
    assert {record.error_kind for record in errored} == {"worker"}


@pytest.mark.slow
@pytest.mark.usefixtures("workers_find_tests")
def test_models_are_asked_from_workers_within_the_bound_of_their_endpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERE_KEY", "sk-from-the-environment")
    meter = Meter()

    def answer(handler: Handler, body: dict[str, Any]) -> None:
        with meter:
            time.sleep(0.1)
            says("<bash>failed</bash>" if len(body["messages"]) == 2 else "<done/>")(handler, body)

    with serving(lambda _number: answer) as served:
        endpoints = {"here": Endpoint(name="here", url=served.url, key_from="HERE_KEY")}
        agents = (AGENTS[0], parse_agent("llm:here/tiny", endpoints=endpoints, settings={"temperature": 0}))
        made = plan((BUNDLE,), agents, backends=("toy",), attempts=2)
        course = Course(in_flight={"here": 5})
        summary = run(
            made, (BUNDLE,), agents, (ToyBackend(),), tmp_path / "run", executor=RayExecutor(2), course=course
        )
        keys = {headers["authorization"] for _, headers, _ in served.asked}
    assert (summary.done, summary.errored) == (36, 0)
    assert 2 <= meter.most <= 5
    assert keys == {"Bearer sk-from-the-environment"}
    models = [record for record in read_records(tmp_path / "run") if record.trial.agent.name == "llm"]
    assert {(record.requests, record.tokens_in, record.cost) for record in models} == {(2, 200, None)}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:{port}", "no Ray cluster answers at 127.0.0.1"),
        ("ray://127.0.0.1:{port}", "no Ray cluster answers at ray://127.0.0.1"),
        ("somewhere", "not of the form HOST:PORT"),
        ("host:many", "no address"),
    ],
)
def test_a_stale_address_is_told_at_once(monkeypatch: pytest.MonkeyPatch, address: str, message: str) -> None:
    monkeypatch.setenv(ADDRESS, address.format(port=free_port()))
    begun = time.monotonic()
    with pytest.raises(HostError, match=message) as raised:
        start_ray()
    assert "unset RAY_ADDRESS" in raised.value.remedy
    assert time.monotonic() - begun < 20


def test_automatic_without_a_cluster_is_told_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(ADDRESS, "auto")
    monkeypatch.setattr(ray_start, "_ADDRESS_FILE", tmp_path / "none")
    with pytest.raises(HostError, match="no Ray cluster runs on this machine"):
        start_ray()
    (tmp_path / "none").write_text(f"127.0.0.1:{free_port()}\n")
    with pytest.raises(HostError, match="no Ray cluster answers"):
        start_ray()


@pytest.mark.slow
def test_a_cluster_that_somebody_else_started_here_is_not_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ADDRESS, raising=False)
    from ray.cluster_utils import Cluster

    others = Cluster(initialize_head=True, head_node_args={"num_cpus": 3, "include_dashboard": False})
    try:
        assert Path("/tmp/ray/ray_current_cluster").exists()
        code = (
            "import ray; from runners.pool.ray_start import start_ray; "
            "print(start_ray(1), int(ray.cluster_resources()['CPU']))"
        )
        said = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
        )
        assert said.stdout.split() == ["True", "1"]
    finally:
        others.shutdown()
