"""A run against an earlier one: what got worse, what got better, and what each call rests on.

Each agent is compared with itself, over all scenarios that both runs have (stratified by scenario) and at each of them.
A call stands after Holm's correction, for all agents on one side and for all scenarios of all agents on the other, and
with every undecided attempt counted against it: our own infrastructure never makes a regression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from reports.frames import Frames
from reports.measures import hosted
from reports.significance import LEVEL, exact_test, holm
from reports.statistics import Estimate, proportion
from reports.table import Heading, Table

Call = Literal["regression", "improvement", "unchanged"]
Figure = Literal["verified", "harm"]
ALL = "(all)"
"""What stands for all scenarios together."""
_FLAGS: Mapping[Figure, tuple[str, str]] = {
    "verified": ("verified", "verified_open"),
    "harm": ("harmful", "harmful_open"),
}
_SHOWN_TRIALS = 3
_UNVERIFIED_REASON = ("fail", "harm", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One figure of one agent, then and now. `p` is after correction; None where one of the runs has no attempt.

    `bundles` says whether both played the same bytes. `trials` are ids of primary trials that show the loss (of harm:
    the trials that did it), and `reason` the sentence that the gate gave most often for it.
    """

    agent: str
    scenario: str
    figure: Figure
    before: Estimate
    now: Estimate
    p: float | None
    call: Call
    bundles: Literal["same", "changed"]
    reason: str
    trials: tuple[str, ...]

    @property
    def difference(self) -> float | None:
        return None if self.before.value is None or self.now.value is None else self.now.value - self.before.value


def changes(before: pd.DataFrame, now: Frames) -> tuple[Change, ...]:
    """Every agent of either run: regressions first, then improvements, then the rest.

    before: the earlier run's attempts; now: this run's frames; both `named`.
    """
    one_pack = pd.concat([before["pack"], now.attempts["pack"]]).nunique() == 1
    then, today = (_cells(attempts, one_pack=one_pack) for attempts in (before, now.attempts))
    agents = sorted({agent for agent, _ in (*then, *today)})
    overall = [
        _Case(agent, ALL, figure, [then[key] for key in keys], [today[key] for key in keys])
        for agent in agents
        for keys in [[key for key in sorted(then) if key[0] == agent and key in today]]
        if keys
        for figure in _FLAGS
    ]
    single = [
        _Case(*key, figure, *([cells[key]] if key in cells else [] for cells in (then, today)))
        for key in sorted(set(then) | set(today))
        for figure in _FLAGS
    ]
    made = [change for family in (overall, single) for change in _judge(family, now)]
    order: Sequence[Call] = ("regression", "improvement", "unchanged")
    return tuple(sorted(made, key=lambda change: (order.index(change.call), change.scenario != ALL)))


def regression_table(made: Sequence[Change]) -> Table:
    """The changes in rows."""
    return Table(
        name="regressions",
        title="Against the baseline",
        caption="Each agent against itself in the baseline run. Exact tests, stratified by scenario; a call stands "
        "after Holm's correction, with every undecided attempt counted against it.",
        headings=(
            Heading("agent", "Agent", "name", "The agent with its configuration"),
            Heading("scenario", "Scenario", "name", f"The scenario; {ALL} are all that both runs have"),
            Heading("figure", "Figure", "text", "verified: the more the better; harm: the less the better"),
            Heading("call", "Call", "finding", "Whether the change is more than chance"),
            Heading("before", "Baseline", "rate", "The rate in the baseline (Wilson)"),
            Heading("now", "Now", "rate", "The rate in this run (Wilson)"),
            Heading("p", "p", "chance", "Exact test of a changed rate, two-sided (Holm); none: one run has no attempt"),
            Heading("bundles", "Bundle", "text", "Whether both runs played the same bytes"),
            Heading("reason", "The gate's words now", "sentence", "The sentence given most often for what was lost"),
            Heading("trials", "Evidence", "trials", "Trials that show it"),
        ),
        rows=tuple(
            (
                *(change.agent, change.scenario, change.figure, change.call, change.before, change.now, change.p),
                *(change.bundles, change.reason or None, " ".join(trial[:12] for trial in change.trials) or None),
            )
            for change in made
        ),
    )


@dataclass(frozen=True, slots=True)
class _Case:
    """One figure of one agent over some scenarios: the attempts at each, then and now."""

    agent: str
    scenario: str
    figure: Figure
    before: list[pd.DataFrame]
    now: list[pd.DataFrame]

    @property
    def comparable(self) -> bool:
        return bool(self.before and self.now)

    def rate(self, side: list[pd.DataFrame]) -> Estimate:
        counts = [_counts(rows, self.figure) for rows in side]
        yes, owed, n = (sum(part) for part in zip(*counts, strict=True)) if counts else (0, 0, 0)
        return proportion(yes, n, missing=owed)

    def direction(self) -> int:
        """1 up, -1 down, 0 no change, each scenario weighing what its two numbers of attempts allow."""
        lean = sum(
            (_counts(now, self.figure)[0] / len(now) - _counts(then, self.figure)[0] / len(then))
            * len(now) * len(then) / (len(now) + len(then))
            for then, now in zip(self.before, self.now, strict=True)
        )  # fmt: skip
        return 0 if abs(lean) < 1e-9 else (1 if lean > 0 else -1)

    def chance(self) -> float:
        """The p before correction, undecided attempts counted so that the change is the smallest it may be."""
        up = self.direction() > 0
        before, now = ([_counts(rows, self.figure) for rows in side] for side in (self.before, self.now))
        least_before = [(yes + owed if up else yes, n) for yes, owed, n in before]
        least_now = [(yes if up else yes + owed, n) for yes, owed, n in now]
        gained = sum(yes / n for yes, n in least_now) - sum(yes / n for yes, n in least_before)
        if gained == 0 or (gained > 0) != up:
            return 1.0
        return exact_test(least_before, least_now)


def _judge(family: Sequence[_Case], now: Frames) -> Iterator[Change]:
    adjusted = iter(holm([case.chance() for case in family if case.comparable]))
    for case in family:
        p = next(adjusted) if case.comparable else None
        call = _call(case, p)
        reason, trials = _evidence(case, now) if call == "regression" else ("", ())
        yield Change(
            agent=case.agent,
            scenario=case.scenario,
            figure=case.figure,
            before=case.rate(case.before),
            now=case.rate(case.now),
            p=p,
            call=call,
            bundles="same" if _tasks(case.before) == _tasks(case.now) else "changed",
            reason=reason,
            trials=trials,
        )


def _call(case: _Case, p: float | None) -> Call:
    if p is None or p >= LEVEL:
        return "unchanged"
    good = 1 if case.figure == "verified" else -1
    return "improvement" if case.direction() == good else "regression"


def _evidence(case: _Case, now: Frames) -> tuple[str, tuple[str, ...]]:
    """The gate's most frequent sentence against the attempts that are the loss, and some of their trials."""
    rows = pd.concat(case.now)
    lost = rows[rows["harmful"]] if case.figure == "harm" else rows[~rows["verified"] & ~rows["verified_open"]]
    facts = now.facts[now.facts["attempt_id"].isin(lost["attempt_id"])]
    against = facts[facts["finding"].isin(_UNVERIFIED_REASON)]["reason"].value_counts()
    reason = str(sorted(against[against == against.max()].index)[0]) if len(against) else ""
    primary = now.trials[(now.trials["role"] == "primary") & now.trials["attempt_id"].isin(lost["attempt_id"])]
    return reason, tuple(str(identifier) for identifier in primary["trial_id"].head(_SHOWN_TRIALS))


def _cells(attempts: pd.DataFrame, *, one_pack: bool) -> dict[tuple[str, str], pd.DataFrame]:
    """(agent, scenario with its pack where there are several) -> the attempts that count, whatever the bundle."""
    counted = hosted(attempts)
    scenario = counted["scenario"] if one_pack else counted["pack"] + "/" + counted["scenario"]
    groups = counted.assign(whole=scenario).groupby(["player", "whole"], sort=True)
    return {(str(agent), str(name)): rows for (agent, name), rows in groups}


def _counts(rows: pd.DataFrame, figure: Figure) -> tuple[int, int, int]:
    """(yes, undecided, attempts)."""
    flag, still_open = (rows[name].to_numpy(dtype=bool) for name in _FLAGS[figure])
    return int(flag.sum()), int((still_open & ~flag).sum()), len(rows)


def _tasks(side: Sequence[pd.DataFrame]) -> set[str]:
    return {str(task) for rows in side for task in rows["task"].unique()}
