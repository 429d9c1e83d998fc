"""Type=notify: a start is over when the service says that it is ready, or has not done so in time."""

from __future__ import annotations

import pytest

from runners.backends.sim import SimWorld
from tests.runners.sim.worlds import typed, web_server

FAILED = (
    "Job for w.service failed because {}.\n"
    'See "systemctl status w.service" and "journalctl -xeu w.service" for details.\n'
)


@pytest.fixture
def live() -> SimWorld:
    return web_server()


def said(live: SimWorld, command: str) -> str:
    return typed(live, command, seconds=300).output.decode()


def write(live: SimWorld, program: str, more: str = "TimeoutStartSec=2") -> None:
    said(live, f"printf '[Service]\\nType=notify\\n{more}\\nExecStart={program}\\n' > /etc/systemd/system/w.service")
    said(live, "systemctl daemon-reload")


def test_who_never_says_it_is_ready_is_given_up(live: SimWorld) -> None:
    write(live, "/bin/sleep 99")
    assert said(live, "systemctl start w; echo $?") == FAILED.format("a timeout was exceeded") + "1\n"
    assert said(live, "systemctl show w -p Result; systemctl is-active w; pgrep -x sleep") == "Result=timeout\nfailed\n"
    assert said(live, "journalctl -u w --no-pager -o cat").splitlines() == [
        "Starting w.service...",
        "w.service: start operation timed out. Terminating.",
        "w.service: Failed with result 'timeout'.",
        "Failed to start w.service.",
    ]


def test_who_does_not_wait_finds_it_starting(live: SimWorld) -> None:
    write(live, "/bin/sleep 99", "TimeoutStartSec=20")
    said(live, "systemctl start --no-block w")
    assert said(live, "systemctl is-active w; systemctl list-jobs | awk 'NR == 2 {print $2, $3, $4}'") == (
        "activating\nw.service start running\n"
    )
    assert "Active: activating (start) since" in said(live, "systemctl status w")
    assert said(live, "sleep 20; systemctl is-active w; systemctl list-jobs") == "failed\nNo jobs running.\n"


def test_a_stop_ends_the_wait(live: SimWorld) -> None:
    write(live, "/bin/sleep 99", "TimeoutStartSec=infinity")
    said(live, "systemctl start --no-block w; systemctl stop w")
    assert said(live, "systemctl is-active w; systemctl list-jobs") == "inactive\nNo jobs running.\n"


def test_who_ends_before_it_is_ready_has_failed(live: SimWorld) -> None:
    write(live, "/usr/bin/sleep 1", "TimeoutStartSec=20")
    reason = "the service did not take the steps required by its unit configuration"
    assert said(live, "systemctl start w") == FAILED.format(reason)
    assert said(live, "systemctl show w -p Result -p ExecMainStatus") == "Result=protocol\nExecMainStatus=0\n"
    write(live, "/usr/bin/sleep 10", "TimeoutStartSec=20")
    said(live, "systemctl start --no-block w; pkill -9 -x sleep")
    assert said(live, "systemctl show w -p Result; systemctl is-active w") == "Result=signal\nfailed\n"


def test_daemons_of_the_system_say_it(live: SimWorld) -> None:
    units = "ssh redis-server postgresql rsyslog systemd-journald dbus systemd-logind systemd-timesyncd systemd-udevd"
    for unit in units.split():
        assert said(live, f"systemctl restart {unit}; systemctl is-active {unit}") == "active\n", unit
