"""Threads of one process that play together: one at a time computes, all others wait for their agents.

Python would compute no faster otherwise. While an agent waits for what is outside (a model, a program), the turnstile
is left open. Where it is the worlds that wait, because their time is the real one, it is wide: nobody waits at it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from runners.agents.boundary import admit_usage
from runners.agents.protocol import Action, Agent, AgentFactory, Briefing, Closing, Observation, Setting, Usage
from runners.trials import Work
from runners.turns import Shut as Shut


class Turnstile:
    """A lock that is fair: who came first goes first, so that nobody starves behind long computing. `wide`: no lock."""

    def __init__(self, *, wide: bool = False) -> None:
        self._guard = threading.Lock()
        self._wide = wide
        self._taken = False
        self._shut = False
        self._queue: deque[threading.Event] = deque()

    def enter(self) -> None:
        """Raises Shut once nobody is let in any more."""
        with self._guard:
            if not ((self._taken and not self._wide) or self._shut):
                self._taken = True
                return
            turn = threading.Event()
            if not self._shut:
                self._queue.append(turn)
        if not self._shut:
            turn.wait()
        if self._shut:
            raise Shut

    def leave(self) -> None:
        with self._guard:
            if self._queue and not self._shut:
                self._queue.popleft().set()
            else:
                self._taken = False

    def shut(self) -> None:
        """Let nobody in any more: who computes finishes, who waits for a turn and who comes later is sent away."""
        with suppress(Shut), self.inside(), self._guard:
            self._shut = True
            while self._queue:
                self._queue.popleft().set()

    @contextmanager
    def inside(self) -> Iterator[None]:
        self.enter()
        try:
            yield
        finally:
            self.leave()

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Let others in meanwhile."""
        self.leave()
        try:
            yield
        finally:
            self.enter()


class _Outside:
    """An agent whose own time is spent outside of the turnstile."""

    def __init__(self, agent: Agent, turnstile: Turnstile) -> None:
        self._agent = agent
        self._turnstile = turnstile

    def reset(self, briefing: Briefing) -> None:
        with self._turnstile.outside():
            self._agent.reset(briefing)

    def act(self, observation: Observation) -> Action:
        with self._turnstile.outside():
            return self._agent.act(observation)

    def usage(self) -> Usage:
        return admit_usage(self._agent)

    def close(self) -> None:
        if isinstance(self._agent, Closing):
            with self._turnstile.outside(), suppress(Exception):
                self._agent.close()


def with_turnstile(work: Work, turnstile: Turnstile) -> Work:
    """The same work, whose waiting agents leave the turnstile open while they do. Each job is played inside of it."""
    factories = {
        identity: _Waiting(factory, turnstile) if identity in work.lanes else factory
        for identity, factory in work.factories.items()
    }
    return replace(work, factories=factories)


class _Waiting:
    """Makes agents that wait outside."""

    def __init__(self, factory: AgentFactory, turnstile: Turnstile) -> None:
        self._factory = factory
        self._turnstile = turnstile

    def __call__(self, setting: Setting) -> Agent:
        return _Outside(self._factory(setting), self._turnstile)
