"""Ansible's conversations with worlds, so that the same tasks cost it once: a world in the same state is told the same
again, and one that answers otherwise is given to Ansible itself."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from pathlib import Path

from compiler.codec import dump
from runners.hosts.engine import Engine
from runners.hosts.playbooks import Call, Play, apply, has_failed
from runners.worlds import TaskFailure
from scenario_dsl.model import Task

_SECONDS = 120
_DRIVER = (Path(__file__).parent / "retelling.py").read_text()


class Recordings:
    """Those of one process. Safe to share between threads."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Call, ...]] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def apply(self, engine: Engine, play: Play, state: str, tasks: Sequence[Task]) -> TaskFailure | None:
        """Apply tasks to a world that is in a `state`: worlds of the same name are alike in all that tasks look at."""
        key = after(state, tasks)
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            known = self._known.get(key)
            if known is None:
                failure, calls = apply(play, tasks)
                if failure is None:
                    self._known[key] = calls
                return failure
        return None if _told(engine, play.container, known) else apply(play, tasks)[0]


def after(state: str, tasks: Sequence[Task]) -> str:
    """The name of the state in which these tasks leave a world."""
    return hashlib.sha256(state.encode() + dump(tuple(tasks))).hexdigest()


def _told(engine: Engine, container: str, calls: Sequence[Call]) -> bool:
    """Have the world run it all again, in one go. Returns whether it answered as the first one did."""
    given = [[list(call.argv), call.given.decode("latin-1")] for call in calls]
    done = engine.run(
        container, ["/usr/bin/python3", "-c", _DRIVER], seconds=_SECONDS, given=json.dumps(given).encode()
    )
    try:
        answers = json.loads(done.stdout)
    except ValueError:
        return False
    told = [(code, has_failed(said.encode("latin-1"))) for code, said in answers]
    return told == [(call.code, call.failed) for call in calls]
