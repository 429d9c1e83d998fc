"""`gold`: plays the scenario's own solution."""

from __future__ import annotations

from dataclasses import dataclass

from runners.agents.interventional import InterventionAgent
from runners.agents.protocol import Agent, Setting
from runners.agents.spec import without_settings


@dataclass(frozen=True, slots=True)
class Gold:
    def __call__(self, setting: Setting) -> Agent:
        return InterventionAgent(setting.scenario.gold)


read = without_settings(Gold())
