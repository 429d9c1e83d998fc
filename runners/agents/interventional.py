"""An agent that plays a written intervention through commands and then hands it in."""

from __future__ import annotations

from functools import lru_cache

from runners.agents.protocol import Action, AgentFailedError, Briefing, Done, Observation, Run, Submit
from runners.interventions import Applied, Moves, Reply, moves, without_places
from scenario_dsl.model import Intervention

_handed_in = lru_cache(maxsize=256)(without_places)


class InterventionAgent:
    """Plays `intervention`; with `submit` it hands the document in at the end, for the gate to replay.

    A postcondition or an invariant of its own that does not hold is its failure.
    """

    def __init__(self, intervention: Intervention, *, submit: bool = True) -> None:
        self._intervention = intervention
        self._submit = submit
        self._moves: Moves | None = None
        self._ran = False

    def reset(self, briefing: Briefing) -> None:
        self._moves = moves(self._intervention)
        self._ran = False

    def act(self, observation: Observation) -> Action:
        if self._moves is None:
            return Done()
        reply = None
        if self._ran and observation.exit_code is not None:
            reply = Reply(observation.exit_code, observation.stdout)
        try:
            action = self._moves.send(reply)
        except StopIteration as stop:
            self._moves = None
            applied: Applied = stop.value
            if applied.broken:
                raise AgentFailedError(f"what it says of itself does not hold: {applied.broken[0]}") from None
            return Submit(_handed_in(self._intervention)) if self._submit else Done()
        self._ran = isinstance(action, Run)
        return action
