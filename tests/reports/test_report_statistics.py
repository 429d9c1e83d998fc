"""Every statistic against an oracle (scipy, or all cases counted out), and at its degenerate ends."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reports.statistics import (
    Cluster,
    Estimate,
    bootstrap_ratio,
    clustered,
    graded,
    median,
    pass_at_k,
    pass_hat_k,
    proportion,
    wilson,
)


@given(n=st.integers(1, 5000), share=st.floats(0, 1), confidence=st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_is_scipys(n: int, share: float, confidence: float) -> None:
    successes = round(n * share)
    expected = stats.binomtest(successes, n).proportion_ci(confidence, method="wilson")
    assert wilson(successes, n, confidence=confidence) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_wilson_at_its_ends() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(0, 1)[0] == 0.0
    assert wilson(0, 1)[1] < 1.0
    assert wilson(1, 1)[1] == 1.0
    assert wilson(1, 1)[0] > 0.0
    with pytest.raises(ValueError, match="impossible counts: 3 of 2"):
        wilson(3, 2)


def test_missing_evidence_stays_in_the_denominator_and_widens_the_interval_upwards_only() -> None:
    known, owed = proportion(3, 10), proportion(3, 10, missing=4)
    assert (owed.value, owed.low, owed.n) == (known.value, known.low, 10) == (0.3, wilson(3, 10)[0], 10)
    assert owed.high == wilson(7, 10)[1]
    assert known.high is not None
    assert owed.high > known.high
    assert proportion(0, 0) == Estimate(value=None)


def test_bootstrap_agrees_with_every_resample_counted_out() -> None:
    """Three clusters have 27 resamples: the percentiles of their ratios are known exactly."""
    values, weights = np.array([0.1, 0.5, 0.9]), np.array([1.0, 0.5, 0.8])
    ratios = sorted(
        values[list(draw)].sum() / weights[list(draw)].sum() for draw in itertools.product(range(3), repeat=3)
    )
    found = bootstrap_ratio(values, values, weights, confidence=0.8)
    assert found is not None
    exact = (np.quantile(ratios, 0.1, method="inverted_cdf"), np.quantile(ratios, 0.9, method="inverted_cdf"))
    assert found == pytest.approx(exact, abs=0.02)


def test_bootstrap_is_close_to_scipys() -> None:
    values = np.random.Generator(np.random.PCG64(3)).beta(2, 3, size=30)
    ones = np.ones(30)
    expected = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=20_000, rng=5).confidence_interval
    assert bootstrap_ratio(values, values, ones) == pytest.approx((expected.low, expected.high), abs=0.006)


def test_bootstrap_repeats_itself_and_needs_two_clusters() -> None:
    values = np.array([0.2, 0.4, 0.9])
    assert bootstrap_ratio(values, values, np.ones(3)) == bootstrap_ratio(values, values, np.ones(3))
    assert bootstrap_ratio(values[:1], values[:1], np.ones(1)) is None
    assert bootstrap_ratio(values[:0], values[:0], np.ones(0)) is None


def test_clustered_weighs_scenarios_by_what_they_are_worth() -> None:
    two = [Cluster(low=0.5, high=0.5, weight=0.5, n=3), Cluster(low=0.0, high=0.2, weight=1.5, n=4, missing=1)]
    estimate = clustered(two)
    assert (estimate.value, estimate.n, estimate.missing) == (0.25, 7, 1)
    assert estimate.low is not None
    assert estimate.high is not None
    assert 0.0 <= estimate.low <= 0.25 <= estimate.high <= 1.0


def test_clustered_at_its_ends() -> None:
    nothing = Estimate(value=None)
    assert clustered([]) == nothing
    assert clustered([Cluster(low=0.0, high=0.0, weight=0.0, n=5)]) == nothing
    assert clustered([Cluster(low=0.4, high=0.4, weight=0.8, n=2)]) == Estimate(value=0.5, n=2)
    owed = clustered([Cluster(low=0.2, high=0.6, weight=0.8, n=4, missing=2)])
    assert owed == Estimate(value=0.25, low=0.25, high=0.75, n=4, missing=2)
    same = clustered([Cluster(low=0.1 * 3, high=0.1 * 3, weight=0.3, n=1) for _ in range(7)])
    assert (same.value, same.low, same.high) == (1.0, 1.0, 1.0)


@given(
    st.lists(
        st.builds(
            lambda weight, low, more, n: Cluster(
                low=low * weight, high=min(1, low + more) * weight, weight=weight, n=n
            ),
            weight=st.floats(0.01, 1),
            low=st.floats(0, 1),
            more=st.just(1.0),
            n=st.integers(1, 9),
        ),
        max_size=6,
    )
)
def test_clustered_is_always_a_number_inside_its_interval(clusters: list[Cluster]) -> None:
    estimate = clustered(clusters, resamples=50)
    if estimate.value is None:
        assert not clusters
        return
    assert math.isfinite(estimate.value)
    if estimate.low is not None and estimate.high is not None:
        assert estimate.low <= estimate.value <= estimate.high


@given(n=st.integers(1, 60), data=st.data())
def test_pass_at_k_and_pass_hat_k_are_hypergeometric(n: int, data: st.DataObject) -> None:
    successes, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    drawn = stats.hypergeom(n, successes, k)
    assert pass_at_k(n, successes, k) == pytest.approx(1 - drawn.pmf(0), abs=1e-9)
    assert pass_hat_k(n, successes, k) == pytest.approx(drawn.pmf(k), abs=1e-9)


def test_draws_that_cannot_be_made_have_no_chance() -> None:
    assert [rule(2, 1, k) for rule in (pass_at_k, pass_hat_k) for k in (0, 3)] == [None] * 4
    assert (pass_at_k(2, 1, 1), pass_hat_k(2, 1, 1)) == (0.5, 0.5)


def test_median() -> None:
    assert median([]) is None
    assert median([4.0]) == 4.0
    assert median([1.0, 9.0, 2.0, 4.0]) == 3.0


@pytest.mark.parametrize(
    ("score", "expected"), [(0.0, 0.001), (1.0, 0.999), (0.5, 0.5), (-2.0, 0.001), (1.0000001, 0.999), (None, None)]
)
def test_graded_scores_lie_strictly_between_zero_and_one(score: float | None, expected: float | None) -> None:
    assert graded(score) == expected
