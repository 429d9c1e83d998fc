"""ps, top, pgrep, kill and their kin."""

from __future__ import annotations

import pytest

from tests.runners.sim.admin.line import Terminal


def test_ps_aux_lists_every_process_under_bsd_headings(sh: Terminal) -> None:
    lines = sh("ps aux").lines
    assert lines[0] == "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND"
    assert lines[1].startswith("root           1 ")
    assert any(line.endswith("nginx: worker process") for line in lines)
    assert lines[-1].endswith("ps aux")


@pytest.mark.parametrize(
    ("command", "header"),
    [
        ("ps -ef", "UID          PID    PPID  C STIME TTY          TIME CMD"),
        ("ps", "    PID TTY          TIME CMD"),
        ("ps axjf", "   PPID     PID    PGID     SID TTY        TPGID STAT   UID   TIME COMMAND"),
        ("ps -eo pid,user,comm", "    PID USER     COMMAND"),
        ("ps -eo pid,%mem,rss,args", "    PID %MEM   RSS COMMAND"),
        ("ps -C nginx -o pid,user:12,args", "    PID USER         COMMAND"),
    ],
)
def test_ps_headers(sh: Terminal, command: str, header: str) -> None:
    assert sh(command).lines[0] == header


def test_ps_sorts_and_drops_headers(sh: Terminal) -> None:
    sizes = [int(line) for line in sh("ps -eo rss= --sort=-rss").lines]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 0


def test_ps_forest_keeps_the_children_of_init_at_the_left(sh: Terminal) -> None:
    commands = sh("ps axf -o args").lines
    assert "/sbin/init" in commands
    assert " \\_ nginx: worker process" in commands
    assert any(line.startswith("nginx: master process") for line in commands)


def test_ps_tells_of_bad_options(sh: Terminal) -> None:
    result = sh("ps -o bogus")
    assert (result.out, result.status) == ("", 1)
    assert result.err.startswith('error: unknown user-defined format specifier "bogus"\n\nUsage:\n ps [options]\n')
    assert sh("ps -p 999999").status == 1


def test_top_batch_has_five_lines_of_summary_and_a_table(sh: Terminal) -> None:
    lines = sh("top -bn1").lines
    assert lines[0].startswith("top - ")
    assert lines[1].startswith("Tasks: ")
    assert lines[6] == "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND"
    assert len(lines) > 20


def test_signals_by_pid_name_and_pattern(sh: Terminal) -> None:
    pid = sh("pgrep -o nginx").out.strip()
    assert sh(f"/bin/kill -0 {pid}").status == 0
    assert sh("/bin/kill -0 999999").err == "kill: (999999): No such process\n"
    assert sh("pkill redis-server").status == 0
    assert sh("pgrep redis-server").status == 1
    assert sh("pkill nosuch").status == 1
    assert sh("killall nosuch") == ("", "nosuch: no process found\n", 1)


def test_pidof_names_the_pids_youngest_first(sh: Terminal) -> None:
    pids = [int(pid) for pid in sh("pidof nginx").out.split()]
    assert len(pids) == 3
    assert pids == sorted(pids, reverse=True)


def test_an_ordinary_user_may_not_signal_a_daemon(sh: Terminal) -> None:
    pid = sh("pgrep -o nginx").out.strip()
    result = sh(f"sudo -u shop /bin/kill {pid}")
    assert result.status == 1
    assert "Operation not permitted" in result.err


def test_renice_changes_what_ps_shows(sh: Terminal) -> None:
    pid = sh("pgrep -x cron").out.strip()
    assert sh(f"renice -n 5 -p {pid}").out == f"{pid} (process ID) old priority 0, new priority 5\n"
    assert sh(f"ps -o ni= -p {pid}").out.strip() == "5"
