"""Playing a recorded trial again: the same actions in the same world must give the same record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from compiler.verify import VerifiedBundle
from runners.agents.protocol import (
    Action,
    Agent,
    AgentFailedError,
    Answer,
    Briefing,
    Done,
    Observation,
    Run,
    Setting,
    Submit,
    Usage,
)
from runners.interventions import from_text
from runners.records import TrialRecord, Turn
from runners.trials import Job, Work, run_trial
from runners.worlds import Backend
from scenario_dsl.errors import AuthorError

_USED = frozenset(field.name for field in fields(Usage)) | {"agent_seed", "agent_log"}
_NOT_COMPARED = frozenset({"trial", "ordinal", "mode", "turns", "origin"}) | _USED
"""Turns are compared one by one; a replay asks no model, so it uses nothing."""


class ReplayError(AuthorError):
    """The record cannot be played again here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The new record (its mode is `replay`), and how it differs from the old one, one sentence each."""

    record: TrialRecord
    differences: tuple[str, ...]

    @property
    def same(self) -> bool:
        return not self.differences


class PlaybackAgent:
    """Does what a transcript says was done, and ends as it ended: no model is asked again."""

    def __init__(self, record: TrialRecord) -> None:
        self._actions = tuple(_action(turn) for turn in record.turns)
        self._error = record.error
        self._next = 0

    def reset(self, _briefing: Briefing) -> None:
        self._next = 0

    def act(self, _observation: Observation) -> Action:
        if self._next < len(self._actions):
            self._next += 1
            return self._actions[self._next - 1]
        if self._error is not None:
            raise AgentFailedError(self._error)
        # The record ends without `done`: at a limit, which refuses one more command as it did then.
        return Run("")


@dataclass(frozen=True, slots=True)
class Playback:
    """The factory of the agent that plays one record again."""

    record: TrialRecord

    def __call__(self, _setting: Setting) -> Agent:
        return PlaybackAgent(self.record)


def replay(record: TrialRecord, bundles: Sequence[VerifiedBundle], backend: Backend) -> Replay:
    """Play the record's actions again, with its bundle and its backend.

    Raises ReplayError when the record has no episode, its bundle is not among `bundles`, or the backend is another.
    """
    if record.outcome in ("Errored", "Unsupported"):
        raise ReplayError(f"trial {record.trial_id[:12]} is {record.outcome}: there is no episode to play again")
    trial = record.trial
    if backend.name != trial.backend:
        raise ReplayError(f"the trial was played on the backend `{trial.backend}`, not on `{backend.name}`")
    contents = {bundle.digest: bundle.content for bundle in bundles if bundle.digest == trial.bundle_digest}
    if not contents:
        raise ReplayError(
            f"the trial was played with the bundle {trial.pack} {trial.bundle_digest[:12]}, not given here"
        )
    work = Work(contents=contents, factories={trial.agent: Playback(record)}, backend=backend)
    again = replace(run_trial(Job(trial_id=record.trial_id, trial=trial, ordinal=record.ordinal), work), mode="replay")
    return Replay(record=again, differences=_differences(record, again))


def _action(turn: Turn) -> Action:
    if turn.kind == "run":
        return Run(turn.text, turn.think)
    if turn.kind == "answer":
        return Answer(turn.text, turn.think)
    if turn.kind == "submit":
        return Submit(from_text(turn.text), turn.think)
    return Done(turn.think)


def _differences(old: TrialRecord, new: TrialRecord) -> tuple[str, ...]:
    found: list[str] = []
    for number, (before, after) in enumerate(zip(old.turns, new.turns, strict=False), start=1):
        for field in fields(Turn):
            if getattr(before, field.name) != getattr(after, field.name):
                found.append(f"turn {number}: its {field.name} differs")
    if len(old.turns) != len(new.turns):
        found.append(f"it has {len(new.turns)} turns, the record {len(old.turns)}")
    for field in fields(TrialRecord):
        if field.name not in _NOT_COMPARED and getattr(old, field.name) != getattr(new, field.name):
            found.append(f"its {field.name} differs: {getattr(old, field.name)!r}, now {getattr(new, field.name)!r}")
    return tuple(found)
