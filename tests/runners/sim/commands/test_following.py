"""Whoever follows a log at the prompt looks for a moment; scripts wait for as long as they say."""

from __future__ import annotations

import re

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


def test_ping_goes_on_until_somebody_has_enough() -> None:
    done = typed(web_server(), "ping localhost")
    assert not done.timed_out
    assert done.exit_code == 0
    said = done.stdout.decode().splitlines()
    assert "^C" in said
    assert said[-2].startswith("5 packets transmitted, 5 received, 0% packet loss")


def test_ping_in_a_script_is_cut_without_its_statistics() -> None:
    done = typed(web_server(), "ping localhost < /dev/null", seconds=30)
    assert done.timed_out
    # Thirty seconds less the time that it took to type it.
    assert re.match(r"64 bytes from localhost \(::1\): icmp_seq=(28|29|30) ", done.stdout.decode().splitlines()[-1])
    assert b"statistics" not in done.stdout


def test_ping_sums_up_when_interrupted_and_not_when_ended() -> None:
    live = web_server()
    assert b"3 packets transmitted, 3 received" in typed(live, "timeout -s INT 3 ping db-replica").stdout
    assert b"statistics" not in typed(live, "timeout 3 ping db-replica").stdout
