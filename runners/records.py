"""The record of one trial: the only thing that reports read, and the rule that turns records into a verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from compiler.verdict import Check as Check
from compiler.verdict import GateFact as GateFact
from compiler.verdict import Means as Means
from compiler.verdict import Standing as Standing
from compiler.verdict import Verdict as Verdict
from compiler.verdict import verdict
from scenario_dsl.model import Difficulty, Kind, Split
from scenario_dsl.worlds import Role

Outcome = Literal["Passed", "Failed", "Errored", "Unsupported"]
ErrorKind = Literal["world", "agent", "rate-limit", "worker", "internal"]
"""Whose trouble an Errored trial was: the backend's, that of what the agent stands on (its model's endpoint, say), an
endpoint that took no more requests, a worker process that died, or a fault of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One action of the agent and what came back. `kind`: run, answer, submit or done; seconds since the start.

    `refused`: why the command was not run, in words: it would have destroyed the machine, and the episode ended.
    """

    kind: str
    text: str
    output: str = ""
    exit_code: int | None = None
    at: float = 0.0
    seconds: float = 0.0
    reward: float = 0.0
    think: str | None = None
    truncated: bool = False
    timed_out: bool = False
    refused: str = ""
    cascades: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveResult:
    """How one objective ended. `met_at_command` counts from 1; None where it was not met at the end.

    `detail`: where it was not met, what its probe saw when it did not hold last.
    """

    name: str
    points: float
    met: bool
    armed: bool
    met_at_command: int | None = None
    met_at_seconds: float | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentIdentity:
    """Who played: a label for people, and the whole configuration, which trial ids cover. `trusted`: in-process.

    `settings` are further settings that differ from the usual, as (name, value) in the order of their names. `title` is
    what a plan calls the agent; it decides nothing, so trial ids leave it out.
    """

    name: str
    configuration: str = ""
    trusted: bool = True
    training: bool = False
    settings: tuple[tuple[str, str], ...] = ()
    title: str = ""

    @property
    def label(self) -> str:
        if self.title:
            return self.title
        named = f"{self.name}:{self.configuration}" if self.configuration else self.name
        return " ".join((named, *(f"{name}={value}" for name, value in self.settings)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One planned episode. `required_worlds` are all worlds of the scenario as (name, role), for the verdict.

    `waived`: how many weakened forms of its gold the scenario's graders miss, with a reason that its author signed.
    """

    pack: str
    pack_version: str
    bundle_digest: str
    proven: bool
    scenario: str
    difficulty: Difficulty
    kind: Kind
    split: Split
    world: str
    role: Role
    required_worlds: tuple[tuple[str, Role], ...]
    full_score: float
    backend: str
    agent: AgentIdentity
    seed: int
    attempt: int
    max_commands: int
    max_seconds: float
    output_bytes: int
    waived: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord:
    """What happened in one trial. `ordinal` counts retries from 0; only the last one is the trial's result.

    `error`: why it is Errored or Unsupported; in an episode that was played, the agent's own failure that ended it.
    `score` is None in a control world (nothing there is worth points). `cost` is zero where nothing was paid, and None
    where what was used has no known price. Usage is recorded for Errored trials as well: it was paid for.

    `requests`: what was asked of the agent's model, `resent` of them again after an error; `malformed`: answers that
    were no action and were asked for again. `model`: what the endpoint says that it served. `agent_seed`: the seed that
    the model got. `agent_log`: what the agent wrote for itself (standard error), its end where it is long.
    `error_kind`: set when Errored. `origin`: the earlier run that this record was taken over from, unplayed.
    """

    trial_id: str
    trial: Trial
    ordinal: int
    outcome: Outcome
    score: float | None
    commands: int
    seconds: float
    objectives: tuple[ObjectiveResult, ...] = ()
    turns: tuple[Turn, ...] = ()
    facts: tuple[GateFact, ...] = ()
    harms: tuple[str, ...] = ()
    cascades_fired: tuple[str, ...] = ()
    error: str | None = None
    mode: Literal["live", "replay"] = "live"
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = 0.0
    requests: int = 0
    resent: int = 0
    malformed: int = 0
    model: str = ""
    agent_seed: int | None = None
    agent_log: str = ""
    error_kind: ErrorKind | None = None
    origin: str = ""


def judge(records: Iterable[TrialRecord]) -> Verdict:
    """The verdict on one attempt, from the records of all its worlds (one agent, scenario, attempt and seed).

    Never green by default: a world without a record gives UNKNOWN, unless what is known already decides against the
    agent (see `compiler.verdict`).
    """
    last: dict[str, TrialRecord] = {}
    for record in records:
        known = last.get(record.trial.world)
        if known is None or record.ordinal >= known.ordinal:
            last[record.trial.world] = record
    if not last:
        return "UNKNOWN"
    facts = [fact for record in last.values() for fact in record.facts]
    harms = [harm for record in last.values() for harm in record.harms]
    return verdict(facts, harms, next(iter(last.values())).trial.required_worlds)
