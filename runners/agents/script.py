"""`script:FILE`: types the lines of a file. The simplest honest agent that only types commands."""

from __future__ import annotations

from dataclasses import dataclass

from runners.agents.protocol import Action, Agent, Answer, Done, Observation, Run, Setting, Task

_ANSWER = "answer "


def parse_script(text: str) -> tuple[Run | Answer, ...]:
    """One command a line; `answer TEXT` answers; blank lines and lines that start with `#` are left out."""
    actions: list[Run | Answer] = []
    for line in text.splitlines():
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

    def reset(self, task: Task) -> None:
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
