"""A world is aged without waiting: what systemd would have forgotten meanwhile, it has, and the machine rests again."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from runners.backends.registry import find_backend
from runners.hosts.world import ContainerWorld
from tests.conformance.worlds import open_system, run
from tests.engine import built

pytestmark = pytest.mark.engine

_TUNED = "[Service]\\nExecStart=\\nExecStart=/opt/shop/bin/nothing\\nRestartSec=100ms\\n"
_GIVEN_UP = (
    f"mkdir -p /etc/systemd/system/shop.service.d; printf '{_TUNED}' > /etc/systemd/system/shop.service.d/tuned.conf; "
    "systemctl daemon-reload; systemctl restart shop; until systemctl is-failed shop; do sleep 0.2; done"
)
_AGAIN = "systemctl restart shop && echo tried"


@pytest.fixture
def live() -> Iterator[ContainerWorld]:
    built("web-server")
    world = open_system(find_backend("container"), "web-server")
    assert isinstance(world, ContainerWorld)
    yield world
    world.close()


def test_a_service_that_was_given_up_long_ago_is_tried_again(live: ContainerWorld) -> None:
    run(live, _GIVEN_UP)
    restarts = run(live, "systemctl show shop -p NRestarts")
    live.age(30)
    assert "tried" not in run(live, _AGAIN)
    live.age(180)
    assert run(live, "systemctl is-failed shop") == "failed\n"
    assert run(live, "systemctl show shop -p NRestarts") == restarts
    assert "tried" in run(live, _AGAIN)


@pytest.mark.parametrize(
    ("busy", "waits"),
    [
        ("true", False),
        ("(while :; do :; done) & sleep 0.1", True),
        ("systemd-run -q -p Restart=always -p RestartSec=30 false; sleep 0.3", True),
    ],
    ids=["at rest", "at work", "about to be started again"],
)
def test_it_is_waited_for_a_machine_that_has_not_come_to_rest(live: ContainerWorld, busy: str, waits: bool) -> None:
    run(live, busy)
    begun = time.monotonic()
    live.age(0.9)
    assert (time.monotonic() - begun >= 0.9) == waits


def test_units_that_somebody_has_changed_are_not_read_for_that(live: ContainerWorld) -> None:
    run(live, _GIVEN_UP)
    run(live, "rm /etc/systemd/system/shop.service.d/tuned.conf")
    live.age(180)
    assert run(live, "systemctl show shop -p NeedDaemonReload") == "NeedDaemonReload=yes\n"


def test_files_are_as_old_as_they_are_described(live: ContainerWorld) -> None:
    """Whenever the image was made: jobs of the machine's own remove what is old."""
    sessions = run(
        live,
        "cd /opt/shop/sessions; for f in sess_7f3a sess_91bc; do echo $((($(date +%s) - $(stat -c %Y $f)) / 60)); done",
    )
    assert sessions.split() in (["20", "50"], ["21", "51"])
    facts = live.facts()
    run(live, "su -s /bin/sh shop -c /opt/shop/scripts/clean-sessions.sh")
    assert live.facts().persistent == facts.persistent
