"""Every fault takes hold and is witnessed, injected again does what its text says, and leaves nothing behind."""

from __future__ import annotations

import re

import pytest

from runners.backends.sim import SimBackend
from runners.harms import lasting_changes
from runners.opening import wait_for_witness
from runners.worlds import LiveWorld
from tests.conformance.worlds import fault, library, open_small, run

USES: dict[str, dict[str, object]] = {
    "add_log_flood": {"file": "/var/log/nginx/error.log", "text": "connect() failed (111: Refused)", "size": "300KB"},
    "add_unauthorized_access": {"account": "sysupdate"},
    "bad_permissions": {"path": "/etc/redis/redis.conf", "mode": "0000", "was": "0644", "unit": "redis-server"},
    "bad_unit": {"unit": "nginx", "command": "/usr/sbin/nginx-old -g 'daemon on;'"},
    "broken_symlink": {
        "link": "/etc/ssl/site/current.pem", "target": "2027.pem", "was": "2026.pem", "unit": "nginx",
    },
    "corrupt_config": {
        "path": "/etc/nginx/nginx.conf", "find": "listen 80 default_server;", "replace": "listen 80 default_server",
        "unit": "nginx", "then": "restart",
    },
    "crash_service": {"unit": "redis-server", "signal": "SEGV"},
    "dns_override": {"host": "db-primary", "address": "10.0.0.99"},
    "env_missing": {"path": "/etc/default/worker", "name": "TOKEN", "unit": "worker"},
    "expired_certificate": {"link": "/etc/ssl/site/current.pem", "expired": "2024.pem", "good": "2026.pem"},
    "fail_cron": {
        "table": "/etc/cron.d/tidy", "command": "/usr/local/bin/tidy.sh", "broken": "/usr/local/sbin/tidy.sh",
    },
    "fill_disk": {"path": "/var/log/core.dump"},
    "firewall_drop": {"port": 80},
    "inodes_exhausted": {"folder": "/tmp/sessions"},
    "kill_port": {"port": 6379, "unit": "redis-server"},
    "log_lines": {"file": "/var/log/syslog", "after": "Started Session", "lines": ["one more line"]},
    "log_noise": {"file": "/var/log/syslog", "text": "postgresql.service: Failed with result 'signal'."},
    "masked_service": {"unit": "nginx"},
    "memory_pressure": {"size": "3GB"},
    "port_taken": {"port": 80, "unit": "nginx"},
    "runaway_process": {"workers": 2},
    "wrong_owner": {"path": "/etc/default/worker", "was_owner": "root", "was_group": "app", "group": "daemon"},
}  # fmt: skip
GROWS = {"add_log_flood", "log_noise"}
"""Faults whose text says that a second injection adds to the first."""
_GIVEAWAYS = re.compile(r"(?i)\b(simulat\w*|sandbox|mock|fake|breakfix|inject\w*|chaos|stress)\b")


@pytest.fixture(scope="module")
def backend() -> SimBackend:
    return SimBackend()


@pytest.fixture
def live(backend: SimBackend) -> LiveWorld:
    return open_small(backend, seed=7)


def test_every_fault_is_tried() -> None:
    assert set(USES) == set(library().faults)


@pytest.mark.parametrize("name", USES)
def test_fault(name: str, live: LiveWorld) -> None:
    resolved = fault(name, USES[name])
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
    for unit in ("nginx", "redis-server", "worker", "cron"):
        assert f"{unit}.service" in live.facts().processes


@pytest.mark.parametrize("name", USES)
def test_nothing_names_the_fault(name: str, live: LiveWorld) -> None:
    resolved = fault(name, USES[name])
    assert live.apply(resolved.inject) is None
    said = run(
        live, "ps aux; systemctl list-units --all --no-pager; journalctl -n 60 --no-pager; tail -n 5 /var/log/syslog"
    )
    said += run(live, "ls -la /etc/systemd/system /run/systemd/system /tmp /root /var/log; history")
    assert name not in said
    assert not _GIVEAWAYS.search(said), _GIVEAWAYS.search(said)
