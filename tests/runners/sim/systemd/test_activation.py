"""What starts and stops a unit besides its own jobs: sockets, and units that cannot run beside it."""

from __future__ import annotations

import pytest

from tests.runners.sim.admin.line import Terminal


@pytest.fixture
def sh() -> Terminal:
    return Terminal()


def conflicting(sh: Terminal) -> None:
    sh(
        "printf '[Unit]\\nConflicts=nginx.service\\n[Service]\\nExecStart=/usr/bin/sleep 999\\n' > /etc/systemd/system/s.service"
    )
    sh("systemctl daemon-reload")


def test_units_in_conflict_stop_each_other_whichever_names_the_other(sh: Terminal) -> None:
    conflicting(sh)
    assert sh("systemctl start s; systemctl is-active s nginx").lines == ["active", "inactive"]
    assert sh("systemctl start nginx; systemctl is-active s nginx").lines == ["inactive", "active"]


def test_what_is_logged_starts_a_stopped_rsyslog(sh: Terminal) -> None:
    stopped = sh("systemctl stop rsyslog")
    warning = "Warning: Stopping rsyslog.service, but it can still be activated by:\n  syslog.socket\n"
    assert stopped == ("", warning, 0)
    assert sh("logger lost; systemctl is-active rsyslog; grep -c 'root: lost' /var/log/syslog").lines == ["active", "1"]


def test_without_its_socket_rsyslog_stays_down_and_its_start_opens_the_socket_again(sh: Terminal) -> None:
    sh("systemctl stop syslog.socket rsyslog; logger lost")
    assert sh("systemctl is-active rsyslog syslog.socket").lines == ["inactive", "inactive"]
    assert sh("systemctl start rsyslog; systemctl is-active rsyslog syslog.socket").lines == ["active", "active"]
    assert sh("grep -c 'root: lost' /var/log/syslog").lines == ["0"]


def test_a_socket_whose_service_cannot_start_is_closed(sh: Terminal) -> None:
    sh("systemctl mask rsyslog; systemctl stop rsyslog; logger lost")
    assert sh("systemctl is-active rsyslog syslog.socket").lines == ["inactive", "failed"]
    sh(
        "systemctl unmask rsyslog; mv /etc/rsyslog.conf /root; systemctl restart syslog.socket; logger x; sleep 10; logger y"
    )
    assert sh("systemctl is-active rsyslog syslog.socket").lines == ["failed", "failed"]
