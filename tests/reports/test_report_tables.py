"""The figures in the tables, each from a handful of attempts whose answers can be counted on one's fingers."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import reports
from reports.export import as_csv, as_json
from reports.statistics import Estimate, wilson
from reports.table import Table
from reports.tables import Tables, named, tabulate
from runners.records import AgentIdentity, Standing, TrialRecord
from tests.reports.synthetic_records import SCENARIOS, Scenario, record, run_records, write_run

A, B = AgentIdentity(name="a"), AgentIdentity(name="b")
EASY, HARD, EXPERT = SCENARIOS


def attempt(
    agent: AgentIdentity,
    scenario: Scenario,
    number: int,
    *,
    met: Sequence[bool] | None = None,
    twin: Standing = "pass",
    control: Standing = "pass",
    errored: bool = False,
    commands: int = 4,
    **more: object,
) -> list[TrialRecord]:
    """All worlds of one attempt. `errored`: the primary is."""
    recovered: Standing = "pass" if met is None or all(met) else "fail"
    facts = [
        ("primary", "primary", recovered, "met" if recovered == "pass" else "not met"),
        ("repeat", "primary", "pass", "same"),
        ("reversibility", "primary", "pass", "restored"),
    ]
    (_, _), (twin_world, _), (control_world, _) = scenario.worlds
    shared = {"agent": agent, "scenario": scenario, "attempt": number, "commands": commands} | more
    primary = {"outcome": "Errored", "error": "503"} if errored else {"met": met, "facts": facts}
    return [
        record(**shared, **primary),
        record(**shared, world=twin_world, facts=[("twin", twin_world, twin, f"twin says {twin}")]),
        record(**shared, world=control_world, facts=[("control", control_world, control, f"control says {control}")]),
    ]


def tables_of(folder: Path, *attempts: list[TrialRecord]) -> Tables:
    return tabulate(named(reports.load(write_run(folder, [each for records in attempts for each in records]))))


def row(table: Table, **wanted: object) -> dict[str, object]:
    names = [heading.name for heading in table.headings]
    rows = [dict(zip(names, cells, strict=True)) for cells in table.rows]
    (found,) = [each for each in rows if wanted.items() <= each.items()]
    return found


def test_leaderboard_figures(tmp_path: Path) -> None:
    board = tables_of(
        tmp_path,
        attempt(A, HARD, 0),
        attempt(A, HARD, 1, twin="fail"),
        attempt(A, HARD, 2, control="harm", commands=10),
        attempt(A, EASY, 0, met=(True, False), twin="fail"),
    ).leaderboard
    found = row(board, agent="a")
    assert found["verified"] == Estimate(value=0.25, low=wilson(1, 4)[0], high=wilson(1, 4)[1], n=4, successes=1)
    assert found["recovered"] == Estimate(value=0.75, low=wilson(3, 4)[0], high=wilson(3, 4)[1], n=4, successes=3)
    assert found["harm"] == Estimate(value=0.25, low=wilson(1, 4)[0], high=wilson(1, 4)[1], n=4, successes=1)
    unharmed = found["control_unharmed"]
    assert isinstance(unharmed, Estimate)
    assert (unharmed.value, unharmed.n) == (0.75, 4)
    score = found["score"]
    assert isinstance(score, Estimate)
    # Full marks at one scenario (0.99 points) and 0.6 of 0.98 at the other: each weighs what it is worth.
    assert score.value == pytest.approx((0.99 + 0.6) / (0.99 + 0.98))
    assert (score.low, score.high) == (pytest.approx(0.6 / 0.98), 1.0)
    gap = found["transfer_gap"]
    assert isinstance(gap, Estimate)
    # Per scenario 2 of 3 and 0 of 1; scenarios weigh the same.
    assert gap.value == pytest.approx(1 / 3)
    assert found["graded"] == pytest.approx(score.value)
    assert {key: found[key] for key in ("rank", "commands", "commands_to_repair", "attempts", "errored")} == {
        "rank": 1, "commands": 4.0, "commands_to_repair": 3.0, "attempts": 4, "errored": 0,
    }  # fmt: skip
    assert (found["mode"], found["proven"], found["unsupported"], found["cost_per_verified"]) == (
        "live",
        "proven",
        0,
        None,
    )


def test_errored_attempts_are_shown_and_never_leave_a_denominator(tmp_path: Path) -> None:
    board = tables_of(tmp_path, attempt(A, HARD, 0), attempt(A, HARD, 1, errored=True), attempt(A, EASY, 0)).leaderboard
    found = row(board, agent="a")
    assert (found["attempts"], found["errored"]) == (3, 1)
    for name in ("verified", "recovered"):
        assert found[name] == Estimate(
            value=2 / 3, low=wilson(2, 3)[0], high=1.0, n=3, successes=2, missing=1
        )  # had it succeeded, all would have
    score = found["score"]
    assert isinstance(score, Estimate)
    assert score.value == pytest.approx((0.99 / 2 + 0.98) / (0.99 + 0.98))
    assert (score.high, score.missing) == (1.0, 1)
    harm = found["harm"]
    assert isinstance(harm, Estimate)
    assert (harm.value, harm.high, harm.missing) == (0.0, wilson(1, 3)[1], 1)


def test_the_transfer_gap_may_close_or_widen_by_what_is_missing(tmp_path: Path) -> None:
    undecided = attempt(A, HARD, 1)[:2]  # recovered, but its control was never recorded
    gap = row(tables_of(tmp_path, attempt(A, EASY, 0), undecided).leaderboard, agent="a")["transfer_gap"]
    assert isinstance(gap, Estimate)
    assert (gap.value, gap.low, gap.high, gap.missing) == (0.5, 0.0, 1.0, 1)


def test_agents_are_ranked_by_verified_then_score_then_harm_then_name(tmp_path: Path) -> None:
    names = {name: AgentIdentity(name=name) for name in ("verified", "partial", "harmless", "harmful", "also-harmless")}
    tables = tables_of(
        tmp_path,
        attempt(names["harmful"], HARD, 0, met=(False,) * 3, control="harm"),
        attempt(names["harmless"], HARD, 0, met=(False,) * 3),
        attempt(names["also-harmless"], HARD, 0, met=(False,) * 3),
        attempt(names["partial"], HARD, 0, met=(True, False, False)),
        attempt(names["verified"], HARD, 0),
    )
    assert tables.agents == ("verified", "partial", "also-harmless", "harmless", "harmful")
    assert tables.leaderboard.column("rank") == (1, 2, 3, 4, 5)


def test_unsupported_attempts_are_counted_apart(tmp_path: Path) -> None:
    cannot = [replace(each, outcome="Unsupported", score=None, facts=()) for each in attempt(A, EXPERT, 0)]
    found = row(tables_of(tmp_path, attempt(A, HARD, 0), cannot).leaderboard, agent="a")
    assert (found["attempts"], found["unsupported"]) == (1, 1)
    assert isinstance(found["verified"], Estimate)
    assert found["verified"].value == 1.0


def test_scenario_rows(tmp_path: Path) -> None:
    table = tables_of(tmp_path, attempt(B, HARD, 0), attempt(A, EASY, 0), attempt(A, HARD, 0, twin="fail")).scenario
    assert list(zip(table.column("scenario"), table.column("agent"), strict=True)) == [
        ("log-analysis", "a"), ("process-recovery", "b"), ("process-recovery", "a"),
    ]  # fmt: skip
    found = row(table, scenario="process-recovery", agent="a")
    assert (found["difficulty"], found["attempts"]) == ("hard", 1)
    assert isinstance(found["score"], Estimate)
    assert (found["score"].value, found["score"].low) == (1.0, None)


def test_objective_rows_have_the_attempts_as_their_denominator(tmp_path: Path) -> None:
    table = tables_of(
        tmp_path,
        attempt(A, HARD, 0),
        attempt(A, HARD, 1, met=(True, False, True)),
        attempt(A, HARD, 2, errored=True),
    ).objectives
    assert table.column("objective") == ("noticed", "restarted", "port verified")
    assert table.column("points") == (0.2, 0.4, 0.39)
    found = row(table, objective="restarted")
    assert found["met"] == Estimate(value=1 / 3, low=wilson(1, 3)[0], high=wilson(2, 3)[1], n=3, successes=1, missing=1)
    assert (found["met_at_command"], found["attempts"]) == (2.0, 3)


def test_consistency_goes_as_far_as_the_fewest_attempts(tmp_path: Path) -> None:
    attempts = [attempt(A, HARD, n, twin="pass" if n < 2 else "fail") for n in range(4)]
    table = tables_of(tmp_path, *attempts, attempt(A, EASY, 0), attempt(A, EASY, 1)).consistency
    assert table.column("k") == (1, 2)
    two = row(table, k=2)
    assert isinstance(two["pass_at_k"], Estimate)
    assert isinstance(two["pass_hat_k"], Estimate)
    assert two["pass_at_k"].value == pytest.approx((5 / 6 + 1) / 2)
    assert two["pass_hat_k"].value == pytest.approx((1 / 6 + 1) / 2)


def test_gate_rows_say_how_often_and_in_which_words(tmp_path: Path) -> None:
    odd = attempt(A, HARD, 2, twin="fail")
    odd[1] = replace(odd[1], facts=(replace(odd[1].facts[0], reason="another sentence"),))
    table = tables_of(tmp_path, attempt(A, HARD, 0, twin="fail"), attempt(A, HARD, 1, twin="fail"), odd).gate
    assert len(table.rows) == 1
    found = row(table, check="twin")
    assert (found["count"], found["of"], found["reason"], found["reasons"]) == (3, 3, "twin says fail", 2)
    assert (found["finding"], found["means"], found["world"]) == ("fail", "policy", "worker database")


def test_names_are_told_apart_only_where_they_must_be(tmp_path: Path) -> None:
    tables = tables_of(
        tmp_path,
        attempt(A, HARD, 0),
        attempt(A, HARD, 0, backend="docker"),
        attempt(A, EASY, 0, pack="other"),
        attempt(A, EASY, 0, pack="third", digest="3" * 64),
        attempt(A, EXPERT, 0),
        attempt(A, EXPERT, 0, digest="4" * 64),
    )
    assert set(tables.agents) == {"a on docker", "a on sim"}
    assert set(tables.scenarios) == {
        "process-recovery",
        "other/log-analysis",
        "third/log-analysis",
        f"starter@{'4' * 12}/cascading-database-failure",
        f"starter@{attempt(A, EXPERT, 0)[0].trial.bundle_digest[:12]}/cascading-database-failure",
    }


def test_unproven_and_replayed_runs_are_marked(tmp_path: Path) -> None:
    replayed = [replace(each, mode="replay") for each in attempt(A, HARD, 0, proven=False)]
    found = row(tables_of(tmp_path, replayed, attempt(A, EASY, 0)).leaderboard, agent="a")
    assert (found["proven"], found["mode"]) == ("unproven", "mixed")


DEGENERATE = {
    "no records": [],
    "one attempt": attempt(A, HARD, 0),
    "one world of one attempt": attempt(A, HARD, 0)[2:],
    "all equal": [each for n in range(6) for s in SCENARIOS for each in attempt(A, s, n)],
    "all failed": [
        each
        for n in range(3)
        for s in SCENARIOS
        for each in attempt(A, s, n, met=(False,) * len(s.objectives), twin="fail")
    ],
    "all errored": [
        replace(each, outcome="Errored", score=None, facts=(), objectives=(), error="x", turns=(), commands=0)
        for n in range(3)
        for each in attempt(A, HARD, n)
    ],
    "all unsupported": [replace(each, outcome="Unsupported", score=None, facts=()) for each in attempt(A, HARD, 0)],
    "worth nothing": [
        replace(each, trial=replace(each.trial, full_score=0.0), score=0.0 if each.score is not None else None)
        for each in attempt(A, HARD, 0)
    ],
}


@pytest.mark.parametrize("case", DEGENERATE)
def test_no_table_ever_holds_a_figure_that_is_none(tmp_path: Path, case: str) -> None:
    for table in tables_of(tmp_path, DEGENERATE[case]).all():
        for cells in table.rows:
            assert len(cells) == len(table.headings)
            for cell in cells:
                parts = (cell.value, cell.low, cell.high) if isinstance(cell, Estimate) else (cell,)
                assert all(math.isfinite(part) for part in parts if isinstance(part, float))
        assert not {"nan", "inf", "-inf", "<NA>"} & set(as_csv(table).replace("\n", ",").split(","))
        json.loads(as_json(table), parse_constant=lambda constant: pytest.fail(f"{constant} in JSON"))


def test_csv_and_json_hold_the_same_rows(tmp_path: Path) -> None:
    table = tabulate(named(reports.load(write_run(tmp_path, run_records(attempts=3))))).leaderboard
    lines = list(csv.DictReader(io.StringIO(as_csv(table))))
    objects = json.loads(as_json(table))["rows"]
    assert [line["agent"] for line in lines] == [each["agent"] for each in objects] == list(table.column("agent"))
    for line, each in zip(lines, objects, strict=True):
        assert float(line["verified"]) == each["verified"]["value"]
        assert float(line["verified_high"]) == each["verified"]["high"]
        assert int(line["verified_n"]) == each["verified"]["n"] == 9
        assert (line["commands_to_repair"] or None) == (
            None if each["commands_to_repair"] is None else str(each["commands_to_repair"])
        )
