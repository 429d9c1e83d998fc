"""What passes between an agent and its episode: a briefing, then observations one way and actions the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, cast, runtime_checkable

from scenario_dsl.errors import AuthorError, HostError
from scenario_dsl.model import Intervention, Limits
from scenario_dsl.worlds import ResolvedScenario, World


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """What an agent is told at the beginning. `questions` are those whose answers are worth points.

    Nobody has to look at `hints`; an agent that does says so in its configuration, since it plays an easier game.
    """

    complaint: str
    questions: tuple[str, ...]
    hints: tuple[str, ...]
    limits: Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What an agent sees before it acts: its last command's result, and what it has left.

    `output` is the terminal's view, `stdout` the standard output alone. Before the first action both are empty and
    `exit_code` is None, as after an action that runs nothing. `prompt` is what the shell asks with, where it is known.
    `evidence` is the id by which a document that is handed in may cite this observation. With `commands_left` 0 it may
    still answer or submit. No reward is shown: points given on the way would say which look was the right one, and in
    a control that nothing is broken. Records keep them for whoever trains.
    """

    output: str = ""
    stdout: str = ""
    exit_code: int | None = None
    truncated: bool = False
    timed_out: bool = False
    prompt: str = ""
    evidence: str = ""
    commands_left: int
    seconds_left: float


@dataclass(frozen=True, slots=True)
class Run:
    """Type a command into the agent's own shell session."""

    command: str
    think: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer a question of the briefing. Of several answers the last ones count, as many as there are questions."""

    text: str
    think: str | None = None


@dataclass(frozen=True, slots=True)
class Submit:
    """Hand in an intervention: the gate replays it in fresh worlds. A later one replaces an earlier one."""

    intervention: Intervention
    think: str | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing more to do."""

    think: str | None = None


Action: TypeAlias = Run | Answer | Submit | Done


class Agent(Protocol):
    """Plays one episode. An exception out of either method is the agent's own failure, save `AgentUnavailableError`."""

    def reset(self, briefing: Briefing) -> None: ...

    def act(self, observation: Observation) -> Action: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What an agent used so far and how it behaved; the fields of the same names in `TrialRecord` say what each is."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = 0.0
    requests: int = 0
    resent: int = 0
    malformed: int = 0
    model: str = ""
    seed: int | None = None
    log: str = ""


@runtime_checkable
class Metered(Protocol):
    """An agent that uses something worth counting. Asked after the episode, also when that ended in an error."""

    def usage(self) -> Usage: ...


@runtime_checkable
class Closing(Protocol):
    """An agent that holds something (a process, a connection). Called once the episode is over, however it ended."""

    def close(self) -> None: ...


def close(agent: Agent) -> None:
    """Close what holds something."""
    # Asked of the one name alone: `isinstance` with a protocol takes as long as a command.
    if hasattr(agent, "close"):
        cast(Closing, agent).close()


class AgentFailedError(AuthorError):
    """An agent gives up in its own words: the text stands in the record as it is."""


class AgentUnavailableError(HostError):
    """What the agent stands on could not be reached (a model's endpoint, say): the trial is Errored, not Failed."""

    def __init__(
        self,
        message: str,
        *,
        kind: Literal["agent", "rate-limit"] = "agent",
        remedy: str = "see that the agent can reach what it needs, then go on",
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.kind = kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where an agent is about to play. `seed` is the agent's own, drawn from the trial's id."""

    scenario: ResolvedScenario
    world: World
    seed: int
    attempt: int


AgentFactory: TypeAlias = Callable[[Setting], Agent]
"""Makes a fresh agent for each episode. It travels to the workers, so it must pickle.

Raises AuthorError when the agent cannot play the scenario; the plan asks before anything runs.
"""
