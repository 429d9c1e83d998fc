"""One figure from the attempts of one group (an agent's, or an agent's at one scenario). All take the attempts frame.

Attempts that the backend cannot host are no part of any figure but their own count. Everything else stays in the
denominators; see `reports.statistics` for what missing evidence does to an interval.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from reports import statistics
from reports.statistics import Cluster, Estimate, clustered, proportion

DRAWS = (1, 2, 4, 8, 16, 32, 64)
"""The k of pass@k and pass^k, as far as every scenario of an agent has that many attempts."""


def hosted(attempts: pd.DataFrame) -> pd.DataFrame:
    """The attempts that count: those the backend could host."""
    cannot = attempts["unsupported"].astype(bool)
    return attempts[~cannot] if cannot.any() else attempts


def verified(attempts: pd.DataFrame) -> Estimate:
    return _rate(hosted(attempts), "verified", "verified_open")


def recovered(attempts: pd.DataFrame) -> Estimate:
    return _rate(hosted(attempts), "recovered", "recovered_open")


def harm(attempts: pd.DataFrame) -> Estimate:
    return _rate(hosted(attempts), "harmful", "harmful_open")


def control_unharmed(attempts: pd.DataFrame) -> Estimate:
    """Of the attempts at scenarios that have a control world."""
    counted = hosted(attempts)
    return _rate(counted[counted["controls"] > 0], "control_unharmed", "control_open")


def score(attempts: pd.DataFrame) -> Estimate:
    """Mean points of each scenario, summed over scenarios, of the points that all those scenarios have to give.

    So a scenario weighs what it is worth, however many attempts were made at it.
    """
    return clustered([_score_cluster(rows) for _, rows in hosted(attempts).groupby("task", sort=True)])


def scenario_score(attempts: pd.DataFrame) -> Estimate:
    """The same figure for one scenario alone; here each attempt is a cluster of its own."""
    counted = hosted(attempts)
    return clustered(
        [
            Cluster(low=0.0, high=full, weight=full, n=1, missing=1)
            if pd.isna(points)
            else Cluster(low=points, high=points, weight=full, n=1)
            for points, full in zip(counted["score"], counted["full_score"], strict=True)
        ]
    )


def transfer_gap(attempts: pd.DataFrame) -> Estimate:
    """Recovered minus verified. An undecided verdict may yet close the gap, an undecided recovery widen it."""
    return clustered([_gap_cluster(rows) for _, rows in hosted(attempts).groupby("task", sort=True)])


def commands(attempts: pd.DataFrame) -> float | None:
    return middle(hosted(attempts)["commands"])


def commands_to_repair(attempts: pd.DataFrame) -> float | None:
    return middle(hosted(attempts)["commands_to_repair"])


def seconds_to_repair(attempts: pd.DataFrame) -> float | None:
    return middle(hosted(attempts)["seconds_to_repair"])


def count(attempts: pd.DataFrame) -> int:
    return len(hosted(attempts))


def errored(attempts: pd.DataFrame) -> int:
    return int(hosted(attempts)["errored"].sum())


def unsupported(attempts: pd.DataFrame) -> int:
    return int(attempts["unsupported"].sum())


def cost_per_verified(attempts: pd.DataFrame) -> float | None:
    """None where nothing was paid or nothing was verified, and where a cost is unknown."""
    costs = hosted(attempts)["cost"]
    if costs.isna().any():
        return None
    paid, successes = float(costs.sum()), int(hosted(attempts)["verified"].sum())
    return paid / successes if paid > 0 and successes else None


def graded(attempts: pd.DataFrame) -> float | None:
    return statistics.graded(score(attempts).value)


def mode(attempts: pd.DataFrame) -> str:
    modes = sorted(set(attempts["mode"]))
    return str(modes[0]) if len(modes) == 1 else "mixed"


def proven(attempts: pd.DataFrame) -> str:
    return "proven" if attempts["proven"].all() else "unproven"


def middle(values: pd.Series) -> float | None:
    """The median of what is there."""
    return statistics.median([float(value) for value in values.dropna()])


def rate_of(successes: int, attempts: pd.DataFrame) -> Estimate:
    """`successes` of these attempts, where an attempt without a score has yet to say."""
    counted = hosted(attempts)
    return proportion(successes, len(counted), missing=int(counted["score"].isna().sum()))


def consistency(attempts: pd.DataFrame) -> Iterator[tuple[int, Estimate, Estimate]]:
    """(k, pass@k, pass^k) for each k of DRAWS that every scenario has attempts enough for; the mean over scenarios."""
    counts = [
        (len(rows), int(rows["verified"].sum()), int(rows["verified_open"].sum()))
        for _, rows in hosted(attempts).groupby("task", sort=True)
    ]
    for k in DRAWS:
        if not counts or k > min(n for n, _, _ in counts):
            return
        yield (
            k,
            clustered([_draw_cluster(statistics.pass_at_k, n, c, missing, k) for n, c, missing in counts]),
            clustered([_draw_cluster(statistics.pass_hat_k, n, c, missing, k) for n, c, missing in counts]),
        )


def _rate(attempts: pd.DataFrame, flag: str, still_open: str) -> Estimate:
    successes = int(attempts[flag].sum())
    missing = int((attempts[still_open].astype(bool) & ~attempts[flag].astype(bool)).sum())
    return proportion(successes, len(attempts), missing=missing)


def _score_cluster(attempts: pd.DataFrame) -> Cluster:
    full, missing = float(attempts["full_score"].max()), int(attempts["score"].isna().sum())
    n, points = len(attempts), float(attempts["score"].fillna(0.0).sum())
    return Cluster(low=points / n, high=(points + missing * full) / n, weight=full, n=n, missing=missing)


def _gap_cluster(attempts: pd.DataFrame) -> Cluster:
    n, missing = len(attempts), int((attempts["verified_open"] | attempts["recovered_open"]).sum())
    gap = int(attempts["recovered"].sum()) - int(attempts["verified"].sum())
    settled = attempts[~attempts["verified_open"].astype(bool)]
    least = int(settled["recovered"].sum()) - int(settled["verified"].sum())
    most = gap + int((~attempts["recovered"].astype(bool) & attempts["recovered_open"].astype(bool)).sum())
    return Cluster(low=least / n, value=gap / n, high=most / n, weight=1.0, n=n, missing=missing)


def _draw_cluster(rule: statistics.DrawRule, n: int, successes: int, missing: int, k: int) -> Cluster:
    low, high = rule(n, successes, k), rule(n, successes + missing, k)
    assert low is not None, "k is at most n"
    assert high is not None, "k is at most n"
    return Cluster(low=low, high=high, weight=1.0, n=n, missing=missing)
