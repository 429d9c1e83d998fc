"""Bradley–Terry ratings from head-to-head results.

The chance that one agent beats another follows from the difference of their strengths. Every agent also plays one draw
against an opponent of strength 0, so that one who always wins is rated high, not infinitely high, and agents that never
met can still be shown.

Sources: R. A. Bradley and M. E. Terry (1952), Rank analysis of incomplete block designs, Biometrika 39; F. Caron and
A. Doucet (2012), Efficient Bayesian inference for generalized Bradley–Terry models (why a prior, and its strength).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from reports.statistics import CONFIDENCE, SEED, Estimate

Floats = npt.NDArray[np.float64]

MIDDLE = 1000.0
SCALE = 400 / math.log(10)
"""On this scale, Elo's, 400 points more mean ten wins for each loss."""
RESAMPLES = 1000
_ROUNDS = 200
_LONGEST_STEP = 1.0
_CLOSE = 1e-10


def strengths(wins: Floats) -> Floats:
    """The log-strengths (…, n) that make `wins` (…, n, n) likeliest; wins[i, j] counts i's wins over j, a draw half.

    Newton's method on a strictly concave function, in steps of bounded length. Leading axes are separate tournaments.
    """
    games = wins + np.swapaxes(wins, -1, -2)
    count = wins.shape[-1]
    found = np.zeros(wins.shape[:-1])
    if not count:
        return found
    identity = np.eye(count)
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(found[..., None, :] - found[..., :, None]))
        alone = 1 / (1 + np.exp(-found))
        slope = (wins - games * chance).sum(axis=-1) + 0.5 - alone
        bend = games * chance * (1 - chance)
        curvature = identity * (bend.sum(axis=-1) + alone * (1 - alone))[..., None] - bend
        step = np.clip(np.linalg.solve(curvature, slope[..., None])[..., 0], -_LONGEST_STEP, _LONGEST_STEP)
        found = found + step
        if np.abs(step).max() < _CLOSE:
            break
    return found


def ratings(wins: Floats) -> tuple[Estimate, ...]:
    """Each agent's rating from `wins` (scenarios, n, n), with an interval by drawing whole scenarios.

    An agent without a game has none; with one scenario there is no interval.
    """
    scenarios = len(wins)
    together = wins.sum(axis=0)
    games = together.sum(axis=1) + together.sum(axis=0)
    points = MIDDLE + SCALE * strengths(together)
    low = high = None
    if scenarios > 1:
        draws = np.random.Generator(np.random.PCG64(SEED)).integers(0, scenarios, size=(RESAMPLES, scenarios))
        times = np.stack([(draws == scenario).sum(axis=1) for scenario in range(scenarios)], axis=1)
        resampled = MIDDLE + SCALE * strengths(np.tensordot(times.astype(np.float64), wins, axes=1))
        tail = (1 - CONFIDENCE) / 2
        low, high = np.quantile(resampled, (tail, 1 - tail), axis=0)
    return tuple(
        Estimate(value=None)
        if not games[agent]
        else Estimate(
            value=round(float(points[agent]), 6),
            low=None if low is None else round(min(float(low[agent]), float(points[agent])), 6),
            high=None if high is None else round(max(float(high[agent]), float(points[agent])), 6),
            n=round(float(games[agent])),
        )
        for agent in range(len(points))
    )
