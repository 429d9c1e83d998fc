"""Processes that work use processor time, and every tool that tells of it agrees."""

from __future__ import annotations

import re

from runners.backends.sim import SimWorld
from tests.runners.sim.worlds import opened, typed

_UNIT = "/etc/systemd/system/busy.service"


def said(live: SimWorld, command: str) -> str:
    return typed(live, command, seconds=3600).output.decode()


def working(options: str) -> SimWorld:
    live = opened().live
    line = f"ExecStart=/usr/local/bin/report-export {options}"
    said(live, f"printf '[Service]\\n{line}\\n' > {_UNIT}; systemctl daemon-reload; systemctl start busy; sleep 240")
    return live


def test_a_busy_process_counts_in_the_load() -> None:
    live = working("--workers 2")
    share, used, state = said(live, "ps -o %cpu=,cputimes=,state= $(systemctl show -p MainPID --value busy)").split()
    assert float(share) > 150
    assert int(used) > 400
    assert state == "R"
    first, *others = said(live, "cat /proc/loadavg; uptime; top -bn1 | head -n 1").splitlines()
    load = first.split()[:3]
    assert 1.8 < float(load[0]) < 2.4
    assert float(load[0]) > float(load[1]) > float(load[2]) > 0.3
    assert [line.partition("load average: ")[2] for line in others] == [", ".join(load)] * 2


def test_the_load_goes_down_slowly() -> None:
    live = working("--workers 2")
    before = [float(figure) for figure in said(live, "cat /proc/loadavg").split()[:3]]
    said(live, "systemctl stop busy; sleep 60")
    after = [float(figure) for figure in said(live, "cat /proc/loadavg").split()[:3]]
    assert 0.3 < after[0] / before[0] < 0.5
    assert after[0] < after[1]
    said(live, "sleep 900")
    assert float(said(live, "cat /proc/loadavg").split()[0]) < 0.2


def test_what_was_used_is_not_forgotten() -> None:
    live = working("--workers 1")

    def ticks() -> int:
        return sum(int(word) for word in said(live, "head -1 /proc/stat").split()[1:4])

    before = ticks()
    said(live, "systemctl stop busy")
    assert ticks() >= before


def test_holding_memory_is_work_too() -> None:
    live = working("--rows 4000000")
    share, used = said(live, "ps -o %cpu=,cputimes= $(systemctl show -p MainPID --value busy)").split()
    assert float(share) > 5
    assert int(used) > 10


def test_a_unit_holds_what_its_processes_hold() -> None:
    live = working("--rows 4000000")
    for unit in ("busy", "nginx", "postgresql", "shop"):
        pids = said(live, f"systemctl status {unit} | grep -oE '[├└]─[0-9]+' | tr -dc '0-9\\n'").split()
        resident = sum(int(rss) for rss in said(live, f"ps -o rss= {' '.join(pids)}").split()) << 10
        assert resident <= int(said(live, f"systemctl show -p MemoryCurrent --value {unit}"))


def test_a_running_program_is_the_file_it_was_started_from() -> None:
    live = working("--workers 1")
    pid = said(live, "systemctl show -p MainPID --value busy").strip()
    assert said(live, f"readlink /proc/{pid}/exe").strip() == "/usr/local/bin/report-export"
    assert re.search("ELF 64-bit", said(live, f"file -L /proc/{pid}/exe"))
