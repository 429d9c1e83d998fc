"""systemctl, journalctl and service."""

from __future__ import annotations

import pytest

from runners.sim.commands import COMMANDS
from tests.runners.sim.admin.line import Terminal


def test_status_of_a_running_service(sh: Terminal) -> None:
    result = sh("systemctl status nginx")
    lines = result.lines
    assert result.status == 0
    assert lines[0] == "● nginx.service - A high performance web server and a reverse proxy server"
    assert lines[1] == "     Loaded: loaded (/lib/systemd/system/nginx.service; enabled; preset: enabled)"
    assert lines[2].startswith("     Active: active (running) since ")
    assert any(line.startswith("   Main PID: ") and line.endswith("(nginx)") for line in lines)
    assert any(line.startswith("             └─") for line in lines)


def test_a_stopped_service_is_inactive_everywhere(sh: Terminal) -> None:
    assert sh("systemctl stop nginx").status == 0
    assert sh("systemctl is-active nginx") == ("inactive\n", "", 3)
    status = sh("systemctl status nginx")
    assert status.status == 3
    assert status.lines[0].startswith("○ nginx.service")
    assert "   Duration: " in status.out
    assert sh("pgrep nginx").status == 1
    assert "Stopped nginx.service" in sh("journalctl -u nginx -n 1 --no-pager").out
    assert sh("systemctl start nginx").status == 0
    assert sh("curl -s -o /dev/null -w '%{http_code}' http://localhost/").out == "200"


@pytest.mark.parametrize(
    ("command", "err", "status"),
    [
        ("systemctl status nosuch", "Unit nosuch.service could not be found.\n", 4),
        ("systemctl start nosuch", "Failed to start nosuch.service: Unit nosuch.service not found.\n", 5),
        ("systemctl stop nosuch", "Failed to stop nosuch.service: Unit nosuch.service not loaded.\n", 5),
        ("systemctl enable nosuch", "Failed to enable unit: Unit file nosuch.service does not exist.\n", 1),
        ("systemctl cat nosuch", "No files found for nosuch.service.\n", 1),
        ("systemctl frobnicate nginx", "Unknown command verb frobnicate.\n", 1),
        ("systemctl --frobnicate", "systemctl: unrecognized option '--frobnicate'\n", 1),
        ("systemctl start", "Too few arguments.\n", 1),
        (
            "systemctl is-enabled nosuch",
            "Failed to get unit file state for nosuch.service: No such file or directory\n",
            1,
        ),
    ],
)
def test_errors_and_exit_codes(sh: Terminal, command: str, err: str, status: int) -> None:
    result = sh(command)
    assert (result.err, result.status) == (err, status)


def test_enable_disable_and_mask_make_and_remove_links(sh: Terminal) -> None:
    assert 'Removed "/etc/systemd/system/multi-user.target.wants/worker.service".' in sh("systemctl disable worker").err
    assert sh("systemctl is-enabled worker") == ("disabled\n", "", 1)
    assert "Created symlink" in sh("systemctl enable worker").err
    assert sh("systemctl mask cron").err == "Created symlink /etc/systemd/system/cron.service → /dev/null.\n"
    sh("systemctl stop cron")
    assert sh("systemctl start cron").err == "Failed to start cron.service: Unit cron.service is masked.\n"
    assert sh("systemctl is-enabled cron").out == "masked\n"
    assert sh("systemctl unmask cron").err == 'Removed "/etc/systemd/system/cron.service".\n'


def test_a_changed_unit_file_is_told_of_until_it_is_read_again(sh: Terminal) -> None:
    sh("sed -i 's/^RestartSec=.*/RestartSec=9/' /etc/systemd/system/shop.service")
    warning = "Warning: The unit file, source configuration file or drop-ins of shop.service changed on disk."
    assert sh("systemctl status shop").err.startswith(warning)
    sh("systemctl daemon-reload")
    assert sh("systemctl status shop").err == ""


def test_lists(sh: Terminal) -> None:
    assert sh("systemctl --failed").out == "  UNIT LOAD ACTIVE SUB DESCRIPTION\n0 loaded units listed.\n"
    running = sh("systemctl list-units --type=service --state=running --no-legend --plain").lines
    assert any(line.split()[:4] == ["nginx.service", "loaded", "active", "running"] for line in running)
    files = sh("systemctl list-unit-files nginx.service").lines
    assert files[0].split() == ["UNIT", "FILE", "STATE", "PRESET"]
    assert files[1].split() == ["nginx.service", "enabled", "enabled"]
    assert sh("systemctl list-timers").lines[0].split() == ["NEXT", "LEFT", "LAST", "PASSED", "UNIT", "ACTIVATES"]


def test_a_failed_start_is_told_of_in_every_place(sh: Terminal) -> None:
    sh("sed -i '$ d' /etc/nginx/nginx.conf")
    result = sh("systemctl restart nginx")
    assert result.status == 1
    assert result.err == (
        "Job for nginx.service failed because the control process exited with error code.\n"
        'See "systemctl status nginx.service" and "journalctl -xeu nginx.service" for details.\n'
    )
    status = sh("systemctl status nginx")
    assert status.status == 3
    assert status.lines[0].startswith("× nginx.service")
    assert any(line.startswith("     Active: failed (Result: exit-code) since ") for line in status.lines)
    assert "unexpected end of file" in status.out
    assert "● nginx.service loaded failed failed" in sh("systemctl --failed").out
    assert sh("systemctl is-failed nginx") == ("failed\n", "", 0)
    assert sh("systemctl is-system-running") == ("degraded\n", "", 1)


def test_show_gives_chosen_properties(sh: Terminal) -> None:
    assert sh("systemctl show nginx -p ActiveState,SubState").out == "ActiveState=active\nSubState=running\n"
    assert sh("systemctl show -p MainPID --value nginx").out.strip() == sh("pgrep -o nginx").out.strip()
    assert sh("systemctl show nosuch -p LoadState").out == "LoadState=not-found\n"


def test_the_journal_is_filtered(sh: Terminal) -> None:
    assert len(sh("journalctl -n 3 --no-pager").lines) == 3
    assert all("nginx" in line for line in sh("journalctl -u nginx -n 2").lines)
    assert sh("journalctl -u nosuch").out == "-- No entries --\n"
    newest = sh("journalctl -u nginx -n 2 -r -o cat").lines
    assert newest == sh("journalctl -u nginx -n 2 -o cat").lines[::-1]
    assert sh("journalctl -o bogus") == ("", "Unknown output format 'bogus'.\n", 1)
    assert sh("journalctl --since garbage").err == "Failed to parse timestamp: garbage\n"


def test_a_user_without_rights_is_refused(sh: Terminal) -> None:
    result = sh("sudo -u shop systemctl restart nginx")
    assert result.status == 1
    assert "Interactive authentication required" in result.err


def test_a_reboot_starts_what_is_enabled(sh: Terminal) -> None:
    sh("systemctl disable --now worker; systemctl stop nginx; iptables -F")
    before = sh("uptime -s").out
    assert sh("reboot").status == 0
    assert sh("uptime -s").out != before
    assert sh("systemctl is-active nginx worker").out == "active\ninactive\n"
    assert len(sh("iptables -S INPUT").lines) > 3
    assert "Linux version" in sh("dmesg").lines[0]


def test_help_and_version_are_answered(sh: Terminal) -> None:
    for tool in ("systemctl", "journalctl", "free", "ss", "lsblk", "sysctl", "useradd", "curl", "df"):
        result = sh(f"{tool} --help")
        assert "sage" in result.out, tool
        assert result.status == 0, tool
    assert sh("systemctl --version").lines[0].startswith("systemd 252 (252.")
    assert sh("free -V").out == "free from procps-ng 4.0.2\n"


def test_no_command_stumbles_over_help_or_a_wrong_option(sh: Terminal) -> None:
    for tool in sorted(COMMANDS):
        if tool in ("reboot", "poweroff", "halt", "yes", "sh", "bash", "dash", "rbash", "init", "telinit", "sleep"):
            continue
        for line in (f"{tool} --help", f"{tool} --bogus", f"{tool} -Y /nosuch"):
            result = sh(f"{line} < /dev/null")
            assert "Traceback" not in result.err, line
