"""Tasks applied to a container by Ansible, over a connection of our own; what it leaves behind is taken away again."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from compiler.lower.playbooks import playbook
from runners.here.programs import ansible
from runners.worlds import TaskFailure
from scenario_dsl.model import Task

_SECONDS = 300
"""The longest that one program of a task runs in the world; it is ended there. What a fleet is told takes long."""
_MORE = 60
"""Seconds that Ansible itself may need beside that."""
_LONGEST = 2000
_PLUGINS = Path(__file__).parent / "ansible_plugins"


class Play(NamedTuple):
    """Where tasks are applied: a container of the engine at a socket."""

    container: str
    socket: str


class Call(NamedTuple):
    """One program that Ansible had a world run: with what on its standard input, how it ended, whether it failed."""

    argv: tuple[str, ...]
    given: bytes
    code: int
    failed: bool


def apply(play: Play, tasks: Sequence[Task]) -> tuple[TaskFailure | None, tuple[Call, ...]]:
    """Run the tasks as one play. Returns the first that failed, and all that Ansible had the world do.

    Raises HostError, TimeoutError.
    """
    program = ansible("ansible-playbook")
    with tempfile.TemporaryDirectory(prefix="breakfix-play-") as folder:
        book = Path(folder) / "play.yml"
        book.write_bytes(playbook("maintenance", tasks))
        result, recording = Path(folder) / "result.json", Path(folder) / "recording.json"
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": folder,
            "LANG": "C.UTF-8",
            "ANSIBLE_CONFIG": str(Path(folder) / "none.cfg"),
            "ANSIBLE_CONNECTION_PLUGINS": str(_PLUGINS),
            "ANSIBLE_CALLBACK_PLUGINS": str(_PLUGINS),
            "ANSIBLE_STDOUT_CALLBACK": "outcome",
            "ANSIBLE_HOME": str(Path(folder) / "ansible"),
            "ANSIBLE_PIPELINING": "True",
            "ANSIBLE_REMOTE_TMP": "/run/.maintenance",
            "ANSIBLE_NO_TARGET_SYSLOG": "True",
            "ANSIBLE_RETRY_FILES_ENABLED": "False",
            "ANSIBLE_HOST_PATTERN_MISMATCH": "ignore",
            "ANSIBLE_INTERPRETER_PYTHON": "/usr/bin/python3",
            "ANSIBLE_FORKS": "1",
            "BREAKFIX_RESULT": str(result),
            "BREAKFIX_RECORDING": str(recording),
            "BREAKFIX_SECONDS": str(_SECONDS),
            "DOCKER_HOST": play.socket,
        }
        inventory = f"{play.container},"
        # Nothing becomes root through sudo, which would write it into the world's log: we are root there.
        extra = {
            "ansible_connection": "engine",
            "ansible_python_interpreter": "/usr/bin/python3",
            "ansible_become": False,
        }
        call = [program, "-i", inventory, "-e", json.dumps(extra), str(book)]
        try:
            limit = _SECONDS + _MORE
            done = subprocess.run(call, env=environment, cwd=folder, capture_output=True, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"the tasks took longer than {limit} s") from None
        return _outcome(result, done), tuple(_calls(recording))


def _outcome(result: Path, done: subprocess.CompletedProcess[bytes]) -> TaskFailure | None:
    for task, message in _failures(result):
        return TaskFailure(task=task, message=message[:_LONGEST])
    if done.returncode:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        return TaskFailure(task="", message=said[-_LONGEST:])
    return None


def _calls(recording: Path) -> Iterator[Call]:
    if recording.exists():
        for line in recording.read_text().splitlines():
            entry = json.loads(line)
            said = entry["said"].encode("latin-1")
            yield Call(tuple(entry["argv"]), entry["given"].encode("latin-1"), entry["code"], has_failed(said))


def has_failed(said: bytes) -> bool:
    """Did an Ansible module that printed this fail?"""
    for line in said.splitlines():
        if line.startswith(b"{"):
            try:
                return bool(json.loads(line).get("failed"))
            except ValueError:
                return False
    return False


def _failures(result: Path) -> Iterator[tuple[str, str]]:
    if result.exists():
        for line in result.read_text().splitlines():
            entry = json.loads(line)
            yield str(entry["task"]), str(entry["message"])
