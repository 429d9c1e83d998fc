"""What nights bring, to real processes: a disk that fills, a pack that changes, kills at random moments."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compiler.bundle import write_bundle, write_envelope
from compiler.keys import load_private
from compiler.signing import sign
from compiler.verify import read_unsigned
from runners.records_io import RECORDS_FILE, read_records
from runners.store import read_plan
from tests.runners.cases import bundle_of, repair

ROOT = Path(__file__).parents[2]
BREAKFIX = (sys.executable, "-m", "breakfix")
SLOWLY = """\
#!/usr/bin/env python3
import json, sys, time
for line in sys.stdin:
    time.sleep(0.02)
    print(json.dumps({"run": "uptime"} if "briefing" in json.loads(line) else {"done": True}), flush=True)
"""
PLAN = """\
plan: chaos
packs: [{path: starter}]
agents:
  gold: {}
  nop: {}
  program: {agent: "cmd:./slowly.py"}
scenarios: [process-recovery, log-analysis]
attempts: ATTEMPTS
programs: {concurrency: 6}
retries: {worker: 20, agent: 20}
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the starter pack, signed, a program and a plan."""
    folder = tmp_path_factory.mktemp("night")
    for words in (
        ("compile", "packs/starter", "--out", str(folder / "starter")),
        ("keygen", str(folder / "me.key")),
        ("sign", str(folder / "starter"), "--key", str(folder / "me.key"), "--unproven"),
    ):
        subprocess.run((*BREAKFIX, *words), cwd=ROOT, check=True, capture_output=True)
    program = folder / "slowly.py"
    program.write_text(SLOWLY)
    program.chmod(0o755)
    return folder


def plan_file(home: Path, attempts: int) -> Path:
    path = home / f"plan-{attempts}.yml"
    path.write_text(PLAN.replace("ATTEMPTS", str(attempts)))
    return path


def command(home: Path, plan: Path, out: Path, *options: str) -> tuple[str, ...]:
    return (*BREAKFIX, "run", str(plan), "--trust", str(home / "me.key.pub"), "--out", str(out), *options)


def finish(words: tuple[str, ...], limit: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run to the end; `limit`: bytes that a file may have, as on a disk that is full."""

    def bound() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300, preexec_fn=bound, check=False)


def assert_exactly_the_plan(out: Path) -> None:
    """Every planned trial has one result; tries before it are kept, in order, and were errors."""
    tries: dict[str, list[tuple[int, str]]] = {}
    for record in read_records(out):
        tries.setdefault(record.trial_id, []).append((record.ordinal, record.outcome))
    assert set(tries) == {job.trial_id for job in read_plan(out).jobs()}
    for made in tries.values():
        assert [ordinal for ordinal, _ in made] == list(range(len(made)))
        assert all(outcome == "Errored" for _, outcome in made[:-1])
        assert made[-1][1] in ("Passed", "Failed")


# -- a full disk


@pytest.mark.slow
def test_a_disk_that_fills_stops_the_run_with_everything_safe(home: Path, tmp_path: Path) -> None:
    words = command(home, plan_file(home, 4), tmp_path / "run", "--executor", "local")
    stopped = finish(words, limit=200_000)
    assert stopped.returncode == 2
    assert f"error: cannot write to the run folder {tmp_path / 'run'}" in stopped.stderr
    assert "= help: make room or mend the disk, then start the same run again: it goes on" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    kept = len(list(read_records(tmp_path / "run")))
    assert 0 < kept < read_plan(tmp_path / "run").size
    assert (tmp_path / "run" / RECORDS_FILE).read_bytes().endswith(b"}\n")

    went_on = finish((*words, "--json"))
    assert went_on.returncode == 0, went_on.stderr
    assert json.loads(went_on.stdout)["resumed"] == kept
    assert_exactly_the_plan(tmp_path / "run")


@contextmanager
def tiny_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if made.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {made.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.slow
def test_a_real_disk_that_fills_and_is_made_larger(home: Path, tmp_path: Path) -> None:
    with tiny_disk(tmp_path / "disk", 200) as disk:
        words = command(home, plan_file(home, 3), disk / "run", "--executor", "local")
        stopped = finish(words)
        assert stopped.returncode == 2
        assert "No space left on device" in stopped.stderr or "disk is full" in stopped.stderr
        assert "make room" in stopped.stderr
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        went_on = finish(words)
        assert went_on.returncode == 0, went_on.stderr
        assert_exactly_the_plan(disk / "run")


# -- a pack that changes under a run


@pytest.mark.slow
def test_a_pack_that_is_compiled_anew_during_a_run_changes_nothing_in_it(home: Path, tmp_path: Path) -> None:
    pack = tmp_path / "pack"
    key = load_private(home / "me.key")
    bundle = read_unsigned(home / "starter")
    write_bundle(bundle, pack)
    write_envelope(pack, sign(bundle, key, None))
    plan = tmp_path / "plan.yml"
    plan.write_text(PLAN.replace("path: starter", f"path: {pack}").replace("ATTEMPTS", "8"))
    (tmp_path / "slowly.py").write_bytes((home / "slowly.py").read_bytes())
    (tmp_path / "slowly.py").chmod(0o755)
    words = command(home, plan, tmp_path / "run", "--executor", "local")
    running = subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    _wait_for(tmp_path / "run", 20_000)
    other = bundle_of(repair()).bundle
    write_bundle(other, pack)
    write_envelope(pack, sign(other, key, None))
    running.send_signal(signal.SIGINT)
    assert running.wait(60) == 130
    digests = {record.trial.bundle_digest for record in read_records(tmp_path / "run")}
    assert digests == {bundle.digest}

    # Going on with another bundle is refused, and says what is different; nothing that was played is touched.
    before = (tmp_path / "run" / RECORDS_FILE).read_bytes()
    plan.write_text(plan.read_text().replace("scenarios: [process-recovery, log-analysis]\n", ""))
    refused = finish(words)
    assert refused.returncode == 1
    assert "holds a run with another plan" in refused.stderr
    assert "scenarios: `process-recovery` is in the stored plan, but not now" in refused.stderr
    assert (tmp_path / "run" / RECORDS_FILE).read_bytes() == before

    # With the old one back it goes on.
    write_bundle(bundle, pack)
    write_envelope(pack, sign(bundle, key, None))
    plan.write_text(PLAN.replace("path: starter", f"path: {pack}").replace("ATTEMPTS", "8"))
    assert finish(words).returncode == 0
    assert_exactly_the_plan(tmp_path / "run")


def _size(out: Path) -> int:
    path = out / RECORDS_FILE
    return path.stat().st_size if path.exists() else 0


def _wait_for(out: Path, size: int, seconds: float = 300.0) -> None:
    """Until the records have so many bytes."""
    until = time.monotonic() + seconds
    while _size(out) < size:
        assert time.monotonic() < until, "the run does not get on"
        time.sleep(0.05)


# -- kills


def _children(pid: int) -> list[int]:
    """All processes below one, by their parents."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            below.setdefault(parent, []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        mine = below.get(waiting.pop(), [])
        found += mine
        waiting += mine
    return found


def _is_player(pid: int) -> bool:
    try:
        return b"ray::_Player" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


def _ours(pids: list[int]) -> list[int]:
    """Those among them that play: Ray's workers with our actor, and programs of agents."""
    return [pid for pid in pids if _lives(pid) and any(name in _command_of(pid) for name in (b"_Player", b"slowly"))]


def _command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _kill_a_player(below: int, chance: random.Random) -> bool:
    """Kill one of the workers below a process, as soon as there is one."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        players = [pid for pid in _children(below) if b"ray::_Player" in _command_of(pid)]
        if players:
            os.kill(chance.choice(players), signal.SIGKILL)
            return True
        time.sleep(0.2)
    return False


def _end_what_is_left(pids: list[int]) -> None:
    """What plays ends by itself when its driver is gone. Ray's own helpers may stay a while; they are ended here."""
    until = time.monotonic() + 60
    while _ours(pids) and time.monotonic() < until:
        time.sleep(0.1)
    left = _ours(pids)
    for pid in pids:
        if _lives(pid):
            os.kill(pid, signal.SIGKILL)
    assert left == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_drains_and_says_how_to_go_on(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    out = tmp_path / "run"
    words = command(home, plan_file(home, 10), out, "--workers", "2")
    heard = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE}
    driver = subprocess.Popen(words, cwd=ROOT, text=True, start_new_session=True, **heard)
    _wait_for(out, 60_000)
    if number == signal.SIGINT:
        # A terminal sends it to everybody in the foreground: the driver, Ray and its workers.
        os.killpg(driver.pid, number)
    else:
        driver.send_signal(number)
    said, trouble = driver.communicate(timeout=120)
    assert driver.returncode == 130, trouble
    assert "interrupted; the same command goes on from here" in said
    assert "left: " in said
    assert "Traceback" not in trouble
    outcomes = {record.outcome for record in read_records(out)}
    assert outcomes <= {"Passed", "Failed"}
    assert finish(words).returncode == 0
    assert_exactly_the_plan(out)


@pytest.mark.slow
def test_workers_and_the_driver_killed_at_random_moments(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    out = tmp_path / "run"
    words = command(home, plan_file(home, 30), out, "--workers", "2")
    chance = random.Random(7)
    for _ in range(2):
        driver = subprocess.Popen(words, cwd=ROOT, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for _ in range(2):
            _wait_for(out, _size(out) + 30_000)
            time.sleep(chance.random())
            assert _kill_a_player(driver.pid, chance)
        _wait_for(out, _size(out) + 30_000)
        below = _children(driver.pid)
        driver.kill()
        driver.wait(60)
        _end_what_is_left(below)
    last = finish((*words, "--json"))
    assert last.returncode == 0, last.stderr
    assert json.loads(last.stdout)["resumed"] > 0
    assert_exactly_the_plan(out)


@pytest.mark.slow
def test_a_cluster_of_two_nodes_loses_a_worker_the_driver_and_a_node(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster

    out = tmp_path / "run"
    chance = random.Random(11)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        node = cluster.add_node(num_cpus=1)
        monkeypatch.setenv("RAY_ADDRESS", cluster.address)
        words = command(home, plan_file(home, 30), out)
        driver = subprocess.Popen(words, cwd=ROOT, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        _wait_for(out, 30_000)
        assert _kill_a_player(os.getpid(), chance)
        _wait_for(out, _size(out) + 60_000)
        driver.kill()
        driver.wait(60)
        before = len(list(read_records(out)))

        driver = subprocess.Popen(
            (*words, "--json"), cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        _wait_for(out, _size(out) + 60_000)
        cluster.remove_node(node, allow_graceful=False)
        said, trouble = driver.communicate(timeout=400)
        assert driver.returncode == 0, trouble
        assert json.loads(said)["resumed"] >= before - 1
        assert_exactly_the_plan(out)
    finally:
        cluster.shutdown()
