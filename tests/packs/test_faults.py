"""Every fault takes hold and is witnessed, injected again does what its text says, and leaves nothing behind."""

from __future__ import annotations

import re

import pytest

from runners.backends.sim import SimBackend
from runners.harms import lasting_changes
from runners.opening import wait_for_witness
from runners.worlds import LiveWorld
from scenario_dsl.worlds import ResolvedFault
from tests.conformance.worlds import fault, library, open_system, run

GROWS = {"add_log_flood", "guess_passwords", "kernel_message", "log_noise"}
"""Faults whose text says that a second injection adds to the first."""
_GIVEAWAYS = re.compile(r"(?i)\b(simulat\w*|sandbox|mock|fake|breakfix|inject\w*|chaos|stress)\b")


@pytest.fixture(scope="module")
def backend() -> SimBackend:
    return SimBackend()


@pytest.fixture
def live(backend: SimBackend) -> LiveWorld:
    return open_system(backend, "web-server", seed=7)


FAULTS = sorted(library().faults)
UNITS = ("nginx", "shop", "worker", "postgresql", "redis-server", "cron", "ssh")


def example(name: str) -> ResolvedFault:
    return fault(name, dict(library().faults[name].example))


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name: str, live: LiveWorld) -> None:
    """With the arguments of its own example, which is what the catalogue shows."""
    resolved = example(name)
    before = live.facts()
    assert not all(seen.holds for seen in live.observe(resolved.witness)), "witnessed on a healthy machine"

    assert live.apply(resolved.inject) is None
    assert wait_for_witness(live, [resolved]) is None
    broken = live.facts()

    assert live.apply(resolved.inject) is None
    assert wait_for_witness(live, [resolved]) is None
    if name not in GROWS:
        assert not lasting_changes(broken, live.facts()), "a second injection changed something"

    assert live.apply(resolved.revert) is None
    live.wait(30)
    after = live.observe(resolved.witness)
    assert not all(seen.holds for seen in after), after
    assert not lasting_changes(before, live.facts())
    running = live.facts().processes
    assert [unit for unit in UNITS if f"{unit}.service" not in running] == []


@pytest.mark.parametrize("name", FAULTS)
def test_nothing_names_the_fault(name: str, live: LiveWorld) -> None:
    assert live.apply(example(name).inject) is None
    said = run(live, "ps aux; systemctl list-units --all --no-pager; journalctl -n 60 --no-pager; tail -n 5 /var/log/*")
    said += run(live, "ls -la /etc/systemd/system /run/systemd/system /tmp /root /var/log; history")
    assert name not in said
    assert not _GIVEAWAYS.search(said), _GIVEAWAYS.search(said)


def test_a_unit_that_restarts_by_itself_stays_down(live: LiveWorld) -> None:
    resolved = fault("crash_service", {"unit": "redis-server"})
    assert live.apply(resolved.inject) is None
    live.wait(60)
    assert live.observe(resolved.witness)[0].holds
    assert live.run("systemctl start redis-server", output_bytes=1000, seconds=30).exit_code == 0


def test_a_service_that_was_off_has_the_port(live: LiveWorld) -> None:
    resolved = fault("port_taken", {"port": 80, "unit": "nginx", "name": "apache2", "installed": True})
    before = live.facts()
    assert live.apply(resolved.inject) is None
    assert wait_for_witness(live, [resolved]) is None
    assert "Apache2 Debian Default Page" in run(live, "curl -s http://shop.example.com/")
    broken = live.facts()
    assert live.apply(resolved.inject) is None
    assert not lasting_changes(broken, live.facts())
    assert live.apply(resolved.revert) is None
    assert not lasting_changes(before, live.facts())
    assert "nginx.service" in live.facts().processes
