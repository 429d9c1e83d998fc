"""Tools that come with every Debian: what they tell of the machine fits what others tell."""

from __future__ import annotations

import re

import pytest

from tests.runners.sim.admin.line import Terminal
from tests.runners.sim.worlds import typed, web_server


def _said(command: str) -> str:
    return typed(web_server(), command).stdout.decode()


def test_the_tree_of_processes_draws_alike_ones_together() -> None:
    lines = _said("pstree").splitlines()
    assert lines[0].startswith("systemd─┬─agetty")
    assert "        ├─nginx───2*[nginx]" in lines
    assert "        ├─redis-server───4*[{redis-server}]" in lines


def test_the_tree_shows_pids_users_and_parents() -> None:
    live = web_server()
    master, workers = typed(live, "pgrep -o nginx; pgrep -P $(pgrep -o nginx)").stdout.decode().split("\n", 1)
    first, second = workers.split()
    assert typed(live, f"pstree -sp {master}").stdout.decode() == (
        f"systemd(1)───nginx({master})─┬─nginx({first})\n"
        f"{' ' * len(f'systemd(1)───nginx({master})')} └─nginx({second})\n"
    )
    assert "nginx───2*[nginx(www-data)]" in typed(live, "pstree -u").stdout.decode()
    assert _said("pstree -a postgres").startswith("postgres -D /var/lib/postgresql/15/main")


def test_control_groups_hold_what_status_shows() -> None:
    live = web_server()
    group = typed(live, "systemd-cgls --no-pager -u nginx").stdout.decode().splitlines()
    assert group[0] == "Unit nginx.service (/system.slice/nginx.service):"
    shown = typed(live, "systemctl status nginx --no-pager -n 0").stdout.decode()
    assert all(line in shown for line in group[1:])
    whole = typed(live, "systemd-cgls --no-pager").stdout.decode().splitlines()
    assert whole[:2] == ["Control group /:", "-.slice"]
    assert "└─system.slice " in whole
    assert "  ├─nginx.service " in whole


def test_limits_are_those_of_the_unit() -> None:
    live = web_server()
    shown = typed(live, "prlimit --noheadings --nofile -p $(pgrep shop-server)").stdout.decode()
    assert shown.split()[-3:] == ["4096", "4096", "files"]


def test_a_lock_is_busy_while_its_holder_lives() -> None:
    live = web_server()
    typed(live, "flock -n /run/lock/job sleep 30 &")
    assert typed(live, "flock -n /run/lock/job echo got").exit_code == 1
    typed(live, "sleep 40")
    assert typed(live, "flock -n /run/lock/job echo got").stdout == b"got\n"


def test_what_a_detached_program_does_goes_on() -> None:
    live = web_server()
    assert typed(live, "setsid -f sleep 50; sleep 1; pgrep -c -x sleep").stdout == b"1\n"


def test_answers_about_the_machine() -> None:
    assert _said("getconf _NPROCESSORS_ONLN; systemd-detect-virt; whereis ls nosuch") == (
        "2\nkvm\nls: /usr/bin/ls\nnosuch:\n"
    )
    assert _said("pwdx $(pgrep shop-server) | cut -d: -f2") == " /opt/shop\n"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("-v :adm", "changed ownership of 'f' from root:root to :adm"),
        ("-v 0", "ownership of 'f' retained as root"),
        ("-v root:", "ownership of 'f' retained as root:root"),
        ("-v 1:1", "changed ownership of 'f' from root:root to 1:1"),
        ("-v :", "ownership of 'f' retained"),
        ("-c 99999", "changed ownership of 'f' from root to 99999"),
        ("-c root:root", ""),
        ("-c --reference=/etc/shadow", "changed ownership of 'f' from root:root to root:shadow"),
    ],
)
def test_chown_tells_what_was_asked_for(sh: Terminal, command: str, said: str) -> None:
    assert sh(f"cd /tmp; touch f; chown {command} f").out.rstrip("\n") == said


def test_chgrp_tells_of_groups_and_failures_are_told_too(sh: Terminal) -> None:
    assert sh("cd /tmp; touch f; chgrp -v adm f; chgrp -v adm f").lines == [
        "changed group of 'f' from root to adm",
        "group of 'f' retained as adm",
    ]
    assert sh("chown -v root: nonsuch") == (
        "failed to change ownership of 'nonsuch' to root:root\n",
        "chown: cannot access 'nonsuch': No such file or directory\n",
        1,
    )


def test_logger_says_what_it_sends(sh: Terminal) -> None:
    said = sh("logger -i -s -p cron.err foo; logger -s bar").err.splitlines()
    assert re.fullmatch(r"<75>Mar 14 09:\d\d:\d\d root\[\d+]: foo", said[0])
    assert re.fullmatch(r"<13>Mar 14 09:\d\d:\d\d root: bar", said[1])
