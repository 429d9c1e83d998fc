"""The value in every column of every frame, from records that were written down by hand."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import reports
from reports import frames as definitions
from reports.attempts import attempt_id, task_of
from runners.records import AgentIdentity, TrialRecord
from tests.reports.synthetic_records import PLAYERS, SCENARIOS, record, run_records, write_run

AGENT = AgentIdentity(name="llm", configuration="m", trusted=False, training=True)
SCENARIO = SCENARIOS[1]
TWIN = "worker database"
PASSING = (
    ("primary", "primary", "pass", "met"),
    ("repeat", "primary", "pass", "same"),
    ("reversibility", "primary", "pass", "restored"),
)


def one_attempt(**changes: object) -> list[TrialRecord]:
    """A verified attempt over its three worlds; `changes` go to the primary."""
    primary = {"facts": PASSING, "commands": 4} | changes
    return [
        record(agent=AGENT, scenario=SCENARIO, **primary),
        record(
            agent=AGENT, scenario=SCENARIO, world="worker database", facts=[("twin", "worker database", "pass", "met")]
        ),
        record(agent=AGENT, scenario=SCENARIO, world="decoy", facts=[("control", "decoy", "pass", "calm")]),
    ]


def loaded(folder: Path, records: list[TrialRecord]) -> reports.Frames:
    return reports.load(write_run(folder, records))


def only_row(frame: pd.DataFrame) -> dict[str, object]:
    assert len(frame) == 1
    return {name: None if pd.isna(value) else value for name, value in frame.iloc[0].to_dict().items()}


def test_trials(tmp_path: Path) -> None:
    made = replace(
        record(agent=AGENT, scenario=SCENARIO, met=(True, True, False), outcome="Failed", commands=4, harms=("a",)),
        tokens_in=100, tokens_out=20, cost=0.5, ordinal=2, cascades_fired=("flood", "crash"),
    )  # fmt: skip
    row = only_row(loaded(tmp_path, [made]).trials)
    assert row == {
        "trial_id": made.trial_id, "attempt_id": attempt_id(made.trial), "task": task_of(made.trial), "agent": "llm:m",
        "trusted": False, "training": True, "backend": "sim", "pack": "starter", "pack_version": "1.0.0",
        "bundle_digest": made.trial.bundle_digest, "proven": True, "scenario": "process-recovery", "difficulty": "hard",
        "kind": "repair", "split": "train", "world": "primary", "role": "primary", "seed": 1, "attempt": 0,
        "retries": 2, "outcome": "Failed", "score": pytest.approx(0.6), "full_score": 0.99, "reward": 0.0,
        "commands": 4, "seconds": 5.0, "turns": 5, "objectives_met": 2, "objectives": 3, "harms": 1, "cascades": 2,
        "infrastructure_error": None, "agent_error": None, "mode": "live", "tokens_in": 100, "tokens_out": 20,
        "cost": 0.5, "requests": 0, "resent": 0, "malformed": 0, "model": None, "error_kind": None,
    }  # fmt: skip
    assert task_of(made.trial) == f"starter@{made.trial.bundle_digest[:12]}/process-recovery"


@pytest.mark.parametrize(
    ("outcome", "ours", "the_agents"),
    [
        ("Errored", "why", None),
        ("Unsupported", "why", None),
        ("Failed", None, "why"),
    ],
)
def test_an_error_is_ours_or_the_agents(tmp_path: Path, outcome: str, ours: str | None, the_agents: str | None) -> None:
    made = record(agent=AGENT, scenario=SCENARIO, outcome=outcome, error="why")
    row = only_row(loaded(tmp_path, [made]).trials)
    assert (row["infrastructure_error"], row["agent_error"]) == (ours, the_agents)


def test_a_verified_attempt(tmp_path: Path) -> None:
    made = [replace(each, tokens_in=5, tokens_out=2, cost=0.25) for each in one_attempt()]
    row = only_row(loaded(tmp_path, made).attempts)
    assert row == {
        "attempt_id": attempt_id(made[0].trial), "task": task_of(made[0].trial), "agent": "llm:m", "backend": "sim",
        "pack": "starter", "proven": True, "scenario": "process-recovery", "difficulty": "hard", "kind": "repair",
        "split": "train", "seed": 1, "attempt": 0, "verdict": "VERIFIED", "errored": False, "unsupported": False,
        "score": pytest.approx(0.99), "full_score": 0.99, "verified": True, "verified_open": False, "recovered": True,
        "recovered_open": False, "harmful": False, "harmful_open": False, "controls": 1, "control_unharmed": True,
        "control_open": False, "commands": 4, "seconds": 5.0, "commands_to_repair": 3, "seconds_to_repair": 4.5,
        "worlds": 3, "worlds_recorded": 3, "retries": 0, "mode": "live", "tokens_in": 15, "tokens_out": 6, "cost": 0.75,
    }  # fmt: skip


def test_an_attempt_that_recovered_and_harmed(tmp_path: Path) -> None:
    made = one_attempt()
    made[2] = record(agent=AGENT, scenario=SCENARIO, world="decoy", facts=[("control", "decoy", "harm", "restarted")])
    row = only_row(loaded(tmp_path, made).attempts)
    assert (row["verdict"], row["recovered"], row["harmful"], row["verified"]) == ("HARMFUL", True, True, False)
    assert (row["control_unharmed"], row["control_open"], row["harmful_open"]) == (False, False, False)


def test_harms_of_a_control_world_count_though_no_fact_names_them(tmp_path: Path) -> None:
    made = one_attempt()
    made[2] = replace(made[2], harms=("a request was dropped",))
    row = only_row(loaded(tmp_path, made).attempts)
    assert (row["verdict"], row["control_unharmed"]) == ("HARMFUL", False)


def test_an_errored_primary_leaves_everything_open(tmp_path: Path) -> None:
    made = one_attempt(outcome="Errored", facts=(), error="503")
    row = only_row(loaded(tmp_path, made).attempts)
    assert (row["verdict"], row["errored"], row["score"]) == ("UNKNOWN", True, None)
    assert (row["verified_open"], row["recovered_open"], row["harmful_open"]) == (True, True, True)
    assert (row["control_unharmed"], row["commands_to_repair"]) == (True, None)


def test_a_world_without_a_record_is_unknown_never_green(tmp_path: Path) -> None:
    row = only_row(loaded(tmp_path, one_attempt()[:2]).attempts)
    assert (row["verdict"], row["worlds"], row["worlds_recorded"]) == ("UNKNOWN", 3, 2)
    assert (row["control_unharmed"], row["control_open"], row["errored"]) == (False, True, False)


def test_an_attempt_without_its_primary(tmp_path: Path) -> None:
    row = only_row(loaded(tmp_path, one_attempt()[1:]).attempts)
    assert (row["verdict"], row["score"], row["commands"], row["recovered_open"]) == ("UNKNOWN", None, None, True)


def test_live_and_replayed_worlds_are_mixed(tmp_path: Path) -> None:
    made = one_attempt()
    made[1] = replace(made[1], mode="replay")
    assert only_row(loaded(tmp_path, made).attempts)["mode"] == "mixed"


def test_objectives_and_facts_and_turns(tmp_path: Path) -> None:
    made = record(
        agent=AGENT, scenario=SCENARIO, met=(True, False, True), outcome="Failed", commands=2, facts=PASSING[:1]
    )
    frames = loaded(tmp_path, [made])
    base = {"trial_id": made.trial_id, "attempt_id": attempt_id(made.trial), "task": task_of(made.trial)}
    base |= {"agent": "llm:m", "backend": "sim", "scenario": "process-recovery"}
    assert only_row(frames.objectives.iloc[[0]]) == base | {
        "world": "primary", "role": "primary", "outcome": "Failed", "objective": "noticed", "points": 0.2,
        "armed": True, "met": True, "met_at_command": 1, "met_at_seconds": 1.5,
    }  # fmt: skip
    assert only_row(frames.objectives.iloc[[1]])["met_at_command"] is None
    assert only_row(frames.facts) == base | {
        "check": "primary", "world": "primary", "means": "policy", "finding": "pass", "reason": "met",
    }  # fmt: skip
    assert len(frames.turns) == 3
    assert only_row(frames.turns.iloc[[1]]) == {
        "trial_id": made.trial_id, "turn": 2, "kind": "run", "text": "systemctl status unit1", "output_characters": 75,
        "exit_code": 3, "at": 1.0, "seconds": 0.02, "reward": 0.0, "truncated": False, "timed_out": False,
        "refused": "", "cascades": 0,
    }  # fmt: skip


def test_only_the_last_retry_counts(tmp_path: Path) -> None:
    first, second = (
        record(agent=AGENT, scenario=SCENARIO, outcome="Errored", error="503"),
        record(agent=AGENT, scenario=SCENARIO, ordinal=1),
    )
    for order in ([first, second], [second, first], [first, second, second]):
        frames = loaded(tmp_path, order)
        row = only_row(frames.trials)
        assert (row["outcome"], row["retries"]) == ("Passed", 1)
        assert frames.superseded == len(order) - 1


def test_rows_do_not_depend_on_the_order_of_records_or_folders(tmp_path: Path) -> None:
    records = run_records(players=PLAYERS[:2] + PLAYERS[4:], attempts=2)
    once = loaded(tmp_path / "once", records)
    random.Random(5).shuffle(records)
    again = reports.load(write_run(tmp_path / "a", records[:9]), write_run(tmp_path / "b", records[9:]))
    for name in ("trials", "attempts", "objectives", "facts", "turns"):
        pd.testing.assert_frame_equal(getattr(once, name), getattr(again, name))
    assert once.records_digest == again.records_digest
    assert list(once.attempts["difficulty"].unique()) == ["easy", "hard", "expert"]


def test_a_run_without_records_has_all_its_columns(tmp_path: Path) -> None:
    frames = loaded(tmp_path, [])
    for frame, columns in (
        (frames.trials, definitions.TRIALS),
        (frames.attempts, definitions.ATTEMPTS),
        (frames.objectives, definitions.OBJECTIVES),
        (frames.facts, definitions.FACTS),
        (frames.turns, definitions.TURNS),
    ):
        assert len(frame) == 0
        assert [(column.name, column.dtype) for column in columns] == [
            (name, str(dtype)) for name, dtype in frame.dtypes.items()
        ]
        assert all(column.doc.endswith(".") for column in columns)
