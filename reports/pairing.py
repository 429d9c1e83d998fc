"""Agents against each other on the same trials: who did better where both met the same world.

All agents meet the same worlds in the same attempt of a seed, so attempts can be compared one by one, and what makes
one scenario harder than another falls out of the difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from reports.measures import hosted
from reports.ratings import ratings
from reports.significance import LEVEL, holm, pairs_needed, sign_flip, sign_test
from reports.statistics import Cluster, Estimate, clustered

Floats = npt.NDArray[np.float64]
Call = Literal["beyond", "here", "apart-not", "no-pairs"]
"""Told apart on scenarios like these; told apart on these scenarios; not told apart; never met."""

GRADES = {"HARMFUL": 0.0, "NOT_RECOVERED": 1.0, "RECOVERED_UNPROVEN": 2.0, "VERIFIED": 3.0}
"""Head to head the better verdict wins, and within a verdict the higher share of points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """One scenario's attempts, lined up: rows are agents, columns are attempts (seed and number).

    grade: of `GRADES` plus the share of points, over 2; NaN where an agent has no attempt there, or no verdict.
    present and verified: yes or no. open: the verdict is UNKNOWN.
    """

    present: npt.NDArray[np.bool_]
    verified: npt.NDArray[np.bool_]
    open: npt.NDArray[np.bool_]
    grade: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two agents on the attempts that both made.

    wins, losses: attempts that only the first, only the second has VERIFIED. undecided: a verdict is UNKNOWN.
    difference: of the verified rates, each scenario weighing the same, with a bootstrap interval over scenarios.
    p_here: of the sign test over attempts; p_beyond: of sign flips over scenarios. Both after Holm's correction, each
    undecided attempt counted against the difference. more: about how many more attempts of each agent would tell them
    apart on these scenarios; None where they are, or where none would.
    """

    first: str
    second: str
    pairs: int
    wins: int
    losses: int
    undecided: int
    difference: Estimate
    p_here: float | None
    p_beyond: float | None
    call: Call
    more: int | None


def line_up(attempts: pd.DataFrame, agents: Sequence[str]) -> tuple[Meeting, ...]:
    """The attempts of a `named` frame, scenario by scenario, each agent in its row."""
    place = {agent: row for row, agent in enumerate(agents)}
    counted = hosted(attempts)
    meetings = []
    for _, rows in counted.groupby("task", sort=True):
        column = pd.factorize(pd.MultiIndex.from_frame(rows[["seed", "attempt"]]), sort=True)[0]
        row = rows["player"].map(place).to_numpy(dtype=np.int64)
        shape = (len(agents), int(column.max()) + 1)
        present, verified, still_open = (np.zeros(shape, dtype=np.bool_) for _ in range(3))
        grade = np.full(shape, np.nan)
        present[row, column] = True
        verified[row, column] = rows["verified"].to_numpy(dtype=np.bool_)
        still_open[row, column] = rows["verified_open"].to_numpy(dtype=np.bool_)
        share = rows["score"].fillna(0.0).to_numpy(dtype=np.float64) / np.maximum(
            rows["full_score"].to_numpy(dtype=np.float64), 1e-9
        )
        grade[row, column] = rows["verdict"].map(GRADES).to_numpy(dtype=np.float64) + share / 2
        meetings.append(Meeting(present=present, verified=verified, open=still_open, grade=grade))
    return tuple(meetings)


def compare(meetings: Sequence[Meeting], agents: Sequence[str]) -> tuple[Comparison, ...]:
    """Every two agents, in the order of `agents`; significance is corrected for all of these comparisons."""
    made = [_pair(meetings, first, second) for first, second in combinations(range(len(agents)), 2)]
    met = [pair for pair in made if pair.pairs]
    here = iter(holm([pair.p_here for pair in met]))
    beyond = iter(holm([pair.p_beyond for pair in met]))
    found = []
    for (first, second), pair in zip(combinations(agents, 2), made, strict=True):
        p_here, p_beyond = (next(here), next(beyond)) if pair.pairs else (None, None)
        call = _call(p_here, p_beyond)
        found.append(
            Comparison(
                first=first,
                second=second,
                pairs=pair.pairs,
                wins=pair.wins,
                losses=pair.losses,
                undecided=pair.undecided,
                difference=pair.difference,
                p_here=p_here,
                p_beyond=p_beyond,
                call=call,
                more=_more(pair, len(met)) if call == "apart-not" else None,
            )
        )
    return tuple(found)


def rate(meetings: Sequence[Meeting], agents: Sequence[str]) -> dict[str, Estimate]:
    """Each agent's Bradley–Terry rating from all attempts that it and another made."""
    if not meetings or len(agents) < 2:
        return {agent: Estimate(value=None) for agent in agents}
    return dict(zip(agents, ratings(np.stack([_wins(meeting) for meeting in meetings])), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    pairs: int
    wins: int
    losses: int
    undecided: int
    difference: Estimate
    p_here: float
    p_beyond: float


def _pair(meetings: Sequence[Meeting], first: int, second: int) -> _Pair:
    clusters: list[Cluster] = []
    wins = losses = undecided = 0
    for meeting in meetings:
        both = meeting.present[first] & meeting.present[second]
        n = int(both.sum())
        if not n:
            continue
        unsure = both & (meeting.open[first] | meeting.open[second])
        decided = both & ~unsure
        won = int((decided & meeting.verified[first] & ~meeting.verified[second]).sum())
        lost = int((decided & meeting.verified[second] & ~meeting.verified[first]).sum())
        owed = int(unsure.sum())
        wins, losses, undecided = wins + won, losses + lost, undecided + owed
        clusters.append(
            Cluster(
                low=(won - lost - owed) / n,
                value=(won - lost) / n,
                high=(won - lost + owed) / n,
                weight=1.0,
                n=n,
                missing=owed,
            )
        )
    difference = clustered(clusters)
    ahead = (difference.value or 0.0) >= 0
    against = [cluster.low if ahead else cluster.high for cluster in clusters]
    still_ahead = sum(against) > 0 if ahead else sum(against) < 0
    leading, trailing = (wins, losses + undecided) if wins >= losses else (losses, wins + undecided)
    return _Pair(
        pairs=sum(cluster.n for cluster in clusters),
        wins=wins,
        losses=losses,
        undecided=undecided,
        difference=difference,
        p_here=sign_test(leading, trailing) if leading > trailing else 1.0,
        p_beyond=sign_flip(against) if still_ahead else 1.0,
    )


def _call(p_here: float | None, p_beyond: float | None) -> Call:
    if p_here is None or p_beyond is None:
        return "no-pairs"
    if p_beyond < LEVEL:
        return "beyond"
    return "here" if p_here < LEVEL else "apart-not"


def _more(pair: _Pair, comparisons: int) -> int | None:
    needed = pairs_needed(pair.wins / pair.pairs, pair.losses / pair.pairs, level=LEVEL / comparisons)
    return None if needed is None else max(1, needed - pair.pairs)


def _wins(meeting: Meeting) -> Floats:
    """(n, n): how often each agent did better than each other one; a draw counts half."""
    count = len(meeting.grade)
    wins = np.zeros((count, count))
    for agent in range(count):
        ahead = meeting.grade[agent][None, :] - meeting.grade
        wins[agent] = (ahead > 1e-9).sum(axis=1) + 0.5 * (np.abs(ahead) <= 1e-9).sum(axis=1)
        wins[agent, agent] = 0.0
    return wins
