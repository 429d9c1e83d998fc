"""The leaderboard on a terminal: the columns that fit, of the table that the page shows in full."""

from __future__ import annotations

from collections.abc import Mapping

from breakfix.cli.output import table
from reports.statistics import Estimate
from reports.table import Table, Value

_SHOWN = (
    "rank",
    "agent",
    "verified",
    "score",
    "recovered",
    "harm",
    "control_unharmed",
    "attempts",
    "errored",
    "proven",
)


def show_leaderboard(leaderboard: Table) -> None:
    """One line for each agent, rates in per cent with their 95 % interval."""
    headings = {heading.name: heading.title for heading in leaderboard.headings if heading.name in _SHOWN}
    columns = {name: leaderboard.column(name) for name in headings}
    rows: list[Mapping[str, str]] = [
        {name: _cell(cells[index]) for name, cells in columns.items()} for index in range(len(leaderboard.rows))
    ]
    table(rows, headings)


def _cell(value: Value) -> str:
    if isinstance(value, Estimate):
        if value.value is None:
            return "–"
        spread = (
            f" ({100 * value.low:.0f}–{100 * value.high:.0f})"
            if value.low is not None and value.high is not None
            else ""
        )
        return f"{100 * value.value:.0f} %{spread}"
    if value is None:
        return "–"
    return f"{value:g}" if isinstance(value, float) else str(value)
