"""Nothing of a run stays behind, however it ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runners.backends.registry import find_backend
from runners.here.owning import is_alive, owner
from runners.hosts.leftovers import sweep
from tests.conformance.worlds import open_small
from tests.engine import built, engine

_OPEN = """
import sys, time
from runners.backends.registry import find_backend
from tests.conformance.worlds import open_small
world = open_small(find_backend("container"))
print("open", flush=True)
time.sleep(600)
"""
ROOT = Path(__file__).parents[3]


def test_an_owner_is_this_process_and_no_other() -> None:
    assert is_alive(owner())
    pid, started, boot = owner().split(".")
    assert not is_alive(f"{pid}.{int(started) + 1}.{boot}")
    assert not is_alive(f"{pid}.{started}.another-boot")
    assert not is_alive("")


def ours(pid: int | None = None) -> set[str]:
    """The containers of one process, this one by itself: others may be at work beside it."""
    begin = f"{os.getpid() if pid is None else pid}."
    return {container for container, whose in engine().ours() if whose.startswith(begin)}


@pytest.mark.engine
def test_a_closed_world_leaves_nothing() -> None:
    built("small")
    handles = len(os.listdir("/proc/self/fd"))
    for _ in range(2):
        open_small(find_backend("container")).close()
    assert not ours()
    assert len(os.listdir("/proc/self/fd")) <= handles + 4


@pytest.mark.engine
def test_a_killed_process_leaves_nothing_after_the_next_start() -> None:
    built("small")
    child = subprocess.Popen([sys.executable, "-c", _OPEN], cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == b"open\n"
        left = ours(child.pid)
        assert len(left) == 1
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    # A world of a living process is left alone, that of the killed one is removed.
    living = open_small(find_backend("container"))
    try:
        deadline = time.monotonic() + 20
        while ours(child.pid) and time.monotonic() < deadline:
            sweep(engine())
        assert not ours(child.pid)
        assert len(ours()) == 1
    finally:
        living.close()
    assert not ours()
