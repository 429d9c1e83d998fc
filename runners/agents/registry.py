"""From what a user writes (`gold`, `script:fix.sh`, `cmd:./agent.py`, `mine:settings`) to an agent that can play."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import cast

from runners.agents import bad, cmd, gold, module_, nop, random_, script
from runners.agents.llm import reading as llm
from runners.agents.protocol import Agent, Setting
from runners.agents.settings import lane_of
from runners.agents.spec import AgentReader, AgentRequest, AgentSpec, Endpoint, agent_spec
from scenario_dsl.errors import AuthorError
from scenario_dsl.values import Value

ENTRY_POINTS = "breakfix.agents"
"""The entry-point group for others' agents: name -> callable `(configuration: str, seed: int) -> Agent`."""
READERS: Mapping[str, AgentReader] = MappingProxyType(
    {
        "gold": gold.read,
        "bad": bad.read,
        "nop": nop.read,
        "random": random_.read,
        "script": script.read,
        "cmd": cmd.read,
        "llm": llm.read,
    }
)
"""Our own agents, each by the reader in its file."""
_NOTHING: Mapping[str, Value] = MappingProxyType({})
_HERE = Path()
_NOWHERE: Mapping[str, Endpoint] = MappingProxyType({})


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


def parse_agent(
    text: str,
    *,
    training: bool = False,
    title: str = "",
    settings: Mapping[str, Value] = _NOTHING,
    endpoints: Mapping[str, Endpoint] = _NOWHERE,
    folder: Path = _HERE,
) -> AgentSpec:
    """Read one agent as `NAME`, `NAME:CONFIGURATION` or `module:Class`.

    `training` declares that the agent may learn from what it plays: plans then refuse held-out scenarios for it.
    Raises AuthorError for unknown names, settings and unreadable files, HostError for what this machine lacks.
    """
    name, _, configuration = text.partition(":")
    request = AgentRequest(
        name=name,
        configuration=configuration,
        training=training,
        title=title,
        settings=settings,
        endpoints=endpoints,
        folder=folder,
    )
    if name in READERS:
        return READERS[name](request)
    if name in known_agents():
        factory = FromEntryPoint(name=name, configuration=configuration)
        return agent_spec(request, configuration, factory, lane=lane_of(request))
    if module_.names_a_class(text):
        return module_.read(request)
    raise AuthorError(
        f"unknown agent `{text}`; known are: {', '.join(known_agents())}, and `module:Class` for a class of yours"
    )
