"""From what a user writes (`gold`, `bad:reboot`, `script:fix.sh`, `mine:settings`) to an agent that can play."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import cast

from runners.agents import bad, gold, nop, random_, script
from runners.agents.protocol import Agent, Setting
from runners.agents.spec import AgentReader, AgentSpec, agent_spec
from scenario_dsl.errors import AuthorError

ENTRY_POINTS = "breakfix.agents"
"""The entry-point group for others' agents: name -> callable `(configuration: str, seed: int) -> Agent`."""
READERS: Mapping[str, AgentReader] = MappingProxyType(
    {"gold": gold.read, "bad": bad.read, "nop": nop.read, "random": random_.read, "script": script.read}
)
"""Our own agents, each by the reader in its file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FromEntryPoint:
    """An agent of another distribution. It is told its configuration and a seed, and nothing of the solutions."""

    name: str
    configuration: str

    def __call__(self, setting: Setting) -> Agent:
        for point in entry_points(group=ENTRY_POINTS, name=self.name):
            make = cast(Callable[[str, int], Agent], point.load())
            return make(self.configuration, setting.seed)
        raise AuthorError(f"no installed distribution offers the agent `{self.name}`")


def known_agents() -> tuple[str, ...]:
    """The names that `parse_agent` takes: ours first, then those of other installed distributions, sorted."""
    others = {point.name for point in entry_points(group=ENTRY_POINTS)}
    return (*READERS, *sorted(others - READERS.keys()))


def parse_agent(text: str, *, training: bool = False) -> AgentSpec:
    """Read one agent as `NAME` or `NAME:CONFIGURATION`. Raises AuthorError for unknown names and unreadable files.

    `training` declares that the agent may learn from what it plays: plans then refuse held-out scenarios for it.
    """
    name, _, configuration = text.partition(":")
    if name in READERS:
        return READERS[name](configuration, training)
    if name in known_agents():
        return agent_spec(name, configuration, training, FromEntryPoint(name=name, configuration=configuration))
    raise AuthorError(f"unknown agent `{text}`; known are: {', '.join(known_agents())}")
