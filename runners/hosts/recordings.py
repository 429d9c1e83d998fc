"""Ansible's conversations with worlds, so that the same tasks cost it once: a world in the same state is told the same
again, and one that answers otherwise is given to Ansible itself."""

from __future__ import annotations

import hashlib
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

from compiler.codec import dump
from runners.hosts.engine import Engine
from runners.hosts.playbooks import Call, Play, apply
from runners.hosts.teller import Compiled, Teller, begun_in, libraries
from runners.worlds import TaskFailure
from scenario_dsl.model import Task

TRACES = ("/run/.maintenance", "/root/.ansible")
"""Folders that Ansible may leave."""
_TIDY = Call(("rm", "-rf", *TRACES), b"", 0, False)


class Recordings:
    """Those of one process. Safe to share between threads."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Call, ...]] = {}
        self._compiled: Compiled = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def apply(
        self, engine: Engine, play: Play, state: str, tasks: Sequence[Task], teller: Teller | None = None
    ) -> TaskFailure | None:
        """Apply tasks to a world that is in a `state`: worlds of the same name are alike in all that tasks look at.

        teller: the world's, where it has one already.
        """
        key = after(state, tasks)
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            known = self._known.get(key)
            if known is None:
                failure, calls = apply(play, tasks)
                if failure is None:
                    self._known[key] = (*calls, _TIDY)
                return failure
        if teller is not None:
            told = teller.tell(known)
        else:
            with closing(self.teller(begun_in(engine, play.container), known)) as made:
                told = made.tell(known)
        return None if told else apply(play, tasks)[0]

    def known(self, state: str, plays: Sequence[Sequence[Task]]) -> tuple[Call, ...]:
        """What a world that is in a `state` and will be given these plays can be told."""
        return tuple(call for calls in self._all(state, plays) for call in calls)

    def teller(self, link: socket.socket, known: Sequence[Call], ended: Callable[[], None] | None = None) -> Teller:
        """One that will be told what is known; see Teller."""
        return Teller(link, libraries(known), self._compiled, ended)

    def _all(self, state: str, plays: Sequence[Sequence[Task]]) -> Iterator[tuple[Call, ...]]:
        for tasks in plays:
            state = after(state, tasks)
            yield self._known.get(state, ())


def after(state: str, tasks: Sequence[Task]) -> str:
    """The name of the state in which these tasks leave a world."""
    return hashlib.sha256(state.encode() + dump(tuple(tasks))).hexdigest()
