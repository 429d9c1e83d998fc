"""Who plays, as a user names them: what is asked of an agent's file, and what it hands to the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from runners.agents.protocol import AgentFactory
from runners.records import AgentIdentity
from scenario_dsl.diagnostics import closest
from scenario_dsl.errors import AuthorError
from scenario_dsl.values import Value

OWN_LANE = "programs"
"""The lane of the user's own agents that wait: programs, and classes that say so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where models answer. `key_from` names the environment variable that holds the key; empty where none is needed.

    The key itself is in no plan, record or log: whoever talks to the endpoint reads its own environment.
    """

    name: str
    url: str
    key_from: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRequest:
    """An agent as a user names it: `NAME:CONFIGURATION`, with the further settings and the endpoints of a plan.

    `training` declares that it learns from what it plays. `title` is what a plan calls it. Relative paths begin in
    `folder`.
    """

    name: str
    configuration: str = ""
    training: bool = False
    title: str = ""
    settings: Mapping[str, Value] = field(default_factory=dict)
    endpoints: Mapping[str, Endpoint] = field(default_factory=dict)
    folder: Path = field(default_factory=Path)

    def only(self, *known: str) -> None:
        """Raises AuthorError for a setting that the agent does not have."""
        for name in self.settings:
            if name not in known:
                close = closest(name, known)
                hint = f"; did you mean `{close}`?" if close else f"; it has: {', '.join(known)}" if known else ""
                raise AuthorError(f"agent `{self.name}` has no setting `{name}`{hint}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """Who plays, and how to make them.

    `lane`: what the agent waits for outside of this process (an endpoint, a program); so many of a lane play at once as
    the run allows, whatever the number of cores. Empty for agents that only compute.
    `paid`: what it uses costs money; `price`: for a million tokens (in, out), where it is known.
    """

    identity: AgentIdentity
    factory: AgentFactory
    lane: str = ""
    paid: bool = False
    price: tuple[float, float] | None = None


AgentReader: TypeAlias = Callable[[AgentRequest], AgentSpec]
"""Raises AuthorError for a configuration or a setting that the agent cannot take, HostError for what is not here."""


def agent_spec(request: AgentRequest, configuration: str, factory: AgentFactory, *, lane: str = "") -> AgentSpec:
    """An agent of this process, known by `configuration` and no further settings."""
    identity = AgentIdentity(
        name=request.name, configuration=configuration, training=request.training, title=request.title
    )
    return AgentSpec(identity=identity, factory=factory, lane=lane)


def without_settings(factory: AgentFactory) -> AgentReader:
    """The reader of an agent that has nothing to be configured."""

    def read(request: AgentRequest) -> AgentSpec:
        request.only()
        if request.configuration:
            raise AuthorError(f"agent `{request.name}` takes no settings, but `{request.configuration}` was given")
        return agent_spec(request, "", factory)

    return read
