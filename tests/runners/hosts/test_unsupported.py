"""What cannot be played in containers is named, with who asks for it and why, and never passed over."""

from __future__ import annotations

import pickle

import pytest

from compiler.capabilities import CAPABILITIES
from compiler.model import PackContent
from compiler.resolve import resolve_all
from runners.backends.container import ContainerBackend
from runners.backends.registry import find_backend
from runners.hosts.probes.evaluate import KINDS
from runners.worlds import Selective
from scenario_dsl.library import load_library
from scenario_dsl.probes import PROBES
from tests.conformance.worlds import ROOT, probe


def reasons_of(pack: str) -> dict[str, str | None]:
    library = load_library(ROOT / "packs" / pack, [ROOT / "packs"])
    scenarios = {scenario.name: scenario for scenario in resolve_all(library)}
    content = PackContent(
        name=pack, version="0.1.0", digest="0" * 64, canary="", policies=(), systems=library.systems,
        scenarios=scenarios,
    )  # fmt: skip
    backend = find_backend("container")
    return {name: backend.unsupported(content, scenario) for name, scenario in scenarios.items()}


@pytest.fixture(scope="module")
def reasons() -> dict[str, str | None]:
    return reasons_of("starter")


def test_at_least_four_starter_scenarios_can_be_played(reasons: dict[str, str | None]) -> None:
    playable = {name for name, reason in reasons.items() if reason is None}
    assert {
        "cascading-database-failure", "disk-space-crisis", "log-analysis", "network-troubleshooting",
        "nginx-misconfiguration", "permission-repair", "process-recovery", "security-incident",
    } <= playable  # fmt: skip


@pytest.mark.parametrize("pack", ["field", "repair"])
def test_all_of_these_packs_can_be_played(pack: str) -> None:
    assert set(reasons_of(pack).values()) == {None}


def test_the_others_say_who_asks_for_what(reasons: dict[str, str | None]) -> None:
    assert "succeeded_within of cron" in str(reasons["cron-job-failure"])
    assert "memory" in str(reasons["memory-leak"])


def test_what_is_this_hosts_is_not_asked_of_the_healthy_system() -> None:
    healthy = load_library(ROOT / "packs" / "starter", [ROOT / "packs"]).systems["web-server"].healthy
    backend = find_backend("container")
    assert isinstance(backend, Selective)
    assert {probe.type for probe in healthy if not backend.measures(probe)} == {"disk", "memory"}
    assert not backend.measures(probe("log", unit="nginx", matches="x"))
    assert backend.measures(probe("log", path="/var/log/syslog", matches="x"))


def test_each_probe_type_is_there_or_said_to_be_lacking() -> None:
    assert set(KINDS) | set(CAPABILITIES["container"].lacks_probes) == set(PROBES)
    assert not set(KINDS) & set(CAPABILITIES["container"].lacks_probes)


def test_the_backend_travels_to_other_processes_without_its_connection() -> None:
    backend = find_backend("container")
    again = pickle.loads(pickle.dumps(backend))
    assert (type(again), again.name) == (type(backend), "container")


def test_processes_that_share_a_machine_have_a_part_of_it_each() -> None:
    whole = ContainerBackend()
    part = pickle.loads(pickle.dumps(whole.among(2)))
    assert part.at_once == ContainerBackend(among=2).at_once <= whole.at_once
    assert ContainerBackend(among=10_000).at_once >= 1
