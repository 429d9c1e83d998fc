"""Looks at what the kernel's scheduler does: what is said of the counts, and, on a real kernel, that they are true."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from runners.kernel.host import Host
from tests.runners.kernel.machines import GUEST, LAB, root, typed

TRACING = ("sh", "-c", "bpftool link show | grep -c tracing || true")


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(GUEST))
    yield importlib.import_module("looking")
    sys.modules.pop("looking", None)


def counts(looking: ModuleType, *, ran_ms: float = 0.0, **slots: int) -> Any:
    by_slot = [slots.get(f"slot{number}", 0) for number in range(looking.SLOTS)]
    return looking.Counts([int(ran_ms * 1e6), 5, 3, 2, sum(by_slot), 10_000, *by_slot])


def test_a_percentile_is_the_end_of_its_slot(looking: ModuleType) -> None:
    """Slot n holds waits from 2^(n-1) to 2^n - 1 microseconds."""
    group = counts(looking, slot0=1, slot3=97, slot11=2)
    assert group.latency()["histogram_us"] == {"0-0": 1, "4-7": 97, "1024-2047": 2}
    assert [group.percentile(each) for each in (1, 2, 50, 98, 99, 100)] == [0, 7, 7, 7, 2047, 2047]
    assert counts(looking).latency() == {"waits": 0}


def test_what_is_told_of_groups(looking: ModuleType) -> None:
    groups = {"checkout": counts(looking, ran_ms=250, slot1=10), "report-a": counts(looking, ran_ms=500)}
    assert looking.told("shares", 1000.0, groups) == {"shares": {"checkout": 0.25, "report-a": 0.5}, "ms": 1000}
    assert looking.told("switches", 10.0, groups)["switches"]["checkout"] == {"turns": 5, "slept": 3, "preempted": 2}
    latency = looking.told("latency", 10.0, groups)["latency"]
    assert latency["checkout"]["p99_us_at_most"] == 1
    assert latency["report-a"] == {"waits": 0}


class TestOnAMachine:
    pytestmark = pytest.mark.machine

    @pytest.fixture
    def loaded(self, host: Host) -> Host:
        """Beside the service, something computes in a group of its own."""
        root(host, "load", "start", "report-a", "report-a", "batch", "burn")
        return host

    def look(self, host: Host, *words: str) -> dict[str, Any]:
        code, said = typed(host, " ".join(("schedctl", *words)))
        assert code == 0, said
        found: dict[str, Any] = json.loads(said)
        return found

    def test_shares_are_what_the_groups_had(self, loaded: Host) -> None:
        """The service needs a millisecond of every five, and what computes takes the rest."""
        shares = self.look(loaded, "shares")["shares"]
        assert 0.15 < shares["checkout"] < 0.25
        assert 0.7 < shares["report-a"] < 0.85
        assert sum(shares.values()) == pytest.approx(1.0, abs=0.02)

    def test_who_waits_and_who_is_sent_away(self, loaded: Host) -> None:
        """A policy that lets the service run first is seen in its waiting times, whoever schedules."""
        before = self.look(loaded, "latency")["latency"]["checkout"]
        assert typed(loaded, "schedctl priority --first checkout")[0] == 0
        after = self.look(loaded, "latency")["latency"]["checkout"]
        assert after["waits"] > 50
        assert after["p99_us_at_most"] < before["p99_us_at_most"]
        assert sum(after["histogram_us"].values()) == after["waits"]
        switches = self.look(loaded, "switches", "--ms", "500")["switches"]
        assert switches["report-a"]["preempted"] > 50 > switches["report-a"]["slept"]
        assert switches["checkout"]["slept"] > 50

    def test_it_ends_when_it_is_over(self, loaded: Host) -> None:
        assert root(loaded, *TRACING) == "0"
        self.look(loaded, "shares", "--ms", "200")
        assert root(loaded, *TRACING) == "0"
        assert typed(loaded, "timeout 0.3 schedctl shares --ms 2000")[0] == 124
        loaded.ask("wait", seconds=0.3)
        assert root(loaded, *TRACING) == "0"

    def test_nobody_waits_for_a_look(self, loaded: Host) -> None:
        code, said = typed(
            loaded, "schedctl latency --ms 2000 >look & sleep 0.3; schedctl status; schedctl shares; wait"
        )
        status, other = (json.loads(line) for line in said.splitlines() if line.startswith("{"))
        assert status["state"] == "disabled"
        assert "somebody is looking already" in other["refused"]
        assert code == 0
        assert json.loads(typed(loaded, "cat look")[1])["ms"] >= 2000

    @pytest.mark.parametrize("words", ["latency --ms 5", "latency --ms 2001", "shares --ms", "latency checkout"])
    def test_what_is_no_look_is_refused(self, host: Host, words: str) -> None:
        assert typed(host, f"schedctl {words}")[0] == 1

    def test_an_altered_object_looks_at_nothing(self, host: Host) -> None:
        root(host, "mount", "-o", "remount,rw", "/")
        root(host, "sh", "-c", f"printf x >>{LAB}/look.bpf.o")
        code, said = typed(host, "schedctl shares")
        assert code == 1
        assert "is not the object that was built" in said
