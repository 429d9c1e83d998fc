"""The agent that types again what an attempt typed, so that an ordinary trial judges it; a shell that listens."""

from __future__ import annotations

from dataclasses import replace

from runners.agents.interventional import InterventionAgent
from runners.agents.protocol import Action, Briefing, Observation, Run
from runners.evidence import Kept, keep
from runners.interventions import Shell
from runners.worlds import CommandResult
from scenario_dsl.model import Intervention


class Reenactment:
    """Looks as the attempt looked, then plays its intervention and hands it in."""

    def __init__(self, looked: tuple[str, ...], intervention: Intervention) -> None:
        self._looked = looked
        self._next = 0
        # What it cites was checked against the attempt's own log.
        self._acting = InterventionAgent(replace(intervention, evidence=()))

    def reset(self, briefing: Briefing) -> None:
        self._next = 0
        self._acting.reset(briefing)

    def act(self, observation: Observation) -> Action:
        if self._next < len(self._looked):
            self._next += 1
            return Run(self._looked[self._next - 1])
        return self._acting.act(observation)


class Listening:
    """A shell in a world that keeps everything that is run in it as evidence."""

    def __init__(self, live: Shell, world: str, *, begun: float) -> None:
        self._live = live
        self._world = world
        self._begun = begun
        self.kept: list[Kept] = []

    def run(self, command: str, *, output_bytes: int, seconds: float) -> CommandResult:
        at = self._live.elapsed() - self._begun
        result = self._live.run(command, output_bytes=output_bytes, seconds=seconds)
        self.kept.append(keep(self._world, command, result, at=at))
        return result

    def elapsed(self) -> float:
        return self._live.elapsed()
