"""Agents that wait, for tests of how they are played: each says when it began and ended, and may misbehave."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from runners.agents.protocol import (
    Action,
    Agent,
    AgentUnavailableError,
    Briefing,
    Done,
    Observation,
    Run,
    Setting,
    Usage,
)
from runners.agents.spec import AgentSpec
from runners.records import AgentIdentity


class Meter:
    """How many wait at once, over all threads of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.now = 0
        self.most = 0

    def __enter__(self) -> None:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)

    def __exit__(self, *_exc: object) -> None:
        with self._lock:
            self.now -= 1


@dataclass(frozen=True, slots=True)
class Slow:
    """Waits so long before its one command; every trial costs `cost`. `broken`: its endpoint is away, so many times."""

    seconds: float = 0.05
    cost: float | None = 0.5
    kind: str = ""
    meter: Meter | None = None

    def __call__(self, setting: Setting) -> Agent:
        return _SlowAgent(self)


class _SlowAgent:
    def __init__(self, ways: Slow) -> None:
        self._ways = ways
        self._turn = 0

    def reset(self, briefing: Briefing) -> None:
        self._turn = 0

    def act(self, observation: Observation) -> Action:
        self._turn += 1
        with self._ways.meter or threading.Lock():
            time.sleep(self._ways.seconds)
        if self._ways.kind:
            raise AgentUnavailableError("away", kind="rate-limit" if self._ways.kind == "rate-limit" else "agent")
        return Run("failed") if self._turn == 1 else Done()

    def usage(self) -> Usage:
        return Usage(tokens_in=90, tokens_out=10, cost=self._ways.cost, requests=self._turn)


def slow(name: str = "slow", lane: str = "there", ways: Slow | None = None) -> AgentSpec:
    return AgentSpec(identity=AgentIdentity(name=name, trusted=False), factory=ways or Slow(), lane=lane)
