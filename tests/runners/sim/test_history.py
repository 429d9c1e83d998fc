"""A world's past and its present are the same services': counters, process ids and answers go on where logs end."""

from __future__ import annotations

import re
from itertools import pairwise

from runners.backends.sim import SimWorld
from tests.runners.sim.worlds import opened, typed


def said(command: str, live: SimWorld | None = None) -> str:
    return typed(live or opened().live, command, output_bytes=4 << 20, seconds=3600).output.decode()


def numbers(pattern: str, text: str) -> list[int]:
    return [int(found) for found in re.findall(pattern, text)]


def test_connections_are_numbered_on() -> None:
    text = said(
        "cat /var/log/nginx/error.log; curl -s localhost/.git/config > /dev/null; tail -1 /var/log/nginx/error.log"
    )
    found = numbers(r": \*(\d+) ", text)
    assert found == sorted(found)
    assert 0 < found[-1] - found[-2] < 500


def test_the_heartbeat_counts_on() -> None:
    text = said("sleep 100; grep heartbeat /var/log/shop/app.log")
    found = numbers(r"heartbeat: (\d+) ", text)
    assert found == sorted(found)
    assert found[-1] - found[0] > 500
    assert all(later - earlier < 30 for earlier, later in pairwise(found))


def test_process_ids_rise_up_to_the_living() -> None:
    live = opened().live
    text = said("sleep 1200; cat /var/log/auth.log.1 /var/log/auth.log", live)
    found = numbers(r"(?:CRON|sshd)\[(\d+)\]: .*session opened", text)
    assert len(found) > 100
    assert found == sorted(found)
    shell = int(said("echo $PPID", live))
    assert f"sshd[{shell}]: Accepted publickey for root" in text
    assert found[-1] - shell < 200


def test_the_past_got_what_the_present_gets() -> None:
    text = said(
        "cat /var/log/nginx/access.log; for path in / /health /api/orders /api/v1/users /.env /static/shop.css; do "
        "curl -so /dev/null shop.example.com$path; done; tail -6 /var/log/nginx/access.log"
    )
    answers: dict[str, set[str]] = {}
    for path, answer in re.findall(r'"GET (\S+) HTTP/1.1" (\d+ \d+) ', text):
        answers.setdefault(path, set()).add(answer)
    assert len(answers) > 8
    assert {path for path, got in answers.items() if len(got) > 1} == set()


def test_it_gets_busier_towards_the_opening_and_goes_on_so() -> None:
    times = ("03:", "08:", "09:(1[4-9]|2)")
    night, hour, before = (int(said(f"grep -cE 2026:{time!r} /var/log/nginx/access.log")) for time in times)
    now = int(said("sleep 600; awk -F'[ :]' '$5 == 9 && $6 >= 25' /var/log/nginx/access.log | wc -l"))
    assert 0.7 < now / before < 1.5
    assert night < hour < before * 6


def test_the_deployment_left_traces_that_agree() -> None:
    live = opened().live
    main = said("systemctl show -p MainPID --value shop", live).strip()
    assert "2026-03-13 21:03:00" in said("systemctl status shop", live)
    assert f"[{main}] shop: listening on" in said("cat /var/log/shop/app.log.1", live)
    refused = said("grep -c 'Connection refused' /var/log/nginx/error.log.1", live)
    answered = said("grep -c ' 502 ' /var/log/nginx/access.log.1", live)
    assert int(refused) == int(answered) > 2


def test_strangers_fail_as_the_servers_configuration_says() -> None:
    text = said("cat /var/log/auth.log.1 /var/log/auth.log")
    assert "Failed password" not in text
    knocking = re.findall(r"Connection closed by (\w+) user (\w+) ([\d.]+) port \d+ \[preauth\]", text)
    assert {kind for kind, _, _ in knocking} == {"authenticating", "invalid"}
    assert len({address for _, _, address in knocking}) > 20
    assert "btmp begins" in said("lastb")
    assert "ssh:notty" not in said("lastb")
