"""From what a user writes (`gold`, `bad:reboot`, `script:fix.sh`, `mine:settings`) to an agent that can play."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import cast

from runners.agents.bad import Bad
from runners.agents.gold import Gold
from runners.agents.nop import Nop
from runners.agents.protocol import Agent, AgentFactory, Setting
from runners.agents.random_ import Random
from runners.agents.script import Script, parse_script
from runners.records import AgentIdentity
from scenario_dsl.errors import AuthorError

ENTRY_POINTS = "breakfix.agents"
"""The entry-point group for others' agents: name -> callable `(configuration: str, seed: int) -> Agent`."""
OWN = ("gold", "bad", "nop", "random", "script")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """Who plays, and how to make them."""

    identity: AgentIdentity
    factory: AgentFactory


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
    others = {point.name for point in entry_points(group=ENTRY_POINTS)} - set(OWN)
    return (*OWN, *sorted(others))


def parse_agent(text: str, *, training: bool = False) -> AgentSpec:
    """Read one agent as `NAME` or `NAME:CONFIGURATION`. Raises AuthorError for unknown names and unreadable files.

    `training` declares that the agent may learn from what it plays: plans then refuse held-out scenarios for it.
    """
    name, _, configuration = text.partition(":")
    if name == "script":
        return _script(configuration, training)
    if name == "bad":
        return _spec(name, configuration, training, Bad(configuration or None))
    if name in ("gold", "nop", "random"):
        if configuration:
            raise AuthorError(f"agent `{name}` takes no settings, but `{configuration}` was given")
        plain: dict[str, AgentFactory] = {"gold": Gold(), "nop": Nop(), "random": Random()}
        return _spec(name, "", training, plain[name])
    if name in known_agents():
        return _spec(name, configuration, training, FromEntryPoint(name=name, configuration=configuration))
    raise AuthorError(f"unknown agent `{text}`; known are: {', '.join(known_agents())}")


def _spec(name: str, configuration: str, training: bool, factory: AgentFactory) -> AgentSpec:
    return AgentSpec(identity=AgentIdentity(name=name, configuration=configuration, training=training), factory=factory)


def _script(path: str, training: bool) -> AgentSpec:
    if not path:
        raise AuthorError("agent `script` needs a file: `script:FILE`")
    try:
        data = Path(path).read_bytes()
        actions = parse_script(data.decode("utf-8"))
    except OSError as error:
        raise AuthorError(f"cannot read the script `{path}`: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise AuthorError(f"the script `{path}` is not UTF-8 text") from error
    # The same commands are the same agent wherever the file lies; other commands under its name are another one.
    digest = hashlib.sha256(data).hexdigest()
    return _spec("script", f"{Path(path).name}@{digest[:16]}", training, Script(actions))
