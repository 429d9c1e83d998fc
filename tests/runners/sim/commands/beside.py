"""Runs one line of shell in the simulated server and on this machine, in folders with the same files."""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from runners.sim.build import boot, open_world
from runners.sim.machine import Machine
from runners.sim.shell.running import run_job, run_line
from runners.sim.shell.session import Limits, Session, ShellResult
from runners.system import SystemSpec

FOLDER = "/srv/case"
_ENVIRONMENT = {"PATH": "/usr/bin:/bin:/usr/sbin", "HOME": "/root", "LC_ALL": "C.UTF-8"}
Files = Mapping[str, str | bytes | None]
"""Paths (None: a folder; text that begins with `-> `: a link) and what they hold."""


class Answer(NamedTuple):
    """`errors`: the kind of standard error: its first line without numbers of processes, shells and lines."""

    out: bytes
    status: int
    errors: str


@cache
def _base() -> Machine:
    spec = SystemSpec(
        name="bare", hostname="bare", start_time=1_760_000_000.0, uptime=86400.0, files=(),
        settings={
            "mounts": [{"path": "/", "device": "/dev/vda1", "fstype": "ext4", "size": "4GB", "inodes": 100000}],
            "users": [{"name": "root", "uid": 0, "gid": 0, "home": "/root", "shell": "/bin/bash"}],
        },
    )  # fmt: skip
    return boot(spec, run_job=run_job)


def sim(line: str, files: Files) -> Answer:
    machine = open_world(_base(), 1)
    view = machine.view()
    view.mkdir(FOLDER)
    for path, content in files.items():
        place = f"{FOLDER}/{path}"
        parent = place.rsplit("/", 1)[0]
        if not view.exists(parent):
            view.mkdir(parent)
        if content is None:
            view.mkdir(place)
        elif isinstance(content, str) and content.startswith("-> "):
            view.symlink(content[3:], place)
        else:
            view.write(place, content if isinstance(content, bytes) else content.encode())
    session = Session(
        variables=dict(_ENVIRONMENT),
        cwd=FOLDER, mode="command", name="bash",
    )  # fmt: skip
    result = run_line(machine, session, line)
    assert not result.timed_out
    return Answer(result.stdout, result.exit_code, kind(result.stderr))


def real(line: str, files: Files) -> Answer:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, content in files.items():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                place.mkdir()
            elif isinstance(content, str) and content.startswith("-> "):
                place.symlink_to(content[3:])
            else:
                place.write_bytes(content if isinstance(content, bytes) else content.encode())
                place.chmod(stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH)
        os.chmod(folder, 0o755)
        done = subprocess.run(
            ["bash", "-c", line], cwd=folder, capture_output=True, timeout=20, stdin=subprocess.DEVNULL,
            env=_ENVIRONMENT,
        )  # fmt: skip
    return Answer(done.stdout, done.returncode, kind(done.stderr))


def kind(errors: bytes) -> str:
    """The first line of what went to standard error; bash's own prefixes are dropped."""
    lines = errors.decode("utf-8", "replace").splitlines()
    return lines[0].removeprefix("bash: ").removeprefix("line 1: ") if lines else ""


def assert_alike(line: str, files: Files, *, ordered: bool = True) -> None:
    """The same output, status and kind of error. `ordered` False: the words of the output may come in any order."""
    ours, theirs = sim(line, files), real(line, files)
    if not ordered:
        ours, theirs = (answer._replace(out=b" ".join(sorted(answer.out.split()))) for answer in (ours, theirs))
    assert ours == theirs, line


def run_away(line: str) -> tuple[Machine, ShellResult]:
    """Run a line in the simulated server alone, with few steps."""
    session = Session(variables=dict(_ENVIRONMENT), cwd="/", mode="command", name="bash")
    machine = open_world(_base(), 1)
    return machine, run_line(machine, session, line, Limits(steps=200_000))


def opened_at_rest() -> dict[int, int]:
    """How often each file is open before anything runs."""
    return dict(_base().files.opens)
