"""How a plan is played, as against what: how often again, how much at once, for how much. It may change on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from runners.records import ErrorKind

USUAL_RETRIES = 2
USUAL_IN_FLIGHT = 8
"""Episodes of agents that wait for the same thing that play at once, unless a run says otherwise."""
KINDS: tuple[ErrorKind, ...] = ("world", "agent", "rate-limit", "worker", "internal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a run may use before nothing new is begun; None: as much as it takes. `seconds` are of the wall clock.

    What is under way is finished, so a little more may be used. Tokens and money count every record of the run, retried
    ones too; the clock counts from the last start.
    """

    money: float | None = None
    tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """retries: how often an Errored trial is played again, by kind of error; a kind not named, `USUAL_RETRIES` times.

    in_flight: how many episodes of a lane (see `AgentSpec.lane`) play at once. worlds: how many worlds of a backend are
    played at once, by its name; otherwise as many as it takes, or as there are cores.
    """

    retries: Mapping[ErrorKind, int] = field(default_factory=dict)
    in_flight: Mapping[str, int] = field(default_factory=dict)
    worlds: Mapping[str, int] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)

    def tries(self, kind: ErrorKind | None) -> int:
        """How often a trial with such an error is played again."""
        return self.retries.get(kind or "internal", USUAL_RETRIES)

    def at_once(self, lane: str) -> int:
        return self.in_flight.get(lane, USUAL_IN_FLIGHT)


def retrying(times: int) -> Mapping[ErrorKind, int]:
    """The same number of retries for every kind of error."""
    return MappingProxyType(dict.fromkeys(KINDS, times))
