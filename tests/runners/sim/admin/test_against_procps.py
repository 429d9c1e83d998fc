"""Headings and columns beside those of the real tools, where this machine has them."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.runners.sim.admin.line import Terminal

CASES = (
    "ps aux",
    "ps -ef",
    "ps -eo user,pid,ppid,%cpu,%mem,vsz,rss,stat,start_time,time,comm",
    "ps -eo pid,nlwp,ni,pri,etimes,lstart,args",
    "free",
    "free -w -t",
    "vmstat",
    "df -h /",
    "df -iT /",
    "df --output=source,pcent,target /",
    "ss -tln",
    "netstat -tln",
    "w -s",
    "findmnt /",
    "lsblk -o NAME,TYPE,MOUNTPOINTS",
)


@pytest.mark.parametrize("command", CASES)
def test_the_heading_has_the_same_columns(sh: Terminal, command: str) -> None:
    tool = command.split()[0]
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not here")
    done = subprocess.run(command.split(), capture_output=True, text=True, timeout=20)
    if done.returncode:
        pytest.skip(f"{tool} does not work here")
    real = done.stdout.splitlines()
    heading = next(line for line in real if line.split() and not line.split()[0][:2].isdigit())
    ours = sh(command).lines
    assert heading.split() in [line.split() for line in ours[:3]]
