"""Administrators' commands answer on the simulated system as they did on a real one, in every captured state."""

from __future__ import annotations

import re
from functools import cache

import pytest
import yaml

from tests.captures.compare import HERE, captures, differences, states
from tests.captures.structure import Table, agree, structure, text_structure


@cache
def allowed() -> dict[str, dict[str, str]]:
    """state -> command -> why it may differ."""
    listed: dict[str, dict[str, str]] = {}
    for entry in yaml.safe_load((HERE / "differences.yml").read_text()):
        for state, commands in entry["captures"].items():
            for command in commands:
                assert command not in listed.setdefault(state, {}), f"{state}: {command} is listed twice"
                listed[state][command] = entry["reason"]
    return listed


@pytest.mark.parametrize("state", states())
def test_answers_of_a_state_agree_but_for_the_listed(state: str) -> None:
    found = {difference.capture.command: difference.what for difference in differences(state)}
    listed = allowed().get(state, {})
    unlisted = [f"$ {command}\n{what}" for command, what in found.items() if command not in listed]
    healed = [command for command in listed if command not in found]
    assert not unlisted, "\n".join(unlisted)
    assert not healed, f"these agree by now and are to be taken off differences.yml: {healed}"


def test_every_listed_difference_names_a_capture() -> None:
    for state, commands in allowed().items():
        assert set(commands) <= {capture.command for capture in captures(state)}


def test_there_are_captures_enough() -> None:
    assert len(states()) >= 14
    assert sum(1 for state in states() for _ in captures(state)) >= 300


@pytest.mark.parametrize("state", states())
def test_data_belongs_to_the_state_as_it_is_written_now(state: str) -> None:
    written = yaml.safe_load((HERE / "states" / f"{state}.yml").read_text())
    assert [capture.command for capture in captures(state)] == written["commands"]


def test_data_is_small_and_names_no_machine() -> None:
    files = sorted((HERE / "data").glob("*.jsonl"))
    assert sum(path.stat().st_size for path in files) < 2 << 20
    for path in files:
        assert not re.search(
            rf"docker/|overlay2|{re.escape(str(HERE.parents[1]))}|firecracker|mirror", path.read_text()
        ), path.name


SS = """\
State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess
LISTEN 0      511          0.0.0.0:80        0.0.0.0:*    users:(("nginx",pid=52,fd=5))
"""
UPSTREAM = "connect() failed (111: Connection refused) while connecting to upstream"
EXITED = "   Process: 1 ExecStart=/x (code=exited, status={})"
ACTIVE = "     Active: active (running) since {}\n"


@pytest.mark.parametrize(
    ("command", "one", "two"),
    [
        ("systemctl is-active x", "active\n", "failed\n"),
        ("ss -tlnp", SS, SS.replace("Recv-Q", "RecvQ")),
        ("ss -tlnp", SS, SS.splitlines()[0] + "\n"),
        ("ss -tlnp", SS, SS.replace("0.0.0.0:80", "/run/x")),
        ("curl -s -o /dev/null -w '%{http_code}'", "502", "200"),
        ("curl -si x", "HTTP/1.1 502 Bad Gateway\n", "HTTP/1.1 504 Gateway Time-out\n"),
        ("systemctl status x", EXITED.format("203/EXEC"), EXITED.format("1/FAILURE")),
        ("systemctl status x", "     Active: failed (Result: signal)", "     Active: failed (Result: exit-code)"),
        ("free -h", "        total\nMem:    7.8Gi\n", "        total  used\nMem:    7.8Gi  1Gi\n"),
        ("curl -sS x", "curl: (7) Failed to connect", "curl: (28) Failed to connect"),
        ("iptables -S", "-A INPUT -p tcp -m tcp --dport 80 -j DROP", "-A INPUT -p tcp -m tcp --dport 81 -j DROP"),
    ],
)
def test_what_matters_is_seen(command: str, one: str, two: str) -> None:
    assert not agree(structure(command, one, healthy=False), structure(command, two, healthy=False))


@pytest.mark.parametrize(
    ("command", "one", "two"),
    [
        ("ss -tlnp", SS, SS.replace("pid=52", "pid=999").replace("0.0.0.0:80 ", "127.0.0.1:8000 ")),
        ("df -h /", "Filesystem Size\n/dev/sda1 20G\n", "Filesystem Size\n/dev/vda1 9.8G\n"),
        (
            "uptime",
            " 17:39:14 up 2 min,  1 user,  load average: 1.1",
            " 09:24:17 up 22 days,  1:02,  1 user,  load average: 0.0",
        ),
        ("journalctl -u x -o cat", "x.service: Consumed 1min 2.5s CPU time.", "x.service: Consumed 40ms CPU time."),
        (
            "tail -n 1 /x",
            f"2026/11/29 17:44:49 [error] 77#77: *15 {UPSTREAM}",
            f"2026/03/14 09:24:19 [error] 384#384: *2 {UPSTREAM}",
        ),
        (
            "systemctl status x",
            ACTIVE.format("Sun 2026-11-29 17:45:37 UTC; 1s ago") + "      Tasks: 3\n",
            ACTIVE.format("Fri 2026-02-20 09:24:19 UTC; 3 weeks 0 days ago"),
        ),
    ],
)
def test_what_any_two_machines_differ_in_is_not(command: str, one: str, two: str) -> None:
    assert agree(structure(command, one, healthy=False), structure(command, two, healthy=False))


def test_a_table_is_more_than_its_text() -> None:
    assert isinstance(structure("ss -tlnp", SS, healthy=True), Table)
    assert text_structure("a 1\na 2\n\n") == ("a <n>",)
