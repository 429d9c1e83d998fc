"""The runners on the simulated server: a run, its verdicts, its proof and its replay."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners.agents.registry import parse_agent
from runners.backends.sim import SimBackend
from runners.plan import plan
from runners.pool.local import LocalExecutor
from runners.pool.ray_pool import RayExecutor
from runners.prove.proving import prove
from runners.records import judge
from runners.records_io import RECORDS_FILE, read_records
from runners.replay import replay
from runners.run import run
from tests.integration.small import small_bundle

BUNDLE = small_bundle()


def test_the_scenario_is_proven_on_the_sim() -> None:
    proof = prove(BUNDLE, SimBackend(), repeats=2)
    assert [finding for finding in proof.scenarios[0].findings if finding.passed is False] == []


def test_runs_are_the_same_bytes_and_replay(tmp_path: Path) -> None:
    agents = tuple(parse_agent(name) for name in ("gold", "bad", "nop", "random"))
    made = plan((BUNDLE,), agents, backends=("sim",), attempts=2)
    for name in ("one", "two"):
        summary = run(made, (BUNDLE,), agents, (SimBackend(),), tmp_path / name, executor=LocalExecutor())
        assert (summary.done, summary.errored) == (made.size, 0)
    assert (tmp_path / "one" / RECORDS_FILE).read_bytes() == (tmp_path / "two" / RECORDS_FILE).read_bytes()
    records = list(read_records(tmp_path / "one"))
    backend = SimBackend()
    for record in records:
        assert replay(record, (BUNDLE,), backend).differences == ()
    verdicts = {
        agent.identity.label: judge(
            record for record in records if record.trial.agent == agent.identity and record.trial.attempt == 0
        )
        for agent in agents
    }
    assert verdicts["gold"] == "VERIFIED"
    assert verdicts["nop"] == "NOT_RECOVERED"
    assert verdicts["bad"] == "HARMFUL"


@pytest.mark.slow
def test_ray_plays_the_same_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    agents = tuple(parse_agent(name) for name in ("gold", "bad", "nop", "random"))
    made = plan((BUNDLE,), agents, backends=("sim",), attempts=10)
    summary = run(made, (BUNDLE,), agents, (SimBackend(),), tmp_path / "ray", executor=RayExecutor(2))
    assert (summary.done, summary.errored) == (made.size, 0)
    run(made, (BUNDLE,), agents, (SimBackend(),), tmp_path / "local", executor=LocalExecutor())
    by_ray, here = (sorted((tmp_path / name / RECORDS_FILE).read_bytes().splitlines()) for name in ("ray", "local"))
    assert by_ray == here
