"""File systems of a described size: which path lies in which, that they fill up, and that nothing of them stays."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runners.backends.registry import find_backend
from runners.hosts.disks import described, mount_of
from tests.conformance.worlds import library, open_small, probe, run
from tests.engine import built, engine

_OPEN = """
import time
from runners.backends.registry import find_backend
from tests.conformance.worlds import open_small
world = open_small(find_backend("container"))
print("open", flush=True)
time.sleep(600)
"""
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("path", "place"),
    [("/var/log", "/var/log"), ("/var/log/nginx/x", "/var/log"), ("/var/logs", "/"), ("/tmp/a", "/tmp"), ("/", "/")],
)
def test_a_path_lies_in_the_nearest_mount(path: str, place: str) -> None:
    assert mount_of(library().systems["small"].settings, path) == place


def test_those_on_disks_can_be_made_save_the_root() -> None:
    found = described(library().systems["small"].settings)
    assert set(found) == {"/var/log"}
    assert (found["/var/log"].size, found["/var/log"].inodes) == (500_000_000, 32_000)


def loops() -> set[str]:
    """The loop devices that have a file."""
    return {device.parent.name for device in Path("/sys/block").glob("loop*/loop")}


@pytest.mark.engine
def test_a_full_one_takes_nothing_more_and_keeps_what_was_there() -> None:
    built("small")
    live = open_small(find_backend("container"))
    try:
        full = probe("disk", path="/var/log", free_at_most=65536)
        assert run(live, "ls /var/log/nginx/access.log; stat -c %U /var/log/lost+found") == (
            "/var/log/nginx/access.log\nroot\n"
        )
        assert not live.observe([full])[0].holds
        run(live, "fallocate -l $(df --output=avail -B1 /var/log | tail -n 1) /var/log/dump")
        assert "No space left on device" in run(live, "head -c 100000 /dev/zero > /var/log/more")
        assert live.observe([full])[0].holds
    finally:
        live.close()


@pytest.mark.engine
def test_it_is_there_again_after_a_restart() -> None:
    built("small")
    live = open_small(find_backend("container"))
    try:
        run(live, "echo kept > /var/log/kept; sync; reboot")
        time.sleep(3)
        assert run(live, "cat /var/log/kept; findmnt -n -o FSTYPE /var/log") == "kept\next4\n"
    finally:
        live.close()


@pytest.mark.engine
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_of_it_stays(how: signal.Signals) -> None:
    built("small")
    before = loops()
    opener = subprocess.Popen([sys.executable, "-c", _OPEN], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert opener.stdout is not None
    assert opener.stdout.readline() == "open\n"
    assert loops() - before
    opener.send_signal(how)
    opener.wait()
    # Its container goes with the next one that comes.
    open_small(find_backend("container")).close()
    until = time.monotonic() + 20
    while loops() - before and time.monotonic() < until:
        time.sleep(0.2)
    assert not loops() - before
    engine()
