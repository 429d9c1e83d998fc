"""A run against its baseline: what is called, what is not, and what the call rests on."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy import stats

import reports
from reports.frames import Frames
from reports.regressions import ALL, Change, changes, regression_table
from reports.tables import named
from reports.trends import run_names, trend_table
from runners.records import TrialRecord
from tests.reports.synthetic_records import SCENARIOS, write_run
from tests.reports.test_report_tables import A, B, attempt

EASY, HARD, EXPERT = SCENARIOS


def frames(folder: Path, attempts: list[list[TrialRecord]]) -> Frames:
    return named(reports.load(write_run(folder, [each for records in attempts for each in records])))


def played(passing: int, of: int = 12, *, scenario: object = HARD, **more: object) -> list[list[TrialRecord]]:
    return [attempt(A, scenario, n, twin="pass" if n < passing else "fail", **more) for n in range(of)]


def found(made: tuple[Change, ...], scenario: str, figure: str = "verified") -> Change:
    (change,) = [each for each in made if (each.scenario, each.figure) == (scenario, figure)]
    return change


def test_a_loss_is_called_with_its_evidence(tmp_path: Path) -> None:
    now = frames(tmp_path / "now", played(2))
    made = changes(frames(tmp_path / "then", played(12)).attempts, now)
    change = found(made, HARD.name)
    assert (change.call, change.bundles, change.difference) == ("regression", "same", pytest.approx(-10 / 12))
    # Two figures at one scenario: Holm doubles the smaller p.
    assert change.p == pytest.approx(2 * stats.fisher_exact([[12, 0], [2, 10]]).pvalue)
    assert change.reason == "twin says fail"
    lost = now.attempts[~now.attempts["verified"]]["attempt_id"]
    ids = now.trials[now.trials["attempt_id"].isin(lost)]["trial_id"]
    assert len(change.trials) == 3
    assert set(change.trials) <= set(ids)
    assert found(made, ALL).call == "regression"
    assert made[0].call == "regression"
    assert found(made, HARD.name, "harm").call == "unchanged"


def test_a_gain_is_no_regression_and_chance_is_neither(tmp_path: Path) -> None:
    few, many = frames(tmp_path / "few", played(1)), frames(tmp_path / "many", played(12))
    assert found(changes(few.attempts, many), HARD.name).call == "improvement"
    nearly = frames(tmp_path / "nearly", played(9))
    assert {change.call for change in changes(many.attempts, nearly)} == {"unchanged"}
    assert {change.call for change in changes(many.attempts, many)} == {"unchanged"}


def test_more_harm_is_worse(tmp_path: Path) -> None:
    then = frames(tmp_path / "then", [attempt(A, HARD, n) for n in range(12)])
    now = frames(tmp_path / "now", [attempt(A, HARD, n, control="harm") for n in range(12)])
    change = found(changes(then.attempts, now), HARD.name, "harm")
    assert (change.call, change.reason) == ("regression", "control says harm")


def test_our_own_errors_never_make_a_regression(tmp_path: Path) -> None:
    then = frames(tmp_path / "then", played(12))
    now = frames(tmp_path / "now", [attempt(A, HARD, n, errored=True) for n in range(12)])
    change = found(changes(then.attempts, now), HARD.name)
    assert (change.now.value, change.now.missing) == (0.0, 12)
    assert (change.call, change.p) == ("unchanged", 1.0)


def test_scenarios_are_compared_with_themselves_only(tmp_path: Path) -> None:
    """An easy scenario that was not played today must not make the agent look worse."""
    then = frames(tmp_path / "then", played(12, scenario=EASY) + played(0, scenario=HARD))
    now = frames(tmp_path / "now", played(0, scenario=HARD) + played(0, scenario=EXPERT))
    made = changes(then.attempts, now)
    assert {change.call for change in made} == {"unchanged"}
    assert (found(made, EASY.name).now.value, found(made, EASY.name).p) == (None, None)
    assert (found(made, EXPERT.name).before.value, found(made, EXPERT.name).p) == (None, None)
    assert found(made, ALL).before.value == 0.0


def test_another_bundle_is_said(tmp_path: Path) -> None:
    then = frames(tmp_path / "then", played(12))
    now = frames(tmp_path / "now", played(2, digest="9" * 64))
    change = found(changes(then.attempts, now), HARD.name)
    assert (change.call, change.bundles) == ("regression", "changed")


@pytest.mark.parametrize("one", ["none", "some"])
def test_nothing_to_compare_is_no_call(tmp_path: Path, one: str) -> None:
    empty = frames(tmp_path / "empty", [])
    other = empty if one == "none" else frames(tmp_path / "other", [attempt(B, EASY, 0)])
    made = (*changes(empty.attempts, other), *changes(other.attempts, empty))
    assert {change.call for change in made} <= {"unchanged"}
    assert all(change.p is None for change in made)
    assert len(regression_table(made).rows) == len(made)


def test_runs_are_named_by_as_much_of_their_path_as_it_takes() -> None:
    assert run_names([Path("/a/b/monday"), Path("/a/b/tuesday")]) == ("monday", "tuesday")
    assert run_names([Path("/x/one/run"), Path("/x/two/run")]) == ("one/run", "two/run")
    assert run_names([Path("/x/run"), Path("/x/run")]) == ("run (1)", "run (2)")
    assert run_names([]) == ()


def test_trends_have_a_row_for_each_agent_in_each_run(tmp_path: Path) -> None:
    nights = [frames(tmp_path / str(n), played(n, of=4)) for n in (1, 3)]
    table = trend_table(("one", "two"), [each.attempts for each in nights])
    assert table.column("run") == ("one", "two")
    assert [getattr(rate, "value", None) for rate in table.column("verified")] == [0.25, 0.75]
    assert table.column("cost_per_verified") == (None, None)
    assert trend_table((), []).rows == ()
