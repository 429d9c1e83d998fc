"""Agents against each other, as tables: ratings, and every two agents compared, with what would tell them apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from reports.pairing import Call, Comparison
from reports.statistics import Estimate
from reports.table import Heading, Table

RATING = Heading(
    "rating", "Rating", "rating",
    "Bradley–Terry rating from all attempts that two agents both made; 400 points are ten wins for each loss "
    "(bootstrap over scenarios)",
)  # fmt: skip
CALLS: Mapping[Call, str] = {
    "beyond": "told apart, beyond these scenarios",
    "here": "told apart, on these scenarios",
    "apart-not": "not told apart",
    "no-pairs": "never met",
}


def head_to_head(comparisons: Sequence[Comparison]) -> Table:
    """Every two agents that met, in the order of the leaderboard."""
    return Table(
        name="head-to-head",
        title="Head to head",
        caption="Two agents on the attempts that both made. A call stands only after Holm's correction for all of "
        "these comparisons, and with every undecided attempt counted against it.",
        headings=(
            Heading("first", "First", "name", "The agent that is higher on the leaderboard"),
            Heading("second", "Second", "name", "The other"),
            Heading("call", "Call", "text", "Whether the difference in the verified rate is more than chance"),
            Heading("difference", "Difference", "gap", "First minus second, verified rate (bootstrap over scenarios)"),
            Heading("wins", "Wins", "count", "Attempts that only the first has VERIFIED"),
            Heading("losses", "Losses", "count", "Attempts that only the second has VERIFIED"),
            Heading("undecided", "Undecided", "count", "Attempts in which a verdict is UNKNOWN"),
            Heading("pairs", "Pairs", "count", "Attempts that both made"),
            Heading("p_here", "p here", "chance", "Exact sign test over attempts: on these scenarios (Holm)"),
            Heading("p_beyond", "p beyond", "chance", "Sign flips over scenarios: on scenarios like these (Holm)"),
            Heading("more", "More needed", "count", "About so many more attempts of each would tell them apart"),
        ),
        rows=tuple(
            (
                *(pair.first, pair.second, CALLS[pair.call], pair.difference, pair.wins, pair.losses, pair.undecided),
                *(pair.pairs, pair.p_here, pair.p_beyond, pair.more),
            )
            for pair in comparisons
        ),
    )


def rating_table(ratings: Mapping[str, Estimate], comparisons: Sequence[Comparison]) -> Table:
    """Each agent's rating, and from how many of the others it is told apart."""
    rows = []
    for agent, rating in sorted(ratings.items(), key=lambda item: (-(item[1].value or 0.0), item[0])):
        calls = [pair.call for pair in comparisons if agent in (pair.first, pair.second)]
        apart = sum(call in ("here", "beyond") for call in calls)
        rows.append((agent, rating, rating.n, apart, len(calls)))
    return Table(
        name="ratings",
        title="Ratings",
        caption="Bradley–Terry, from head-to-head results: the better verdict wins, then the higher score.",
        headings=(
            Heading("agent", "Agent", "name", "The agent with its configuration"),
            RATING,
            Heading("games", "Games", "count", "Attempts that it and another agent made, once for each other agent"),
            Heading("apart", "Told apart from", "count", "Other agents it is told apart from"),
            Heading("others", "Of", "count", "Other agents"),
        ),
        rows=tuple(rows),
    )


def power_notes(comparisons: Sequence[Comparison], agents: Sequence[str], *, most: int = 6) -> tuple[str, ...]:
    """What it would take to tell neighbours on the leaderboard apart, a sentence each."""
    neighbours = set(pairwise(agents))
    notes = []
    for pair in comparisons:
        if (pair.first, pair.second) not in neighbours or pair.call in ("here", "beyond"):
            continue
        names = f"{pair.first} and {pair.second}"
        if pair.call == "no-pairs":
            notes.append(f"{names} never played the same attempt, so nothing can be said of the two.")
        elif pair.more is None:
            notes.append(f"{names} show no difference in {_attempts(pair.pairs)}; no number of more would find one.")
        else:
            notes.append(f"{names} are not told apart: it would take about {_attempts(pair.more)} more of each.")
    return tuple(notes[:most])


def _attempts(count: int) -> str:
    return "1 attempt" if count == 1 else f"{count:,} attempts"
