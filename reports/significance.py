"""Is a difference more than chance? Exact tests in numpy, a correction for many of them, and a note on power.

Sources: Q. McNemar (1947), Note on the sampling error of the difference between correlated proportions, Psychometrika
12 (here its exact form, the sign test on discordant pairs); R. A. Fisher (1935), The Design of Experiments, sections 21
(sign flips) and 21.02 (the exact test of a 2×2 table); S. Holm (1979), A simple sequentially rejective multiple test
procedure, Scandinavian Journal of Statistics 6; R. J. Connor (1987), Sample size for testing differences in proportions
for the paired-sample design, Biometrics 43.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from reports.statistics import SEED

LEVEL = 0.05
POWER = 0.8
_ALL_SIGNS = 14
"""Up to so many clusters every assignment of signs is counted; beyond, so many are drawn:"""
_SIGN_DRAWS = 20_000
_SLACK = 1e-9
"""Sums that differ by rounding alone are the same."""


def sign_test(wins: int, losses: int) -> float:
    """Two-sided p that of `wins + losses` pairs which differ so many go one way by chance; 1 where none differs."""
    n = wins + losses
    if n == 0 or wins == losses:
        return 1.0
    logs = _log_factorials(n)
    tail = np.arange(min(wins, losses) + 1)
    chances = np.exp(logs[n] - logs[tail] - logs[n - tail] - n * math.log(2))
    return min(1.0, 2 * float(chances.sum()))


def sign_flip(differences: Sequence[float]) -> float:
    """Two-sided p of the mean of `differences`, one for each cluster, if each could as well have had the other sign.

    Exact up to 14 clusters that differ, then by draws from a fixed seed, which never give less than 1 / 20,001.
    """
    values = np.array([value for value in differences if abs(value) > _SLACK], dtype=np.float64)
    if not len(values):
        return 1.0
    seen = abs(values.sum()) - _SLACK
    if len(values) <= _ALL_SIGNS:
        signs = 1 - 2 * ((np.arange(2 ** len(values))[:, None] >> np.arange(len(values))) & 1)
        return float((np.abs(signs @ values) >= seen).mean())
    drawn = np.random.Generator(np.random.PCG64(SEED)).integers(0, 2, size=(_SIGN_DRAWS, len(values)))
    return float((1 + (np.abs((1 - 2 * drawn) @ values) >= seen).sum()) / (1 + _SIGN_DRAWS))


def exact_test(before: Sequence[tuple[int, int]], now: Sequence[tuple[int, int]]) -> float:
    """Two-sided p that the rate is the same before and now in every stratum: (successes, n) for each of them.

    Fisher's exact test, over strata: given each one's margins, all totals no likelier than the one seen count. One
    stratum is the test of a 2×2 table; 1 where nothing can differ. Raises ValueError on impossible counts.
    """
    chances, seen = np.ones(1), 0
    for (won_before, n_before), (won_now, n_now) in zip(before, now, strict=True):
        if not (0 <= won_before <= n_before and 0 <= won_now <= n_now):
            raise ValueError(f"impossible counts: {won_before} of {n_before}, {won_now} of {n_now}")
        total, marked = n_before + n_now, won_before + won_now
        logs = _log_factorials(total)
        least = max(0, marked - n_before)
        drawn = np.arange(least, min(marked, n_now) + 1)
        chosen = _choose(logs, marked, drawn) + _choose(logs, total - marked, n_now - drawn)
        chances = np.convolve(chances, np.exp(chosen - _choose(logs, total, n_now)))
        seen += won_now - least
    return min(1.0, float(chances[chances <= chances[seen] * (1 + 1e-7)].sum()))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Each p made so much larger that, taken together, one false call in twenty stays one in twenty (Holm)."""
    adjusted = [0.0] * len(p_values)
    so_far = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        so_far = max(so_far, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = so_far
    return tuple(adjusted)


def pairs_needed(better: float, worse: float, *, level: float = LEVEL, power: float = POWER) -> int | None:
    """How many pairs tell two agents apart, if one wins a share `better` of them and loses a share `worse`.

    By Connor's formula, two-sided. None where the shares are the same: no number of pairs would do.
    """
    difference, discordant = abs(better - worse), better + worse
    if difference < _SLACK:
        return None
    at_level, at_power = NormalDist().inv_cdf(1 - level / 2), NormalDist().inv_cdf(power)
    spread = max(0.0, discordant - difference**2)
    return math.ceil(((at_level * math.sqrt(discordant) + at_power * math.sqrt(spread)) / difference) ** 2)


def _log_factorials(n: int) -> npt.NDArray[np.float64]:
    """The natural logarithms of 0! to n!."""
    return np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, n + 1, dtype=np.float64)))))


def _choose(
    logs: npt.NDArray[np.float64], n: int, k: int | npt.NDArray[np.int64]
) -> np.float64 | npt.NDArray[np.float64]:
    chosen: np.float64 | npt.NDArray[np.float64] = logs[n] - logs[k] - logs[n - k]
    return chosen
