"""Training data: who is in it, how pairs and groups are made, and that nothing held out slips in."""

from __future__ import annotations

import statistics
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reports.reading import read
from reports.training import Conversation, Selection, advantages, rows, select
from runners.records import TrialRecord
from tests.reports.synthetic_records import SCENARIOS, write_run
from tests.reports.test_report_tables import A, B, attempt

HARD = SCENARIOS[1]


def speak(record: TrialRecord) -> Conversation:
    """As short as it gets; the prompt is the world's alone."""
    return Conversation(
        prompt=({"role": "user", "content": f"{record.trial.scenario}/{record.trial.world}"},),
        completion=tuple({"role": "assistant", "content": turn.text} for turn in record.turns),
        rewards=tuple(turn.reward for turn in record.turns),
    )


def selected(folder: Path, attempts: list[list[TrialRecord]], *, heldout: bool = False) -> Selection:
    return select(read(write_run(folder, [each for records in attempts for each in records])), heldout=heldout)


def held_out(records: list[TrialRecord]) -> list[TrialRecord]:
    return [replace(each, trial=replace(each.trial, split="heldout")) for each in records]


def earned(records: list[TrialRecord], reward: float) -> list[TrialRecord]:
    return [replace(each, turns=(replace(each.turns[0], reward=reward), *each.turns[1:])) for each in records]


def test_only_verified_attempts_are_learned_from(tmp_path: Path) -> None:
    chosen = selected(
        tmp_path, [attempt(A, HARD, 0), attempt(A, HARD, 1, twin="fail"), attempt(B, HARD, 0, control="harm")]
    )
    found = list(rows("sft", chosen, speak))
    assert [(row["agent"], row["attempt"], row["role"]) for row in found] == [
        ("a", 0, "primary"), ("a", 0, "twin"), ("a", 0, "control"),
    ]  # fmt: skip
    first = found[0]
    assert [message["role"] for message in first["messages"]] == ["user"] + ["assistant"] * 5
    assert (first["verdict"], first["split"], len(first["rewards"])) == ("VERIFIED", "train", 5)


@pytest.mark.parametrize("kind", ["sft", "preferences", "grpo"])
def test_held_out_scenarios_are_never_exported_unless_forced(tmp_path: Path, kind: str) -> None:
    attempts = [held_out(attempt(A, HARD, 0)), held_out(attempt(B, HARD, 0, twin="fail"))]
    chosen = selected(tmp_path / "kept", attempts)
    assert (chosen.heldout, list(rows(kind, chosen, speak))) == (6, [])  # type: ignore[arg-type]
    forced = selected(tmp_path / "forced", attempts, heldout=True)
    assert forced.heldout == 0
    assert list(rows(kind, forced, speak))  # type: ignore[arg-type]


def test_what_nobody_decided_teaches_nothing(tmp_path: Path) -> None:
    chosen = selected(tmp_path, [attempt(A, HARD, 0, errored=True), attempt(A, HARD, 1)[:2]])
    assert (chosen.examples, chosen.undecided) == ((), 5)


def test_each_worse_episode_is_paired_with_the_best_for_the_same_prompt(tmp_path: Path) -> None:
    chosen = selected(
        tmp_path,
        [
            attempt(A, HARD, 0),
            attempt(A, HARD, 1),
            attempt(B, HARD, 1, twin="fail"),
            attempt(B, HARD, 2, met=(False, True, True)),
            attempt(B, SCENARIOS[0], 0, twin="fail"),
        ],
    )
    found = list(rows("preferences", chosen, speak))
    primary = [row for row in found if row["rejected_role"] == "primary"]
    assert [(row["chosen_agent"], row["chosen_attempt"], row["rejected_attempt"]) for row in primary] == [
        ("a", 1, 1),
        ("a", 0, 2),
    ]
    assert {row["chosen_verdict"] for row in found} == {"VERIFIED"}
    assert {row["rejected_scenario"] for row in found} == {HARD.name}
    assert set(primary[0]) >= {"prompt", "chosen", "rejected"}


def test_groups_are_the_attempts_of_one_agent_at_one_world_with_one_seed(tmp_path: Path) -> None:
    chosen = selected(
        tmp_path,
        [
            *(earned(attempt(A, HARD, number), reward) for number, reward in enumerate((0.2, 0.4, 0.9))),
            earned(attempt(B, HARD, 0), 0.5),
            earned(attempt(A, HARD, 0, seed=2), 0.7),
        ],
    )
    found = [row for row in rows("grpo", chosen, speak) if row["role"] == "primary"]
    groups: dict[str, list[dict[str, object]]] = {}
    for row in found:
        groups.setdefault(row["group"], []).append(row)
    assert sorted(len(group) for group in groups.values()) == [1, 1, 3]
    (three,) = [group for group in groups.values() if len(group) == 3]
    assert [row["reward"] for row in three] == [0.2, 0.4, 0.9]
    assert [row["advantage"] for row in three] == pytest.approx(list(stats.zscore([0.2, 0.4, 0.9], ddof=1)))
    assert [row["advantage"] for group in groups.values() if len(group) == 1 for row in group] == [0.0, 0.0]
    assert [row["group_size"] for row in three] == [3, 3, 3]


@given(st.lists(st.floats(-5, 5).map(lambda reward: round(reward, 6)), max_size=12))
def test_advantages_are_standardised_or_zero(rewards: list[float]) -> None:
    found = advantages(rewards)
    assert len(found) == len(rewards)
    if len(rewards) < 2 or statistics.stdev(rewards) < 1e-9:
        assert set(found) <= {0.0}
    else:
        assert statistics.fmean(found) == pytest.approx(0, abs=1e-6)
        assert statistics.stdev(found) == pytest.approx(1, abs=1e-6)


def test_the_same_records_give_the_same_rows(tmp_path: Path) -> None:
    attempts = [attempt(agent, HARD, n, twin="fail" if n else "pass") for n in range(3) for agent in (A, B)]
    forth, back = selected(tmp_path / "forth", attempts), selected(tmp_path / "back", attempts[::-1])
    assert list(rows("grpo", forth, speak)) == list(rows("grpo", back, speak))
