"""systemctl status of a service: the commands around it, and the lines of this run."""

from __future__ import annotations

import re

import pytest

from tests.runners.sim.admin.line import Terminal


@pytest.fixture
def sh() -> Terminal:
    return Terminal()


def commands(sh: Terminal, unit: str) -> list[str]:
    """The Process: and Main PID: lines, without the numbers of the processes."""
    lines = sh(f"systemctl status {unit} --no-pager").lines
    return [re.sub(r"\d+", "N", line.strip(), count=1) for line in lines if "Process: " in line or "Main PID: " in line]


PRE = "Process: N ExecStartPre=/usr/sbin/nginx -t -q -g daemon on; master_process on; (code=exited, status=0/SUCCESS)"
START = "Process: N ExecStart=/usr/sbin/nginx -g daemon on; master_process on; (code=exited, status=0/SUCCESS)"
RELOAD = "Process: N ExecReload=/usr/sbin/nginx -g daemon on; master_process on; -s reload (code=exited, status={})"
STOP = (
    "Process: N ExecStop=/sbin/start-stop-daemon --quiet --stop --retry QUIT/5 --pidfile /run/nginx.pid "
    "(code=exited, status=0/SUCCESS)"
)


def test_commands_that_have_ended_are_told_as_long_as_the_run_is_the_last(sh: Terminal) -> None:
    assert commands(sh, "nginx") == [PRE, START, "Main PID: N (nginx)"]
    sh("systemctl reload nginx")
    assert commands(sh, "nginx") == [PRE, START, RELOAD.format("0/SUCCESS"), "Main PID: N (nginx)"]
    sh("echo broken > /etc/nginx/conf.d/x.conf; systemctl reload nginx; rm /etc/nginx/conf.d/x.conf")
    assert commands(sh, "nginx") == [PRE, START, RELOAD.format("1/FAILURE"), "Main PID: N (nginx)"]
    sh("systemctl stop nginx")
    assert commands(sh, "nginx")[2:] == [
        RELOAD.format("1/FAILURE"),
        STOP,
        "Main PID: N (code=exited, status=0/SUCCESS)",
    ]
    sh("systemctl start nginx")
    assert commands(sh, "nginx") == [PRE, START, "Main PID: N (nginx)"]
    sh("systemctl daemon-reload")
    assert commands(sh, "nginx") == ["Main PID: N (nginx)"]


def test_a_killed_main_process_is_not_what_execstart_began(sh: Terminal) -> None:
    sh("systemctl kill -s KILL nginx")
    assert commands(sh, "nginx") == [PRE, START, "Main PID: N (code=killed, signal=KILL)"]


def test_lines_of_the_run_before_are_not_shown(sh: Terminal) -> None:
    sh("systemctl restart nginx")
    lines = [line.split(": ", 1)[1] for line in sh("systemctl status nginx --no-pager").lines if "systemd[1]" in line]
    assert lines[0].startswith("Starting nginx.service")
    assert not any("Stopp" in line for line in lines)


def test_a_dead_services_pid_file_goes_whoever_wrote_it(sh: Terminal) -> None:
    sh("systemctl stop nginx; nginx")
    assert sh("systemctl start nginx").status == 1
    assert sh("ls /run/nginx.pid").status == 2
    quitting = sh("nginx -s quit")
    assert quitting.status == 1
    assert quitting.err.splitlines()[-1].endswith('open() "/run/nginx.pid" failed (2: No such file or directory)')
    assert sh("curl -s -o /dev/null -w '%{http_code}' http://localhost/").out == "200"
    sh("pkill nginx")
    assert sh("tail -1 /var/log/nginx/error.log").out.endswith(
        'unlink() "/run/nginx.pid" failed (2: No such file or directory)\n'
    )
    assert sh("systemctl start nginx").status == 0
