"""What an agent wrote or made ends nothing but its own machine's programs."""

from __future__ import annotations

import random
import re

import pytest

from runners.backends.sim import SimWorld
from runners.sim.machine import Machine, Program
from runners.sim.processes import Process
from runners.worlds import WorldError
from scenario_dsl.model import Probe
from tests.runners.sim.worlds import typed, web_server

READ = (
    "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/passwd", "/etc/group", "/etc/crontab", "/etc/fstab",
    "/etc/nginx/nginx.conf", "/etc/ssh/sshd_config", "/etc/redis/redis.conf", "/etc/logrotate.conf", "/etc/environment",
    "/etc/postgresql/15/main/postgresql.conf", "/etc/postgresql/15/main/pg_hba.conf", "/etc/rsyslog.conf",
    "/etc/systemd/system/shop.service", "/lib/systemd/system/nginx.service", "/lib/systemd/system/logrotate.timer",
    "/var/lib/postgresql/15/main/global/1262", "/var/lib/postgresql/15/main/global/1260",
)  # fmt: skip
"""What the machine reads in its own time."""


class Faulty(Program):
    """Fails wherever it is asked for something."""

    def start(self, machine: Machine, process: Process, say: object) -> int | None:
        machine.schedule(5.0, "program", (process.pid, "later"))
        return None

    def wake(self, machine: Machine, process: Process, argument: object) -> None:
        raise KeyError(argument)

    def stop(self, machine: Machine, process: Process, number: int) -> int:
        raise ZeroDivisionError

    def serve(self, machine: Machine, process: Process, request: object, connection: object) -> object:
        raise RecursionError


def with_faulty() -> tuple[SimWorld, Process]:
    """A web server on which a program that fails stands in for cron."""
    live = web_server()
    machine = live._machine
    typed(live, "systemctl stop cron")
    machine.programs = {**machine.programs, "cron": Faulty()}
    typed(live, "systemctl start cron")
    process = next(process for process in machine.processes if process.program == "cron")
    return live, process


def test_a_program_that_fails_is_killed_by_a_segmentation_fault() -> None:
    live, process = with_faulty()
    with pytest.warns(RuntimeWarning, match=r"cron crashed: KeyError\('later'\)"):
        live.wait(6)
    assert process.pid not in live._machine.processes.by_pid
    assert b"status=11/SEGV" in typed(live, "journalctl -u cron").output
    assert typed(live, "echo alive").output == b"alive\n"


def test_asked_to_end_it_ends_all_the_same() -> None:
    live, process = with_faulty()
    with pytest.warns(RuntimeWarning, match="cron crashed: ZeroDivisionError"):
        typed(live, f"kill {process.pid}")
    assert process.pid not in live._machine.processes.by_pid


def test_a_request_that_it_fails_on_gets_no_answer() -> None:
    live, process = with_faulty()
    with pytest.warns(RuntimeWarning, match="cron crashed: RecursionError"):
        assert live._machine.programs["cron"].serve(live._machine, process, None, None) is None


def test_an_event_that_fails_does_not_stop_the_clock() -> None:
    live = web_server()
    machine = live._machine

    def fail(_machine: Machine, argument: object) -> None:
        raise ValueError(argument)

    machine.handlers = {**machine.handlers, "odd": fail}
    machine.schedule(1.0, "odd", "what")
    before = machine.clock.now
    with pytest.warns(RuntimeWarning, match="the event odd crashed: ValueError"):
        live.wait(10)
    assert machine.clock.now == pytest.approx(before + 10)


def test_a_probe_that_fails_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    live = web_server()

    def fail(*_: object) -> None:
        raise IndexError

    monkeypatch.setattr(type(live._memo), "evaluate", fail)
    with pytest.warns(RuntimeWarning, match="the probe service crashed: IndexError"):
        (seen,) = live.observe([Probe(type="service", arguments={"name": "nginx"})])
    assert not seen.holds


def test_what_the_infrastructure_lacks_is_still_said(monkeypatch: pytest.MonkeyPatch) -> None:
    live = web_server()
    monkeypatch.setattr("runners.backends.sim.persistent_facts", lambda _machine: 1 // 0)
    typed(live, "touch /root/x")
    with pytest.raises(WorldError, match="the simulated server failed: ZeroDivisionError"):
        live.facts()


DROP_IN = (
    "mkdir -p /etc/systemd/system/nginx.service.d; printf '%b' '[Service]\\nRestart=always\\n{}\\n' > "
    "/etc/systemd/system/nginx.service.d/a.conf; systemctl daemon-reload; systemctl restart nginx; "
    "kill -9 $(cat /run/nginx.pid)"
)


@pytest.mark.parametrize(
    "line",
    [
        "echo 'options timeout:x' >> /etc/resolv.conf",
        "echo 'options timeout:1/0 attempts: ndots:99999999999' >> /etc/resolv.conf",
        DROP_IN.format("[Unit]\\nStartLimitBurst=abc"),
        DROP_IN.format("RuntimeDirectory=x\\nRuntimeDirectoryMode=nan"),
        r"printf '[Timer]\nOnCalendar=*-*-* *:*/0:0\n' > /etc/systemd/system/t.timer; systemctl daemon-reload; "
        "systemctl start t.timer; systemctl list-timers",
        "mkdir -p $(printf 'a/%.0s' {1..499})",
    ],
)
def test_a_bad_value_is_no_end_of_the_world(line: str) -> None:
    live = web_server()
    typed(live, line)
    begun = live._machine.clock.now
    live.wait(100)
    live.facts()
    assert live._machine.traffic[-1].at > begun
    assert typed(live, "echo alive").output == b"alive\n"


def mutated(data: bytes, choose: random.Random) -> bytes:
    lines = data.split(b"\n")
    at = choose.randrange(len(lines))
    match choose.randrange(6):
        case 0:
            return re.sub(rb"\d+", b"x", data)
        case 1:
            return data[: choose.randrange(len(data) + 1)]
        case 2:
            lines[at] = re.sub(rb"\d+", choose.choice((b"-1", b"", b"9" * 30, b"1/0")), lines[at])
        case 3:
            lines[at] = lines[at][: len(lines[at]) // 2]
        case 4:
            lines[at] = bytes(choose.randrange(256) for _ in range(20))
        case _:
            words = lines[at].split(b" ")
            choose.shuffle(words)
            lines[at] = b" ".join(words)
    return b"\n".join(lines)


@pytest.mark.parametrize("seed", range(len(READ)))
def test_whatever_a_file_says_the_machine_lives_on(seed: int) -> None:
    choose, base = random.Random(seed), web_server()
    for number in range(6):
        live = base.fork(seed=number)
        view = live._machine.view()
        view.write(READ[seed], mutated(view.read(READ[seed]), choose))
        live.wait(70)
        typed(live, "systemctl daemon-reload; kill -9 $(pgrep -o nginx) $(pgrep -o postgres)")
        live.wait(70)
        typed(live, "systemctl restart nginx shop postgresql redis-server cron ssh rsyslog; curl -s localhost/")
        live.wait(70)
        live.facts()
