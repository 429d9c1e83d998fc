"""Tasks applied by Ansible: what takes too long is ended where it runs."""

from __future__ import annotations

import pytest

from runners.backends.container import ContainerBackend
from runners.hosts import playbooks
from tests.conformance.worlds import content, run, scenario, task, world
from tests.engine import built

pytestmark = pytest.mark.engine


def test_a_task_that_takes_too_long_has_failed_and_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    built("small")
    monkeypatch.setattr(playbooks, "_SECONDS", 4)
    live = ContainerBackend().open(content(), scenario("small"), world(), seed=0)
    try:
        run(live, "true")  # its state is nobody else's now, so nothing is retold
        before = live.facts().others
        failure = live.apply([task("command", argv=("/usr/bin/sleep", "601"))])
        assert failure is not None
        assert "sleep 601" not in run(live, "ps -eo args")
        assert live.facts().others.keys() == before.keys()
    finally:
        live.close()
