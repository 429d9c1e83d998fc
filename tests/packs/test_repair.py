"""The repair pack: half of it to learn from, half of it held out; experts solve it, and nobody else does."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509

from compiler.bundle import compile_pack
from compiler.capabilities import lacking
from compiler.verify import VerifiedBundle, verify_under_ephemeral_key
from runners.agents.nop import NopAgent
from runners.backends.sim import SimBackend
from runners.hosts.unsupported import reasons
from runners.opening import Site
from runners.prove.case import Case, full
from runners.prove.proving import prove
from runners.records import judge
from scenario_dsl.library import load_library
from scenario_dsl.model import Library

PACKS = Path(__file__).parents[2] / "packs"
TRAIN = ("broken-nginx-config", "config-ownership", "disk-full", "port-bound", "service-masked")
HELDOUT = ("bad-unit-execstart", "dns-override", "expired-certificate", "firewall-drop", "inodes-exhausted")
LARGE = {"inodes-exhausted": "sixteen thousand files are made and looked at"}
"""Scenarios that take seconds each, and why: CI plays them with the slow suite."""
"""They measure a disk, which containers have only as large as the host's."""


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library(PACKS / "repair", [PACKS])


@pytest.fixture(scope="module")
def bundle(library: Library) -> VerifiedBundle:
    return verify_under_ephemeral_key(compile_pack(library))


@pytest.fixture(scope="module")
def backend() -> SimBackend:
    return SimBackend()


def test_five_are_to_learn_from_and_five_are_held_out(library: Library) -> None:
    found = {
        split: sorted(n for n, s in library.scenarios.items() if s.split == split) for split in ("train", "heldout")
    }
    assert found == {"train": sorted(TRAIN), "heldout": sorted(HELDOUT)}


@pytest.mark.parametrize("name", [*TRAIN, *HELDOUT])
def test_a_scenario_has_what_a_player_and_a_grader_need(library: Library, name: str) -> None:
    scenario = library.scenarios[name]
    assert len(scenario.bad) >= 4
    assert scenario.hints
    assert scenario.twins
    assert scenario.controls
    assert len(scenario.complaint.split()) <= 40, "one line, as somebody says it"
    assert [step.run for step in scenario.gold.steps if step.think is None] == []
    assert scenario.limits.commands == 25
    assert len(scenario.gold.steps) * 2 < scenario.limits.commands


@pytest.mark.parametrize("name", [*TRAIN, *HELDOUT])
def test_containers_take_it(bundle: VerifiedBundle, name: str) -> None:
    scenario = bundle.content.scenarios[name]
    system = bundle.content.systems[scenario.system]
    assert [*lacking(scenario, system, "container"), *reasons(scenario, system)] == []


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=[pytest.mark.slow] * (each in LARGE)) for each in (*TRAIN, *HELDOUT)]
)
def test_gold_is_verified_and_doing_nothing_is_not(bundle: VerifiedBundle, backend: SimBackend, name: str) -> None:
    case = Case(Site(content=bundle.content, scenario=bundle.content.scenarios[name], backend=backend), repeats=1)
    gold = case.gold(case.primary)
    assert full(gold, case.primary)
    assert judge([gold]) == "VERIFIED"
    assert case.play(case.primary, "nop", NopAgent()).score == 0


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


def test_the_healthy_certificate_outlives_the_machines_that_it_is_put_on() -> None:
    """The simulated clock stands in March 2026; that of a container does not."""
    folder = PACKS / "common" / "systems" / "web-server" / "files" / "etc" / "ssl"
    authority = x509.load_pem_x509_certificate((folder / "certs" / "northwind-ca.pem").read_bytes())
    healthy = x509.load_pem_x509_certificate((folder / "northwind" / "shop.example.com.2026.pem").read_bytes())
    healthy.verify_directly_issued_by(authority)
    assert healthy.not_valid_before_utc < datetime(2026, 3, 1, tzinfo=UTC)
    assert min(healthy.not_valid_after_utc, authority.not_valid_after_utc) > datetime(2045, 1, 1, tzinfo=UTC)
