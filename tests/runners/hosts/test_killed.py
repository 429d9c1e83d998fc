"""A run in containers that is killed, again and again: the next start takes away what was left, and ends as planned."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from runners.records_io import read_records
from tests.engine import built, engine
from tests.runners.hosts.container_run import planned, play

pytestmark = pytest.mark.engine
ROOT = Path(__file__).parents[3]
_KILLS = 10
_OPENING, _PLAYING = 2.0, 12.0
"""Seconds within which a start is killed: after it began, or (three in four) after its first world was made."""
_PATIENCE = 60.0
"""How long that world is waited for."""


class Left:
    """What killed processes had: their containers, and the namespaces of these."""

    def __init__(self) -> None:
        self.containers: set[str] = set()
        self.namespaces: set[str] = set()

    def look(self, pid: int) -> bool:
        """Note what this process has now. Has it any?"""
        found = False
        for container, owner in engine().ours():
            if owner.startswith(f"{pid}."):
                found = True
                self.containers.add(container)
                with contextlib.suppress(Exception):
                    self.namespaces |= namespaces(engine().pid(container))
        return found


def namespaces(pid: int) -> set[str]:
    """Those that a world's first process has and this one has not."""
    kinds = ("net", "pid", "mnt", "user", "ipc", "uts", "cgroup")
    found: set[str] = set()
    for kind in kinds if pid else ():
        with contextlib.suppress(OSError):
            found.add(os.readlink(f"/proc/{pid}/ns/{kind}"))
    return found - {os.readlink(f"/proc/self/ns/{kind}") for kind in kinds}


def inhabited() -> set[str]:
    """All namespaces that a process is in."""
    found: set[str] = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            for kind in os.listdir(f"/proc/{pid}/ns"):
                found.add(os.readlink(f"/proc/{pid}/ns/{kind}"))
    return found


def names(kind: str) -> set[str]:
    """The engine's networks or volumes."""
    if kind == "networks":
        return {str(one["Id"]) for one in engine().api.networks()}
    return {str(one["Name"]) for one in engine().api.volumes()["Volumes"] or ()}


def test_a_run_that_is_killed_ten_times_ends_as_planned_and_leaves_nothing(tmp_path: Path) -> None:
    built("small")
    before = {kind: names(kind) for kind in ("networks", "volumes")}
    left, moments = Left(), random.Random(20)
    for number in range(_KILLS):
        child = subprocess.Popen([sys.executable, "-m", "tests.runners.hosts.container_run", str(tmp_path)], cwd=ROOT)
        deadline = time.monotonic() + _PATIENCE
        while number % 4 and not left.look(child.pid) and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        until = time.monotonic() + moments.uniform(0, _PLAYING if number % 4 else _OPENING)
        while time.monotonic() < until and child.poll() is None:
            left.look(child.pid)
            time.sleep(0.1)
        child.send_signal(signal.SIGKILL)
        child.wait()
        left.look(child.pid)
    assert left.containers, "none of the killed starts had opened a world"

    summary = play(tmp_path, attempts=3)
    _, what = planned(3)
    assert (summary.done, summary.errored) == (what.size, 0)
    finished = Counter(record.trial_id for record in read_records(tmp_path) if record.outcome != "Errored")
    assert finished == Counter(job.trial_id for job in what.jobs())
    assert {record.outcome for record in read_records(tmp_path)} == {"Passed"}

    assert not left.containers & {container for container, _ in engine().ours()}
    assert not left.namespaces & inhabited()
    assert {kind: names(kind) for kind in before} == before
