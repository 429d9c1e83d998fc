"""Who plays, as a user names them: what an agent's file hands to the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from runners.agents.protocol import AgentFactory
from runners.records import AgentIdentity
from scenario_dsl.errors import AuthorError


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """Who plays, and how to make them."""

    identity: AgentIdentity
    factory: AgentFactory


AgentReader: TypeAlias = Callable[[str, bool], AgentSpec]
"""`(configuration, training)`: what stands behind the colon, and whether the agent learns from what it plays.

Raises AuthorError for a configuration that it cannot take.
"""


def agent_spec(name: str, configuration: str, training: bool, factory: AgentFactory) -> AgentSpec:
    return AgentSpec(identity=AgentIdentity(name=name, configuration=configuration, training=training), factory=factory)


def without_settings(name: str, factory: AgentFactory) -> AgentReader:
    """The reader of an agent that has nothing to be configured."""

    def read(configuration: str, training: bool) -> AgentSpec:
        if configuration:
            raise AuthorError(f"agent `{name}` takes no settings, but `{configuration}` was given")
        return agent_spec(name, "", training, factory)

    return read
