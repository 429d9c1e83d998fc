"""The starter pack, as shipped: proven on the sim, and played by the scripted agents with the outcome each deserves."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.bundle import compile_pack
from compiler.model import ScenarioProof
from compiler.verify import VerifiedBundle, verify_under_ephemeral_key
from runners.agents.registry import parse_agent
from runners.backends.sim import SimBackend
from runners.plan import plan
from runners.pool.local import LocalExecutor
from runners.prove.proving import prove
from runners.records import judge
from runners.records_io import read_records
from runners.replay import replay
from runners.run import run
from scenario_dsl.library import load_library

PACKS = Path(__file__).parents[2] / "packs"
SCENARIOS = ("log-analysis", "process-recovery")


@pytest.fixture(scope="module")
def starter() -> VerifiedBundle:
    return verify_under_ephemeral_key(compile_pack(load_library(PACKS / "starter", [PACKS])))


@pytest.mark.slow
def test_its_scenarios_are_proven(starter: VerifiedBundle) -> None:
    proofs: tuple[ScenarioProof, ...] = prove(starter, SimBackend(), scenarios=SCENARIOS, processes=2).scenarios
    against = [
        (proof.scenario, found.check, found.world, found.detail)
        for proof in proofs
        for found in proof.findings
        if found.passed is False
    ]
    assert against == []


def test_each_agent_gets_what_it_deserves(starter: VerifiedBundle, tmp_path: Path) -> None:
    agents = tuple(parse_agent(name) for name in ("gold", "bad", "nop", "random"))
    made = plan((starter,), agents, backends=("sim",), scenarios=SCENARIOS)
    summary = run(made, (starter,), agents, (SimBackend(),), tmp_path, executor=LocalExecutor())
    assert (summary.done, summary.errored) == (made.size, 0)
    records = list(read_records(tmp_path))
    for scenario in SCENARIOS:
        by_agent = {
            agent.identity.label: [
                record
                for record in records
                if record.trial.scenario == scenario and record.trial.agent == agent.identity
            ]
            for agent in agents
        }
        assert judge(by_agent["gold"]) == "VERIFIED", scenario
        assert judge(by_agent["nop"]) == "NOT_RECOVERED", scenario
        assert judge(by_agent["bad"]) != "VERIFIED", scenario
        assert {record.score for record in by_agent["nop"]} == {0.0, None}, scenario


def test_its_records_replay(starter: VerifiedBundle, tmp_path: Path) -> None:
    agents = (parse_agent("random"), parse_agent("gold"))
    made = plan((starter,), agents, backends=("sim",), worlds=("primary",), scenarios=SCENARIOS)
    run(made, (starter,), agents, (SimBackend(),), tmp_path, executor=LocalExecutor())
    backend = SimBackend()
    for record in read_records(tmp_path):
        assert replay(record, (starter,), backend).differences == ()
