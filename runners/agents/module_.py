"""`module:Class`: a Python class of the user's, in this process. Its module is looked for here and where Python looks.

A class is called with its settings (a text) and a seed that is the trial's own, and has `reset` and `act`.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from runners.agents.protocol import Agent, Setting
from runners.agents.settings import lane_of
from runners.agents.spec import AgentRequest, AgentSpec, agent_spec
from scenario_dsl.errors import AuthorError


@dataclass(frozen=True, slots=True, kw_only=True)
class FromModule:
    """Makes the agent, wherever it plays: the module is imported there, from the same folder."""

    module: str
    name: str
    settings: str
    folder: str

    def __call__(self, setting: Setting) -> Agent:
        return load(self.module, self.name, self.folder)(self.settings, setting.seed)


def names_a_class(text: str) -> bool:
    """Is it `module:Class`, perhaps with `:SETTINGS`?"""
    module, _, rest = text.partition(":")
    return bool(rest) and all(part.isidentifier() for part in (*module.split("."), rest.partition(":")[0]))


def read(request: AgentRequest) -> AgentSpec:
    """`module:Class` or `module:Class:SETTINGS`. The same source is the same agent; another one is another agent.

    Raises AuthorError when there is no such class.
    """
    name, _, settings = request.configuration.partition(":")
    folder = str(request.folder.absolute())
    load(request.name, name, folder)
    source = getattr(sys.modules[request.name], "__file__", None)
    digest = hashlib.sha256(Path(source).read_bytes()).hexdigest()[:16] if source else "built-in"
    configuration = f"{name}@{digest}:{settings}" if settings else f"{name}@{digest}"
    factory = FromModule(module=request.name, name=name, settings=settings, folder=folder)
    return agent_spec(request, configuration, factory, lane=lane_of(request))


def load(module: str, name: str, folder: str) -> Callable[[str, int], Agent]:
    """The class, from a module in `folder` or elsewhere on Python's path. Raises AuthorError."""
    if folder not in sys.path:
        # At the end: a file of the user's must not stand in for a module that Python or breakfix needs.
        sys.path.append(folder)
    agent = f"agent `{module}:{name}`"
    try:
        made = getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            raise AuthorError(f"unknown {agent}: there is no module `{error.name}` in {folder} or installed") from error
        raise AuthorError(f"{agent}: its module needs `{error.name}`, which is not installed") from error
    except Exception as error:
        raise AuthorError(f"{agent}: importing it failed: {type(error).__name__}: {error}") from error
    if not callable(made) or not all(callable(getattr(made, method, None)) for method in ("reset", "act")):
        raise AuthorError(f"{agent}: it is no class with `reset` and `act`")
    return cast(Callable[[str, int], Agent], made)
