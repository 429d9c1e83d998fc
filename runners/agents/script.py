"""`script:FILE`: types the lines of a file. The simplest honest agent that only types commands."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from compiler.reading import read_file
from compiler.refusals import Refusal
from runners.agents.protocol import Action, Agent, Answer, Briefing, Done, Observation, Run, Setting
from runners.agents.spec import AgentRequest, AgentSpec, agent_spec
from scenario_dsl.errors import AuthorError

_LARGEST = 1 << 20
"""Bytes of a script."""

_ANSWER = "answer "


def parse_script(text: str) -> tuple[Run | Answer, ...]:
    """One command a line; `answer TEXT` answers; blank lines and lines that start with `#` are left out."""
    actions: list[Run | Answer] = []
    for line in text.split("\n"):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if stripped.startswith(_ANSWER):
            actions.append(Answer(stripped.removeprefix(_ANSWER).strip()))
        else:
            actions.append(Run(line))
    return tuple(actions)


class ScriptAgent:
    """Plays fixed actions, one after the other, whatever comes back."""

    def __init__(self, actions: tuple[Action, ...]) -> None:
        self._actions = actions
        self._next = 0

    def reset(self, briefing: Briefing) -> None:
        self._next = 0

    def act(self, observation: Observation) -> Action:
        if self._next >= len(self._actions):
            return Done()
        self._next += 1
        return self._actions[self._next - 1]


@dataclass(frozen=True, slots=True)
class Script:
    """Carries the file's lines, so that a worker on another machine needs no file."""

    actions: tuple[Run | Answer, ...]

    def __call__(self, setting: Setting) -> Agent:
        return ScriptAgent(self.actions)


def read(request: AgentRequest) -> AgentSpec:
    """`script:FILE`. The same commands are the same agent wherever the file lies; other commands are another one.

    Raises AuthorError when there is no such text.
    """
    request.only()
    if not request.configuration:
        raise AuthorError("agent `script` needs a file: `script:FILE`")
    path = request.folder / request.configuration
    try:
        data = read_file(path.resolve(), limit=_LARGEST)
        actions = parse_script(data.decode("utf-8"))
    except Refusal as error:
        raise AuthorError(f"cannot read the script `{path}`: {error}") from error
    except UnicodeDecodeError as error:
        raise AuthorError(f"the script `{path}` is not UTF-8 text") from error
    digest = hashlib.sha256(data).hexdigest()
    return agent_spec(request, f"{path.name}@{digest[:16]}", Script(actions))
