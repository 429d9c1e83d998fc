"""The statistics of a report, in numpy, defined for every input: no data gives no number, never NaN.

Estimates carry their evidence. `missing` is the part of the evidence that the infrastructure owes us (an errored
trial, say): it stays in the denominator and counts as no success in the value and in the lower end of the interval,
and as a success in the upper end. So it neither flatters an agent nor is held against it, and it cannot be overlooked.

Sources: E. B. Wilson (1927), Probable inference, JASA 22; A. C. Davison and D. V. Hinkley (1997), Bootstrap Methods,
sections 2.4 and 3.8 (resampling whole clusters); M. Chen et al. (2021), Evaluating Large Language Models Trained on
Code (pass@k); S. Yao et al. (2024), tau-bench (pass^k).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
RESAMPLES = 4000
SEED = 20_717
"""All agents are resampled with the same draws, so that their intervals differ by their data alone."""

Floats = npt.NDArray[np.float64]
DrawRule = Callable[[int, int, int], float | None]
"""`pass_at_k` and `pass_hat_k`: (n, successes, k) to a chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure and how far it can be trusted.

    `value` is None where there is nothing to estimate from. `low` and `high` are None where no interval can be told
    (one cluster says nothing about how clusters vary). `n` counts the evidence, missing parts included.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    successes: int | None = None
    missing: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """One scenario's share of a ratio, over its `weight`. `n` and `missing` count attempts.

    `low` and `high` are what it would be at the least and at the most, once all that is missing were known; `value` is
    what is shown now, and the least unless told otherwise.
    """

    low: float
    high: float
    weight: float
    n: int
    missing: int = 0
    value: float | None = None


def wilson(successes: int, n: int, *, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's score interval for `successes` of `n`; no evidence gives (0, 1).

    Raises ValueError on impossible counts.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"impossible counts: {successes} of {n}")
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # The ends are exact where the algebra says so; rounding would leave 1e-17 there.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return low, high


def proportion(successes: int, n: int, *, missing: int = 0, confidence: float = CONFIDENCE) -> Estimate:
    """A rate with Wilson's interval; `missing` of the `n - successes` others may yet have been successes."""
    if n == 0:
        return Estimate(value=None)
    low, _ = wilson(successes, n, confidence=confidence)
    _, high = wilson(successes + missing, n, confidence=confidence)
    return Estimate(value=successes / n, low=low, high=high, n=n, successes=successes, missing=missing)


def bootstrap_ratio(
    low: Floats, high: Floats, weight: Floats, *, confidence: float = CONFIDENCE, resamples: int = RESAMPLES
) -> tuple[float, float] | None:
    """Percentile interval of sum/sum over whole clusters drawn with replacement; None for fewer than two clusters.

    Arrays of one number per cluster; the lower end is taken from `low`, the upper from `high`. Deterministic.
    """
    count = len(weight)
    if count < 2:
        return None
    draws = np.random.Generator(np.random.PCG64(SEED)).integers(0, count, size=(resamples, count))
    weights = weight[draws].sum(axis=1)
    tail = (1 - confidence) / 2
    lower = np.quantile(low[draws].sum(axis=1) / weights, tail)
    upper = np.quantile(high[draws].sum(axis=1) / weights, 1 - tail)
    return float(lower), float(upper)


def clustered(clusters: Sequence[Cluster], *, confidence: float = CONFIDENCE, resamples: int = RESAMPLES) -> Estimate:
    """The ratio of sums over clusters, with a cluster bootstrap interval. Clusters without weight say nothing.

    A single cluster has no interval but the range that missing evidence leaves open.
    """
    used = [cluster for cluster in clusters if cluster.weight > 0]
    n, missing = sum(cluster.n for cluster in used), sum(cluster.missing for cluster in used)
    if not used:
        return Estimate(value=None)
    low = np.array([cluster.low for cluster in used], dtype=np.float64)
    high = np.array([cluster.high for cluster in used], dtype=np.float64)
    weight = np.array([cluster.weight for cluster in used], dtype=np.float64)
    shown = [cluster.low if cluster.value is None else cluster.value for cluster in used]
    value = _tidy(math.fsum(shown) / math.fsum(weight))
    interval = bootstrap_ratio(low, high, weight, confidence=confidence, resamples=resamples)
    if interval is None and not missing:
        return Estimate(value=value, n=n)
    if interval is None:
        # Nothing can be told of other scenarios, but the figure itself may still move by what is missing.
        interval = (float(low[0] / weight[0]), float(high[0] / weight[0]))
    # A percentile interval of few, skewed clusters may by rounding stop just short of the value itself.
    lower, upper = min(_tidy(interval[0]), value), max(_tidy(interval[1]), value)
    return Estimate(value=value, low=lower, high=upper, n=n, missing=missing)


def pass_at_k(n: int, successes: int, k: int) -> float | None:
    """The chance that at least one of `k` attempts drawn from these `n` succeeded; None where k is not in 1..n."""
    if not 1 <= k <= n:
        return None
    return 1.0 - math.comb(n - successes, k) / math.comb(n, k)


def pass_hat_k(n: int, successes: int, k: int) -> float | None:
    """The chance that all of `k` attempts drawn from these `n` succeeded (pass^k); None where k is not in 1..n."""
    if not 1 <= k <= n:
        return None
    return math.comb(successes, k) / math.comb(n, k)


def median(values: Sequence[float]) -> float | None:
    """The middle value, or the mean of the two middle ones; None of nothing."""
    return float(np.median(np.asarray(values, dtype=np.float64))) if len(values) else None


def graded(score: float | None, *, margin: float = 0.001) -> float | None:
    """A score squeezed into the open interval (0, 1): graders that take submissions refuse exact ends.

    Both ends move by `margin`; everything between them is kept as it is. None stays None.
    """
    return None if score is None else min(1.0 - margin, max(margin, score))


def _tidy(share: float) -> float:
    """Without the dust of adding decimal fractions: a full score reads 1, not 0.9999999999999998."""
    return round(share, 12)
