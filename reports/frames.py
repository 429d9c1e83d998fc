"""Records to pandas frames, the public way to look at a run: `reports.load("runs/nightly")`.

Five frames, each a tuple of documented columns below: trials (one row per planned trial: its last retry), attempts
(all worlds of one agent's go at a scenario), objectives, facts (of the gate) and turns (without their output).
Rows are sorted by what they are, never by when they arrived, so a resumed run gives the same frames.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from reports.attempts import Attempt, AttemptKey, attempt_id, key_of, summarise, task_of
from reports.columns import Cell, Column, cells, frame
from runners.records import GateFact, ObjectiveResult, TrialRecord, Turn
from runners.records_io import read_committed

DIFFICULTIES = ("easy", "medium", "hard", "expert")


class ObjectiveRow(NamedTuple):
    record: TrialRecord
    objective: ObjectiveResult


class FactRow(NamedTuple):
    record: TrialRecord
    fact: GateFact


class TurnRow(NamedTuple):
    record: TrialRecord
    number: int
    turn: Turn


TRIALS: tuple[Column[TrialRecord], ...] = (
    Column("trial_id", "string", "Hash of everything the trial was planned with.", lambda r: r.trial_id),
    Column("attempt_id", "string", "Names the attempt the trial belongs to.", lambda r: attempt_id(r.trial)),
    Column("task", "string", "pack@bundle/scenario: the cluster of the statistics.", lambda r: task_of(r.trial)),
    Column("agent", "string", "The agent's name with its configuration.", lambda r: r.trial.agent.label),
    Column("trusted", "boolean", "The agent ran inside our process.", lambda r: r.trial.agent.trusted),
    Column("training", "boolean", "The agent is declared as one in training.", lambda r: r.trial.agent.training),
    Column("backend", "string", "What the world was made of.", lambda r: r.trial.backend),
    Column("pack", "string", "Name of the pack.", lambda r: r.trial.pack),
    Column("pack_version", "string", "Version of the pack.", lambda r: r.trial.pack_version),
    Column("bundle_digest", "string", "sha256 of the bundle's content.", lambda r: r.trial.bundle_digest),
    Column("proven", "boolean", "The bundle carried a proof that held.", lambda r: r.trial.proven),
    Column("scenario", "string", "Name of the scenario.", lambda r: r.trial.scenario),
    Column("difficulty", "string", "easy, medium, hard or expert.", lambda r: r.trial.difficulty),
    Column("kind", "string", "repair or investigation.", lambda r: r.trial.kind),
    Column("split", "string", "train or heldout.", lambda r: r.trial.split),
    Column("world", "string", "Name of the world.", lambda r: r.trial.world),
    Column("role", "string", "primary, twin or control.", lambda r: r.trial.role),
    Column("seed", "Int64", "Seed of the attempt.", lambda r: r.trial.seed),
    Column("attempt", "Int64", "Number of the attempt.", lambda r: r.trial.attempt),
    Column("retries", "Int64", "How often the trial was tried again.", lambda r: r.ordinal),
    Column("outcome", "string", "Passed, Failed, Errored (ours) or Unsupported.", lambda r: r.outcome),
    Column("score", "Float64", "Points; none in a control world.", lambda r: r.score),
    Column("full_score", "Float64", "Points the scenario has to give.", lambda r: r.trial.full_score),
    Column("commands", "Int64", "Commands the agent ran.", lambda r: r.commands),
    Column("seconds", "Float64", "Time in the world, on its own clock.", lambda r: r.seconds),
    Column("turns", "Int64", "Actions of the agent, of any kind.", lambda r: len(r.turns)),
    Column("objectives_met", "Int64", "Objectives met at the end.", lambda r: sum(o.met for o in r.objectives)),
    Column("objectives", "Int64", "Objectives there were.", lambda r: len(r.objectives)),
    Column("harms", "Int64", "Invariants and other things broken.", lambda r: len(r.harms)),
    Column("cascades", "Int64", "Cascades that fired.", lambda r: len(r.cascades_fired)),
    Column(
        "infrastructure_error", "string", "Why it is Errored or Unsupported: our side, never the agent's.",
        lambda r: r.error if r.outcome in ("Errored", "Unsupported") else None,
    ),
    Column(
        "agent_error", "string", "The agent's own failure that ended its episode.",
        lambda r: r.error if r.outcome in ("Passed", "Failed") else None,
    ),
    Column("mode", "string", "live or replay.", lambda r: r.mode),
    Column("tokens_in", "Int64", "Tokens the model read.", lambda r: r.tokens_in),
    Column("tokens_out", "Int64", "Tokens the model wrote.", lambda r: r.tokens_out),
    Column("cost", "Float64", "Money paid for the model.", lambda r: r.cost),
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
    Column("cost", "Float64", "Money paid, over all worlds.", lambda a: a.cost),
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


class _Kept(NamedTuple):
    """A record without its transcript, and the turn rows made from that: transcripts are not held in memory."""

    record: TrialRecord
    turns: tuple[tuple[Cell, ...], ...]
    turn_count: int
    digest: bytes


def load(*runs: Path | str) -> Frames:
    """The frames of these run folders taken together. A trial found twice counts once: its last retry, as read last.

    Raises runners.records_io.RecordsError when a folder is no run folder or a record cannot be read.
    """
    kept: dict[str, _Kept] = {}
    read = 0
    for run in runs:
        for record, line in read_committed(Path(run)):
            read += 1
            known = kept.get(record.trial_id)
            if known is None or record.ordinal >= known.record.ordinal:
                kept[record.trial_id] = _keep(record, line)
    ordered = sorted(kept.values(), key=_place)
    attempts: dict[AttemptKey, list[TrialRecord]] = {}
    for item in ordered:
        attempts.setdefault(key_of(item.record.trial), []).append(item.record)
    turns_at = [column.name for column in TRIALS].index("turns")
    trials = (
        (*row[:turns_at], item.turn_count, *row[turns_at + 1 :])
        for item in ordered
        for row in (cells(TRIALS, item.record),)
    )
    limits = {
        f"{t.max_commands} commands, {t.max_seconds:g} s, {t.output_bytes} bytes of output a command"
        for t in (item.record.trial for item in ordered)
    }
    return Frames(
        trials=frame(TRIALS, trials),
        attempts=frame(ATTEMPTS, (cells(ATTEMPTS, summarise(records)) for records in attempts.values())),
        objectives=frame(
            OBJECTIVES,
            (cells(OBJECTIVES, ObjectiveRow(i.record, result)) for i in ordered for result in i.record.objectives),
        ),
        facts=frame(FACTS, (cells(FACTS, FactRow(i.record, fact)) for i in ordered for fact in i.record.facts)),
        turns=frame(TURNS, (row for item in ordered for row in item.turns)),
        records_digest=hashlib.sha256(b"".join(sorted(item.digest for item in ordered))).hexdigest(),
        superseded=read - len(kept),
        limits=tuple(sorted(limits)),
    )


def _keep(record: TrialRecord, line: bytes) -> _Kept:
    turns = tuple(cells(TURNS, TurnRow(record, index, turn)) for index, turn in enumerate(record.turns, start=1))
    return _Kept(replace(record, turns=()), turns, len(turns), hashlib.sha256(line).digest())


def _place(item: _Kept) -> tuple[object, ...]:
    """Sorting key of a trial: pack, scenario from easy to expert, agent, attempt, world in document order."""
    trial = item.record.trial
    difficulty = DIFFICULTIES.index(trial.difficulty)
    worlds = [name for name, _ in trial.required_worlds]
    world = worlds.index(trial.world) if trial.world in worlds else len(worlds)
    return (
        *(trial.pack, trial.bundle_digest, trial.backend, difficulty, trial.scenario, trial.agent.label),
        *(trial.seed, trial.attempt, world, trial.world, item.record.trial_id),
    )
