"""What the small system has not: a database, and services that stand on others. On every backend the same answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runners.backends.registry import find_backend
from runners.worlds import LiveWorld
from scenario_dsl.model import Probe
from tests.conformance.probe_cases import QUESTIONS, asked
from tests.conformance.test_backend import BACKENDS
from tests.conformance.worlds import open_system, probe, run
from tests.engine import built


@pytest.fixture(scope="module", params=BACKENDS)
def live(request: pytest.FixtureRequest) -> Iterator[LiveWorld]:
    if request.param == "container":
        built("web-server")
    world = open_system(find_backend(request.param), "web-server")
    yield world
    world.close()


@pytest.mark.parametrize(
    ("question", "holds"),
    QUESTIONS,
    ids=lambda value: (
        value if isinstance(value, bool) else f"{dict(value.arguments)['query']} {dict(value.arguments)['user']}"
    ),
)
def test_a_question(question: Probe, holds: bool, live: LiveWorld) -> None:
    observation = live.observe([question])[0]
    assert observation.holds is holds, observation.detail


def test_nothing_begins_at_an_hour_of_its_own_that_is_not_described(live: LiveWorld) -> None:
    """On a full disk it would fail, for whoever happens to be there then."""
    listed = run(live, "systemctl list-timers --all --plain --no-legend --no-pager").split()
    timers = {word for word in listed if word.endswith(".timer")}
    assert timers == {"apt-daily.timer", "fstrim.timer", "logrotate.timer"}
    assert run(live, "ls /etc/cron.d").split() == ["e2scrub_all", "shop"]


def test_a_service_says_what_it_stands_on(live: LiveWorld) -> None:
    facts = live.facts()
    assert facts.needs.keys() <= facts.processes.keys()
    assert {"postgresql.service", "redis-server.service"} <= set(facts.needs["shop.service"])
    assert "shop.service" not in facts.needs["postgresql.service"]


def test_a_query_changes_nothing(live: LiveWorld) -> None:
    live.observe([asked("shop", "DELETE FROM orders")])
    assert live.observe([asked("shop", "SELECT count(*) FROM orders", equals="10")])[0].holds


def test_a_database_that_does_not_run(live: LiveWorld) -> None:
    count = asked("shop", "SELECT count(*) FROM orders", equals="10")
    run(live, "systemctl stop postgresql")
    assert not live.observe([count])[0].holds
    run(live, "systemctl start postgresql")
    assert any(live.observe([count])[0].holds or live.wait(1) for _ in range(15))


MOVE = (
    "sed -i 's/127.0.0.1:{there}/127.0.0.1:{to}/' /etc/shop/app.env /etc/nginx/sites-available/shop; "
    "systemctl restart shop nginx"
)
"""The shop and who asks it, to another port."""


def test_a_program_may_answer_from_another_port_and_no_other_in_its_place(live: LiveWorld) -> None:
    health = probe("http", url="http://localhost/health", status=200)

    def becomes_well() -> bool:
        return any(live.observe([health])[0].holds or live.wait(1) for _ in range(15))

    run(live, MOVE.format(there=8000, to=8080))
    assert becomes_well()
    run(live, "systemctl stop shop")
    assert not live.observe([health])[0].holds
    other = "events {} pid /run/other.pid; http { server { listen 127.0.0.1:8080; location / { return 200 ok; } } }"
    run(live, f"echo '{other}' > /root/other.conf; nginx -c /root/other.conf")
    assert run(live, "curl -s http://localhost/health") == "ok"
    assert not live.observe([health])[0].holds
    run(live, "kill $(cat /run/other.pid); sleep 1; systemctl start shop")
    assert becomes_well()
    run(live, MOVE.format(there=8080, to=8000))
    assert becomes_well()


def test_what_a_normal_boot_starts_is_enabled_and_nothing_of_it_is_masked(live: LiveWorld) -> None:
    said = run(
        live, "for unit in $(ls /etc/systemd/system/multi-user.target.wants); do systemctl is-enabled $unit; done"
    )
    assert set(said.split()) == {"enabled"}
