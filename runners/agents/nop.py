"""`nop`: does nothing. Whatever it scores is the grader's mistake."""

from __future__ import annotations

from dataclasses import dataclass

from runners.agents.protocol import Action, Agent, Briefing, Done, Observation, Setting
from runners.agents.spec import without_settings


class NopAgent:
    def reset(self, briefing: Briefing) -> None:
        """It needs to know nothing."""

    def act(self, observation: Observation) -> Action:
        return Done()


@dataclass(frozen=True, slots=True)
class Nop:
    def __call__(self, setting: Setting) -> Agent:
        return NopAgent()


read = without_settings(Nop())
