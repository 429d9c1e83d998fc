"""How a probe collects what it expected and what it saw."""

from __future__ import annotations

from runners.worlds import Observation


class Seen:
    """Facts for the one line that people read, and whether every expectation held so far."""

    __slots__ = ("_facts", "_holds")

    def __init__(self) -> None:
        self._facts: list[str] = []
        self._holds = True

    def expect(self, holds: bool, fact: str) -> None:
        """`fact` says what was seen, whether it was expected or not."""
        self._holds = self._holds and holds
        if fact not in self._facts:
            self._facts.append(fact)

    def observation(self) -> Observation:
        return observed(self._holds, "; ".join(self._facts))


def observed(holds: bool, fact: str) -> Observation:
    """The result of a probe that expects one thing."""
    return Observation(holds=holds, detail=fact.replace("\n", " ")[:300])


def nothing_held(fact: str) -> Observation:
    """Where it could not be looked at, nothing that was expected of it holds; `fact` says why."""
    return observed(False, fact)
