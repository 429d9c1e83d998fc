"""Two agents on the same attempts: who is told apart, what undecided attempts do, and what degenerate runs give."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy import stats

import reports
from reports.pairing import Comparison, compare, line_up, rate
from reports.tables import Tables, named, tabulate
from reports.versus import power_notes
from runners.records import AgentIdentity, TrialRecord
from tests.reports.synthetic_records import SCENARIOS, many_scenarios, write_run
from tests.reports.test_report_tables import A, B, attempt

C = AgentIdentity(name="c")


def compared(folder: Path, attempts: list[list[TrialRecord]]) -> tuple[Comparison, ...]:
    frames = named(reports.load(write_run(folder, [each for records in attempts for each in records])))
    agents = tabulate(frames).agents
    return compare(line_up(frames.attempts, agents), agents)


def tables(folder: Path, attempts: list[list[TrialRecord]]) -> Tables:
    return tabulate(named(reports.load(write_run(folder, [each for records in attempts for each in records]))))


def test_only_attempts_that_both_made_are_compared(tmp_path: Path) -> None:
    (pair,) = compared(
        tmp_path,
        [
            *(attempt(A, scenario, number) for scenario in SCENARIOS for number in range(6)),
            *(attempt(B, scenario, number, twin="fail") for scenario in SCENARIOS for number in range(4)),
        ],
    )
    assert (pair.first, pair.second, pair.pairs, pair.wins, pair.losses) == ("a", "b", 12, 12, 0)
    assert pair.difference.value == 1.0
    assert pair.p_here == pytest.approx(stats.binomtest(12, 12).pvalue)
    # Three scenarios can fall one way by chance in one of four cases: nothing can be said of scenarios at large.
    assert (pair.p_beyond, pair.call) == (0.25, "here")


def test_enough_scenarios_tell_agents_apart_beyond_them(tmp_path: Path) -> None:
    attempts = [attempt(agent, scenario, 0, twin="pass" if agent == A else "fail")
                for scenario in many_scenarios(8) for agent in (A, B)]  # fmt: skip
    (pair,) = compared(tmp_path, attempts)
    assert (pair.p_beyond, pair.call, pair.more) == (2 / 2**8, "beyond", None)


def test_many_comparisons_cost_significance(tmp_path: Path) -> None:
    """Six pairs one way are p = 0.03 for two agents alone, and nothing any more among three comparisons."""
    two = [attempt(agent, SCENARIOS[0], n, twin="pass" if agent == A else "fail") for n in range(6) for agent in (A, B)]
    assert [pair.call for pair in compared(tmp_path / "two", two)] == ["here"]
    three = two + [attempt(C, SCENARIOS[0], n, twin="fail") for n in range(6)]
    assert [pair.call for pair in compared(tmp_path / "three", three)] == ["apart-not"] * 3


def test_undecided_attempts_count_against_the_difference(tmp_path: Path) -> None:
    decided = [
        attempt(agent, SCENARIOS[0], n, twin="pass" if agent == A else "fail") for n in range(7) for agent in (A, B)
    ]
    owed = [attempt(A, SCENARIOS[0], n, errored=True) for n in range(7, 11)]
    owed += [attempt(B, SCENARIOS[0], n) for n in range(7, 11)]
    (alone,) = compared(tmp_path / "alone", decided)
    (pair,) = compared(tmp_path / "owed", decided + owed)
    assert (alone.call, pair.call) == ("here", "apart-not")
    assert (pair.undecided, pair.pairs, pair.difference.missing) == (4, 11, 4)
    assert pair.difference.value == pytest.approx(7 / 11)
    assert (pair.difference.low, pair.difference.high) == (pytest.approx(3 / 11), 1.0)


def test_what_it_would_take_is_said_of_neighbours_only(tmp_path: Path) -> None:
    attempts = [
        *(attempt(A, SCENARIOS[0], n, twin="pass" if n else "fail") for n in range(8)),
        *(attempt(B, SCENARIOS[0], n, twin="pass" if n > 2 else "fail") for n in range(8)),
        *(attempt(C, SCENARIOS[0], n, twin="pass" if n > 2 else "fail") for n in range(8)),
    ]
    made = tables(tmp_path, attempts)
    first, second = power_notes(made.comparisons, made.agents)
    assert first.startswith("a and b are not told apart: it would take about ")
    assert first.endswith(" attempts more of each.")
    assert second == "b and c show no difference in 8 attempts; no number of more would find one."


def test_agents_that_never_met(tmp_path: Path) -> None:
    made = tables(tmp_path, [attempt(A, SCENARIOS[0], 0), attempt(B, SCENARIOS[1], 0, twin="fail")])
    (pair,) = made.comparisons
    assert (pair.call, pair.pairs, pair.p_here, pair.difference.value) == ("no-pairs", 0, None, None)
    assert made.ratings.column("games") == (0, 0)
    assert power_notes(made.comparisons, made.agents) == (
        "a and b never played the same attempt, so nothing can be said of the two.",
    )


def test_the_better_verdict_wins_and_within_it_the_better_score(tmp_path: Path) -> None:
    frames = named(
        reports.load(
            write_run(
                tmp_path,
                [
                    *attempt(A, SCENARIOS[1], 0, met=(True, True, False)),
                    *attempt(B, SCENARIOS[1], 0, met=(True, False, False)),
                    *attempt(A, SCENARIOS[1], 1, control="harm"),
                    *attempt(B, SCENARIOS[1], 1, met=(False,) * 3),
                    *attempt(A, SCENARIOS[1], 2),
                    *attempt(B, SCENARIOS[1], 2),
                    *attempt(A, SCENARIOS[1], 3, errored=True),
                    *attempt(B, SCENARIOS[1], 3),
                ],
            )
        )
    )
    ratings = rate(line_up(frames.attempts, ("a", "b")), ("a", "b"))
    # One win each, one draw, and one attempt that nobody can judge.
    assert (ratings["a"].value, ratings["b"].value, ratings["a"].n) == (1000.0, 1000.0, 3)


def test_one_agent_alone_has_no_rating(tmp_path: Path) -> None:
    made = tables(tmp_path, [attempt(A, SCENARIOS[0], 0)])
    assert (made.comparisons, made.head_to_head.rows) == ((), ())
    (rating,) = made.ratings.column("rating")
    assert getattr(rating, "value", 0) is None
