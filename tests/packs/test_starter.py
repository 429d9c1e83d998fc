"""The starter pack: it compiles, experts solve it, and nobody else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.bundle import compile_pack
from compiler.verify import VerifiedBundle, verify_under_ephemeral_key
from runners.agents.nop import NopAgent
from runners.backends.sim import SimBackend
from runners.opening import Site
from runners.prove.case import Case, full
from runners.prove.proving import prove
from runners.records import judge
from scenario_dsl.library import load_library
from scenario_dsl.model import Library

PACKS = Path(__file__).parents[2] / "packs"
OBJECTIVES = {
    "log-analysis": ("easy", 1),
    "permission-repair": ("medium", 1),
    "disk-space-crisis": ("medium", 2),
    "cron-job-failure": ("medium", 3),
    "process-recovery": ("hard", 3),
    "nginx-misconfiguration": ("hard", 3),
    "security-incident": ("hard", 3),
    "memory-leak": ("hard", 4),
    "network-troubleshooting": ("hard", 4),
    "cascading-database-failure": ("expert", 5),
    "full-incident-response": ("expert", 6),
}


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library(PACKS / "starter", [PACKS])


@pytest.fixture(scope="module")
def bundle(library: Library) -> VerifiedBundle:
    return verify_under_ephemeral_key(compile_pack(library))


@pytest.fixture(scope="module")
def backend() -> SimBackend:
    return SimBackend()


def test_all_eleven_are_there(library: Library) -> None:
    found = {name: (each.difficulty, len(each.objectives)) for name, each in library.scenarios.items()}
    assert found == OBJECTIVES


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_scenario_has_what_a_player_and_a_grader_need(library: Library, name: str) -> None:
    scenario = library.scenarios[name]
    assert len(scenario.bad) >= 4
    assert scenario.hints
    assert scenario.twins
    assert scenario.controls
    assert [step.run for step in scenario.gold.steps if step.think is None] == []
    assert len(scenario.gold.steps) * 1.3 < scenario.limits.commands, "an expert is nowhere near the limit"


@pytest.mark.parametrize("name", OBJECTIVES)
def test_gold_is_verified_and_doing_nothing_is_not(bundle: VerifiedBundle, backend: SimBackend, name: str) -> None:
    case = Case(Site(content=bundle.content, scenario=bundle.content.scenarios[name], backend=backend), repeats=1)
    gold = case.gold(case.primary)
    assert full(gold, case.primary)
    assert judge([gold]) == "VERIFIED"
    assert case.play(case.primary, "nop", NopAgent()).score == 0


def test_a_world_has_one_past_and_each_seed_a_future(bundle: VerifiedBundle, backend: SimBackend) -> None:
    scenario = bundle.content.scenarios["memory-leak"]

    def past_and_future(*seeds: int) -> tuple[bytes, bytes]:
        """Of a world of the last seed, after others were opened."""
        site = Site(content=bundle.content, scenario=scenario, backend=backend)
        live = [site.broken(scenario.worlds[0], seed=seed) for seed in seeds][-1]
        past = live.run("cat /var/log/nginx/access.log /var/log/syslog", output_bytes=1 << 20, seconds=60).output
        drawn = live.run("echo $RANDOM; shuf -i 1-1000 | head -3", output_bytes=1 << 20, seconds=60).output
        return past, drawn

    assert past_and_future(5) == past_and_future(1, 2, 5), "whoever came before changes nothing"
    assert past_and_future(5)[0] == past_and_future(6)[0]
    assert past_and_future(5)[1] != past_and_future(6)[1]


@pytest.mark.slow
def test_every_scenario_is_proven(bundle: VerifiedBundle, backend: SimBackend) -> None:
    proof = prove(bundle, backend, processes=2)
    against = [
        (scenario.scenario, found.check, found.world, found.detail)
        for scenario in proof.scenarios
        for found in scenario.findings
        if found.passed is False
    ]
    assert against == []
