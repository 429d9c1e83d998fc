"""Several runs in the order they were given, such as nights: each agent's figures in each of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from reports import measures
from reports.table import Heading, Table


def run_names(runs: Sequence[Path]) -> tuple[str, ...]:
    """Short names for run folders: as many of a path's last parts as it takes to tell all of them apart."""
    parts = [run.resolve().parts for run in runs]
    for length in range(1, max((len(each) for each in parts), default=0) + 1):
        names = tuple("/".join(each[-length:]) for each in parts)
        if len(set(names)) == len(names):
            return names
    return tuple(f"{run.name} ({place})" for place, run in enumerate(runs, start=1))


def trend_table(names: Sequence[str], attempts: Sequence[pd.DataFrame]) -> Table:
    """One row for each agent in each run. `attempts` are the `named` attempts frames, one for each name."""
    return Table(
        name="trends",
        title="Run by run",
        caption="Each agent in each run, in the order the runs were given.",
        headings=(
            Heading("run", "Run", "name", "The run's folder"),
            Heading("agent", "Agent", "name", "The agent with its configuration"),
            Heading("verified", "Verified", "rate", "Attempts with the verdict VERIFIED, of all attempts (Wilson)"),
            Heading("score", "Score", "rate", "Points, of the points there were (bootstrap over scenarios)"),
            Heading("harm", "Harm", "rate", "Attempts with the verdict HARMFUL (Wilson)"),
            Heading("cost_per_verified", "Cost / verified", "number", "Money paid for each verified attempt"),
            Heading("attempts", "Attempts", "count", "Attempts in the denominators"),
            Heading("errored", "Errored", "count", "Attempts in which our infrastructure failed"),
        ),
        rows=tuple(
            (
                *(name, str(player), measures.verified(rows), measures.score(rows), measures.harm(rows)),
                *(measures.cost_per_verified(rows), measures.count(rows), measures.errored(rows)),
            )
            for name, frame in zip(names, attempts, strict=True)
            for player, rows in frame.groupby("player", sort=True)
        ),
    )
