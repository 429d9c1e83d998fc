"""A machine that is shut down goes by itself, though the agent's shell would not."""

from __future__ import annotations

import pytest

from runners.backends.registry import find_backend
from runners.hosts.engine import Engine
from tests.conformance.worlds import open_small, probe, run
from tests.engine import built


@pytest.mark.engine
def test_a_restart_does_not_wait_for_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    switched_off: list[str] = []
    monkeypatch.setattr(Engine, "kill", lambda self, container: switched_off.append(container))
    built("small")
    live = open_small(find_backend("container"))
    try:
        run(live, "touch /root/kept; reboot")
        assert any(
            live.observe([probe("unit", name="nginx", state="active")])[0].holds or live.wait(1) for _ in range(15)
        )
        assert run(live, "ls /root/kept") == "/root/kept\n"
        assert not switched_off
    finally:
        live.close()
