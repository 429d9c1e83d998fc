"""What Ansible did to one world another is told, by a program that the world itself begins before systemd."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from runners.backends.container import ContainerBackend
from runners.hosts import recordings
from runners.hosts.playbooks import Call, Play
from runners.worlds import LiveWorld, TaskFailure
from scenario_dsl.model import Task
from tests.conformance.worlds import content, fault, run, scenario, world
from tests.engine import built

pytestmark = pytest.mark.engine

_BROKEN = replace(
    world(), faults=(fault("bad_permissions", {"path": "/srv/www/health", "mode": "0600", "was": "0644"}),)
)


def _opened(backend: ContainerBackend) -> LiveWorld:
    live = backend.open(content(), replace(scenario("small"), worlds=(_BROKEN,)), _BROKEN, seed=0)
    for one in _BROKEN.faults:
        assert live.apply(one.inject) is None
    return live


def test_the_second_world_needs_no_ansible_and_keeps_nothing_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    built("small")
    backend = ContainerBackend()
    _opened(backend).close()

    def refuse(_play: Play, _tasks: Sequence[Task]) -> tuple[TaskFailure | None, tuple[Call, ...]]:
        raise AssertionError("Ansible was asked")

    monkeypatch.setattr(recordings, "apply", refuse)
    live = _opened(backend)
    try:
        assert run(live, "stat -c %a /srv/www/health") == "600\n"
        assert "python" not in run(live, "ps -eo args")
        assert run(live, "ls -A /dev/shm; ls -A /etc | grep -E '^[.][0-9a-f]{32}$'") == ""
        assert not any("python" in line for line in live.facts().others.values())

        # Whoever restarts the machine finds it as any other: the program is begun at the first boot alone.
        run(live, "touch /etc/.0123456789abcdef0123456789abcdef; reboot")
        live.wait(3)
        assert "python" not in run(live, "ps -eo args")
        assert run(live, "stat -c %a /srv/www/health") == "600\n"
    finally:
        live.close()
