"""A world of several machines: each is reached by its name, and is looked at, broken and put back by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest

from runners.backends.container import ContainerBackend
from runners.backends.sim import SimBackend
from runners.here.owning import owner
from runners.hosts.fleet import _Started
from runners.worlds import LiveWorld, WorldError
from scenario_dsl.model import Node
from tests.conformance.worlds import content, probe, run, scenario, task, world
from tests.engine import built, engine

NODES = {"other": Node(system="small", address="10.0.0.11/24")}
FLEET = replace(content(), systems={"small": replace(content().systems["small"], nodes=NODES)})
"""Two of the small machine: an image of its own would be the same one."""


def test_the_sim_says_why_it_has_no_fleets() -> None:
    reason = SimBackend().unsupported(FLEET, scenario("small"))
    assert reason is not None
    assert "the fleet small: it simulates one machine" in reason


def comes_up(seen: list[str], *, network: object, together: Callable[[], None]) -> str:
    for state in ("listens", "is well"):
        seen.append(state)
        together()
    return "open"


def test_machines_of_a_fleet_wait_for_each_other() -> None:
    started, seen = _Started(3), list[str]()
    with ThreadPoolExecutor(3) as pool:
        opening = [pool.submit(started.open, partial(comes_up, seen), None) for _ in range(3)]  # type: ignore[arg-type]
    assert [begun.result() for begun in opening] == ["open"] * 3
    assert seen == ["listens"] * 3 + ["is well"] * 3


def test_one_machine_that_does_not_come_up_ends_the_wait_of_all() -> None:
    def fails(*, network: object, together: Callable[[], None]) -> str:
        together()
        raise WorldError("it is out of memory")

    started = _Started(3)
    with ThreadPoolExecutor(3) as pool:
        openers = (partial(comes_up, []), fails, partial(comes_up, []))
        opening = [pool.submit(started.open, opener, None) for opener in openers]  # type: ignore[arg-type]
    assert all(isinstance(begun.exception(), WorldError) for begun in opening)
    assert str(started.failed) == "it is out of memory"


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorld]:
    built("small")
    opened = ContainerBackend().open(FLEET, scenario("small"), world(), seed=0)
    yield opened
    opened.close()
    assert [name for name, whose in engine().ours() if whose == owner()] == []


@pytest.mark.engine
def test_the_shell_is_the_firsts_and_the_other_is_reached(live: LiveWorld) -> None:
    assert run(live, "hostname").strip() == "small"
    assert run(live, "curl -s -o /dev/null -w '%{http_code}' http://10.0.0.11/health") == "200"


@pytest.mark.engine
def test_probes_and_tasks_are_about_the_machine_that_they_name(live: LiveWorld) -> None:
    before = live.facts()
    breaking = replace(task("copy", dest="/srv/www/health", content="broken\n"), delegate_to="other")
    assert live.apply([breaking, task("copy", dest="/srv/www/mark", content="here\n")]) is None
    own, theirs, mark, its = live.observe(
        [
            probe("file", path="/srv/www/health", contains="broken"),
            probe("file", path="/srv/www/health", contains="broken", node="other"),
            probe("file", path="/srv/www/mark", exists=True),
            probe("file", path="/srv/www/mark", exists=True, node="other"),
        ]
    )
    assert (own.holds, theirs.holds, mark.holds, its.holds) == (False, True, True, False)
    assert theirs.detail.startswith("other: ")
    after = live.facts()
    changed = {path for path in after.persistent if after.persistent[path] != before.persistent.get(path)}
    assert changed == {"/srv/www/mark", "other:/srv/www/health"}
    assert "other:nginx.service" in after.processes
    assert live.restore(before) == ()
    assert live.facts().persistent == before.persistent
