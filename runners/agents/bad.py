"""`bad` and `bad:NAME`: plays a bad habit, of the scenario or a general one."""

from __future__ import annotations

from dataclasses import dataclass

from runners.agents.interventional import InterventionAgent
from runners.agents.protocol import Agent, Setting
from runners.agents.spec import AgentRequest, AgentSpec, agent_spec
from runners.habits import general_habits
from scenario_dsl.errors import AuthorError


@dataclass(frozen=True, slots=True)
class Bad:
    """Without a name, attempt `n` plays the scenario's n-th habit and starts over after the last.

    A scenario that lists none is played with the general ones.
    """

    name: str | None = None

    def __call__(self, setting: Setting) -> Agent:
        scenario = setting.scenario
        general = general_habits(scenario)
        if self.name is None:
            habits = scenario.bad or general
            return InterventionAgent(habits[setting.attempt % len(habits)])
        for habit in (*scenario.bad, *general):
            if habit.name == self.name:
                return InterventionAgent(habit)
        known = ", ".join(habit.name for habit in (*scenario.bad, *general))
        raise AuthorError(f"scenario `{scenario.name}` has no bad habit `{self.name}`; it has: {known}")


def read(request: AgentRequest) -> AgentSpec:
    """`bad`, or `bad:HABIT` for one of them."""
    request.only()
    return agent_spec(request, request.configuration, Bad(request.configuration or None))
