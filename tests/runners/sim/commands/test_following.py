"""Whoever follows a log at the prompt looks for a moment; scripts wait for as long as they say."""

from __future__ import annotations

import pytest

from tests.runners.sim.worlds import typed, web_server


@pytest.mark.parametrize("command", ["tail -f /var/log/syslog", "journalctl -f", "tail -F /var/log/syslog | cat"])
def test_a_person_interrupts_it(command: str) -> None:
    done = typed(web_server(), command)
    assert not done.timed_out
    assert 4 < done.seconds < 12


def test_timeout_has_its_own_patience() -> None:
    done = typed(web_server(), "timeout 20 tail -f /var/log/syslog")
    assert done.exit_code == 124
    assert 19 < done.seconds < 22


def test_mv_between_file_systems_tells_of_both_halves() -> None:
    live = web_server()
    told = typed(live, "mkdir /opt/d; echo x > /opt/d/f; mv -v /opt/d /tmp/e").stdout.decode()
    assert told.splitlines() == [
        "created directory '/tmp/e'",
        "copied '/opt/d/f' -> '/tmp/e/f'",
        "removed '/opt/d/f'",
        "removed directory '/opt/d'",
    ]
