"""Records to pandas frames, the public way to look at a run: `reports.load("runs/nightly")`.

Five frames, each a tuple of documented columns below: trials (one row per planned trial: its last retry), attempts
(all worlds of one agent's go at a scenario), objectives, facts (of the gate) and turns (without their output).
Rows are sorted by what they are, never by when they arrived, so a resumed run gives the same frames.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from reports.attempts import Attempt, AttemptKey, attempt_id, key_of, summarise, task_of
from reports.columns import Column, cells, frame
from reports.reading import Kept, Reading, TurnRow, lines, read, together
from runners.records import GateFact, ObjectiveResult, TrialRecord
from runners.records_io import decode


class ObjectiveRow(NamedTuple):
    record: TrialRecord
    objective: ObjectiveResult


class FactRow(NamedTuple):
    record: TrialRecord
    fact: GateFact


TRIALS: tuple[Column[Kept], ...] = (
    Column("trial_id", "string", "Hash of everything the trial was planned with.", lambda k: k.record.trial_id),
    Column("attempt_id", "string", "Names the attempt the trial belongs to.", lambda k: attempt_id(k.record.trial)),
    Column("task", "string", "pack@bundle/scenario: the cluster of the statistics.", lambda k: task_of(k.record.trial)),
    Column("agent", "string", "The agent's name with its configuration.", lambda k: k.record.trial.agent.label),
    Column("trusted", "boolean", "The agent ran inside our process.", lambda k: k.record.trial.agent.trusted),
    Column("training", "boolean", "The agent is declared as one in training.", lambda k: k.record.trial.agent.training),
    Column("backend", "string", "What the world was made of.", lambda k: k.record.trial.backend),
    Column("pack", "string", "Name of the pack.", lambda k: k.record.trial.pack),
    Column("pack_version", "string", "Version of the pack.", lambda k: k.record.trial.pack_version),
    Column("bundle_digest", "string", "sha256 of the bundle's content.", lambda k: k.record.trial.bundle_digest),
    Column("proven", "boolean", "The bundle carried a proof that held.", lambda k: k.record.trial.proven),
    Column("scenario", "string", "Name of the scenario.", lambda k: k.record.trial.scenario),
    Column("difficulty", "string", "easy, medium, hard or expert.", lambda k: k.record.trial.difficulty),
    Column("kind", "string", "repair or investigation.", lambda k: k.record.trial.kind),
    Column("split", "string", "train or heldout.", lambda k: k.record.trial.split),
    Column("world", "string", "Name of the world.", lambda k: k.record.trial.world),
    Column("role", "string", "primary, twin or control.", lambda k: k.record.trial.role),
    Column("seed", "Int64", "Seed of the attempt.", lambda k: k.record.trial.seed),
    Column("attempt", "Int64", "Number of the attempt.", lambda k: k.record.trial.attempt),
    Column("retries", "Int64", "How often the trial was tried again.", lambda k: k.record.ordinal),
    Column("outcome", "string", "Passed, Failed, Errored (ours) or Unsupported.", lambda k: k.record.outcome),
    Column("score", "Float64", "Points; none in a control world.", lambda k: k.record.score),
    Column("full_score", "Float64", "Points the scenario has to give.", lambda k: k.record.trial.full_score),
    Column("reward", "Float64", "Sum of the rewards of its turns.", lambda k: k.reward),
    Column("commands", "Int64", "Commands the agent ran.", lambda k: k.record.commands),
    Column("seconds", "Float64", "Time in the world, on its own clock.", lambda k: k.record.seconds),
    Column("turns", "Int64", "Actions of the agent, of any kind.", lambda k: k.turn_count),
    Column("objectives_met", "Int64", "Objectives met at the end.", lambda k: sum(o.met for o in k.record.objectives)),
    Column("objectives", "Int64", "Objectives there were.", lambda k: len(k.record.objectives)),
    Column("harms", "Int64", "Invariants and other things broken.", lambda k: len(k.record.harms)),
    Column("cascades", "Int64", "Cascades that fired.", lambda k: len(k.record.cascades_fired)),
    Column(
        "infrastructure_error", "string", "Why it is Errored or Unsupported: our side, never the agent's.",
        lambda k: k.record.error if k.record.outcome in ("Errored", "Unsupported") else None,
    ),
    Column(
        "agent_error", "string", "The agent's own failure that ended its episode.",
        lambda k: k.record.error if k.record.outcome in ("Passed", "Failed") else None,
    ),
    Column("mode", "string", "live or replay.", lambda k: k.record.mode),
    Column("tokens_in", "Int64", "Tokens the model read.", lambda k: k.record.tokens_in),
    Column("tokens_out", "Int64", "Tokens the model wrote.", lambda k: k.record.tokens_out),
    Column("cost", "Float64", "Money paid for the model; none where no price is known.", lambda k: k.record.cost),
    Column("requests", "Int64", "Requests to the agent's model.", lambda k: k.record.requests),
    Column("resent", "Int64", "Requests of them that were sent again.", lambda k: k.record.resent),
    Column("malformed", "Int64", "Answers of the model that were no action.", lambda k: k.record.malformed),
    Column("model", "string", "What the endpoint says it served; none if unsaid.", lambda k: k.record.model or None),
    Column("error_kind", "string", "Whose trouble an Errored trial was.", lambda k: k.record.error_kind),
)  # fmt: skip

ATTEMPTS: tuple[Column[Attempt], ...] = (
    Column("attempt_id", "string", "Names the attempt.", lambda a: attempt_id(a.trial)),
    Column("task", "string", "pack@bundle/scenario: the cluster of the statistics.", lambda a: task_of(a.trial)),
    Column("agent", "string", "The agent's name with its configuration.", lambda a: a.trial.agent.label),
    Column("backend", "string", "What the worlds were made of.", lambda a: a.trial.backend),
    Column("pack", "string", "Name of the pack.", lambda a: a.trial.pack),
    Column("proven", "boolean", "The bundle carried a proof that held.", lambda a: a.trial.proven),
    Column("scenario", "string", "Name of the scenario.", lambda a: a.trial.scenario),
    Column("difficulty", "string", "easy, medium, hard or expert.", lambda a: a.trial.difficulty),
    Column("kind", "string", "repair or investigation.", lambda a: a.trial.kind),
    Column("split", "string", "train or heldout.", lambda a: a.trial.split),
    Column("seed", "Int64", "Seed of the attempt.", lambda a: a.trial.seed),
    Column("attempt", "Int64", "Number of the attempt.", lambda a: a.trial.attempt),
    Column("verdict", "string", "What the gate's facts add up to.", lambda a: a.verdict),
    Column("errored", "boolean", "A world ended Errored after its last retry.", lambda a: a.errored),
    Column("unsupported", "boolean", "The backend cannot run the scenario.", lambda a: a.unsupported),
    Column("score", "Float64", "Points in the primary; none where it errored.", lambda a: a.score),
    Column("full_score", "Float64", "Points the scenario has to give.", lambda a: a.trial.full_score),
    Column("verified", "boolean", "The verdict is VERIFIED.", lambda a: a.verdict == "VERIFIED"),
    Column("verified_open", "boolean", "The verdict is UNKNOWN.", lambda a: a.verdict == "UNKNOWN"),
    Column("recovered", "boolean", "The primary's check passed.", lambda a: a.recovered),
    Column("recovered_open", "boolean", "Nobody knows whether it did.", lambda a: a.recovered_open),
    Column("harmful", "boolean", "The verdict is HARMFUL.", lambda a: a.verdict == "HARMFUL"),
    Column(
        "harmful_open", "boolean", "Not harmful, as far as the recorded worlds tell.",
        lambda a: a.harmful_open and a.verdict != "HARMFUL",
    ),
    Column("controls", "Int64", "Control worlds the scenario has.", lambda a: a.controls),
    Column("control_unharmed", "boolean", "Every control was left unharmed.", lambda a: a.control_unharmed),
    Column("control_open", "boolean", "Nobody knows whether they were.", lambda a: a.control_open),
    Column("commands", "Int64", "Commands in the primary.", lambda a: a.primary.commands if a.primary else None),
    Column("seconds", "Float64", "Seconds in the primary.", lambda a: a.primary.seconds if a.primary else None),
    Column(
        "commands_to_repair", "Int64", "Command that met the last objective, if all were met.",
        lambda a: a.repaired_at[0] if a.repaired_at else None,
    ),
    Column(
        "seconds_to_repair", "Float64", "Seconds until the last objective, if all were met.",
        lambda a: a.repaired_at[1] if a.repaired_at else None,
    ),
    Column("worlds", "Int64", "Worlds the scenario has.", lambda a: len(a.trial.required_worlds)),
    Column("worlds_recorded", "Int64", "Worlds with a record.", lambda a: a.worlds_recorded),
    Column("retries", "Int64", "Retries over all worlds.", lambda a: a.retries),
    Column("mode", "string", "live, replay or mixed.", lambda a: a.mode),
    Column("tokens_in", "Int64", "Tokens read, over all worlds.", lambda a: a.tokens_in),
    Column("tokens_out", "Int64", "Tokens written, over all worlds.", lambda a: a.tokens_out),
    Column("cost", "Float64", "Money paid, over all worlds; none where a price is unknown.", lambda a: a.cost),
)  # fmt: skip

OBJECTIVES: tuple[Column[ObjectiveRow], ...] = (
    Column("trial_id", "string", "The trial.", lambda r: r.record.trial_id),
    Column("attempt_id", "string", "The attempt.", lambda r: attempt_id(r.record.trial)),
    Column("task", "string", "pack@bundle/scenario.", lambda r: task_of(r.record.trial)),
    Column("agent", "string", "The agent.", lambda r: r.record.trial.agent.label),
    Column("backend", "string", "What the world was made of.", lambda r: r.record.trial.backend),
    Column("scenario", "string", "The scenario.", lambda r: r.record.trial.scenario),
    Column("world", "string", "The world.", lambda r: r.record.trial.world),
    Column("role", "string", "primary, twin or control.", lambda r: r.record.trial.role),
    Column("outcome", "string", "How the trial ended.", lambda r: r.record.outcome),
    Column("objective", "string", "Name of the objective.", lambda r: r.objective.name),
    Column("points", "Float64", "What it is worth.", lambda r: r.objective.points),
    Column("armed", "boolean", "It could be met (its cascade had fired).", lambda r: r.objective.armed),
    Column("met", "boolean", "It was met at the end.", lambda r: r.objective.met),
    Column("met_at_command", "Int64", "After which command, from 1.", lambda r: r.objective.met_at_command),
    Column("met_at_seconds", "Float64", "After how long.", lambda r: r.objective.met_at_seconds),
)  # fmt: skip

FACTS: tuple[Column[FactRow], ...] = (
    Column("trial_id", "string", "The trial that carries the fact.", lambda r: r.record.trial_id),
    Column("attempt_id", "string", "The attempt.", lambda r: attempt_id(r.record.trial)),
    Column("task", "string", "pack@bundle/scenario.", lambda r: task_of(r.record.trial)),
    Column("agent", "string", "The agent.", lambda r: r.record.trial.agent.label),
    Column("backend", "string", "What the world was made of.", lambda r: r.record.trial.backend),
    Column("scenario", "string", "The scenario.", lambda r: r.record.trial.scenario),
    Column("check", "string", "Which of the five checks.", lambda r: r.fact.check),
    Column("world", "string", "Where it was established.", lambda r: r.fact.world),
    Column("means", "string", "intervention or policy.", lambda r: r.fact.means),
    Column("finding", "string", "pass, fail, harm, unknown or not-applicable.", lambda r: r.fact.finding),
    Column("reason", "string", "One sentence with the evidence.", lambda r: r.fact.reason),
)  # fmt: skip

TURNS: tuple[Column[TurnRow], ...] = (
    Column("trial_id", "string", "The trial.", lambda r: r.record.trial_id),
    Column("turn", "Int64", "Number of the turn, from 1.", lambda r: r.number),
    Column("kind", "string", "run, answer, submit or done.", lambda r: r.turn.kind),
    Column("text", "string", "What the agent typed.", lambda r: r.turn.text),
    Column("output_characters", "Int64", "Length of what came back.", lambda r: len(r.turn.output)),
    Column("exit_code", "Int64", "Exit status of the command.", lambda r: r.turn.exit_code),
    Column("at", "Float64", "Seconds since the start.", lambda r: r.turn.at),
    Column("seconds", "Float64", "How long it took.", lambda r: r.turn.seconds),
    Column("reward", "Float64", "Reward for this turn.", lambda r: r.turn.reward),
    Column("truncated", "boolean", "The output was cut at the limit.", lambda r: r.turn.truncated),
    Column("timed_out", "boolean", "The command was stopped.", lambda r: r.turn.timed_out),
    Column("refused", "string", "Why the command was not run; empty where it was.", lambda r: r.turn.refused),
    Column("cascades", "Int64", "Cascades that fired after it.", lambda r: len(r.turn.cascades)),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """The frames of one or more runs; their columns are TRIALS, ATTEMPTS, OBJECTIVES, FACTS and TURNS.

    `records_digest` is the sha256 over the sorted sha256 of the records that count: it names the evidence.
    `superseded` counts the records that a retry replaced; `limits` are those the trials were planned with, in words.
    """

    trials: pd.DataFrame
    attempts: pd.DataFrame
    objectives: pd.DataFrame
    facts: pd.DataFrame
    turns: pd.DataFrame
    records_digest: str
    superseded: int
    limits: tuple[str, ...]


def load(*runs: Path | str) -> Frames:
    """The frames of these run folders taken together. A trial found twice counts once: its last retry, as read last.

    Raises runners.records_io.RecordsError when a folder is no run folder, or a record cannot be read or was altered.
    """
    reading = together([read(Path(run)) for run in runs])
    return replace(frames_of(reading), turns=_turns(reading))


def frames_of(reading: Reading) -> Frames:
    """The frames of these records, but for the turns: that frame is empty."""
    kept = reading.kept
    limits = {
        f"{t.max_commands} commands, {t.max_seconds:g} s, {t.output_bytes} bytes of output a command"
        for t in (item.record.trial for item in kept)
    }
    return Frames(
        trials=frame(TRIALS, (cells(TRIALS, item) for item in kept)),
        attempts=attempts_frame(reading),
        objectives=frame(
            OBJECTIVES,
            (cells(OBJECTIVES, ObjectiveRow(i.record, result)) for i in kept for result in i.record.objectives),
        ),
        facts=frame(FACTS, (cells(FACTS, FactRow(i.record, fact)) for i in kept for fact in i.record.facts)),
        turns=frame(TURNS, ()),
        records_digest=reading.digest,
        superseded=reading.superseded,
        limits=tuple(sorted(limits)),
    )


def attempts_frame(reading: Reading) -> pd.DataFrame:
    """One row for each attempt, in the order of its first trial."""
    attempts: dict[AttemptKey, list[TrialRecord]] = {}
    for item in reading.kept:
        attempts.setdefault(key_of(item.record.trial), []).append(item.record)
    return frame(ATTEMPTS, (cells(ATTEMPTS, summarise(records)) for records in attempts.values()))


def _turns(reading: Reading) -> pd.DataFrame:
    records = (decode(line) for line in lines(reading.kept))
    rows = (TurnRow(record, number, turn) for record in records for number, turn in enumerate(record.turns, start=1))
    return frame(TURNS, (cells(TURNS, row) for row in rows))
