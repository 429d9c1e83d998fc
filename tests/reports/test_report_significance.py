"""Tests of significance, the correction and the ratings against oracles: scipy, or their definitions spelled out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from reports.ratings import MIDDLE, ratings, strengths
from reports.significance import exact_test, holm, pairs_needed, sign_flip, sign_test


def square(n: int, *, most: int) -> st.SearchStrategy[list[list[int]]]:
    """n × n counts."""
    return st.lists(st.lists(st.integers(0, most), min_size=n, max_size=n), min_size=n, max_size=n)


P_VALUES = st.lists(st.floats(0, 1), max_size=7)


@given(st.integers(0, 300), st.integers(0, 300))
def test_the_sign_test_is_scipys_exact_binomial(wins: int, losses: int) -> None:
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign_test(wins, losses) == pytest.approx(expected, rel=1e-9)


def test_the_sign_test_of_many_pairs_is_quick_and_finite() -> None:
    assert sign_test(60_000, 40_000) == pytest.approx(0.0, abs=1e-300)
    assert sign_test(50_100, 49_900) == pytest.approx(stats.binomtest(50_100, 100_000).pvalue, rel=1e-6)


@given(st.lists(st.integers(-8, 8).map(lambda eighths: eighths / 8), max_size=8))
@settings(max_examples=60, deadline=None)
def test_sign_flips_are_scipys_permutation_test(differences: list[float]) -> None:
    if len(differences) < 2:
        assert sign_flip(differences) == 1.0
        return
    expected = stats.permutation_test(
        (np.array(differences),), lambda x, axis: x.sum(axis), permutation_type="samples", n_resamples=np.inf
    ).pvalue
    assert sign_flip(differences) == pytest.approx(expected)


def test_drawn_sign_flips_come_close_to_all_of_them() -> None:
    many = np.random.Generator(np.random.PCG64(4)).normal(0.3, 1.0, size=18)
    signs = np.array(list(itertools.product((1, -1), repeat=18)), dtype=np.int8)
    exact = (np.abs(signs @ many) >= abs(many.sum()) - 1e-9).mean()
    assert sign_flip(list(many)) == pytest.approx(exact, abs=0.01)
    assert sign_flip([1.0] * 60) == pytest.approx(1 / 20_001)


@given(st.data())
def test_the_exact_test_of_one_stratum_is_scipys_fisher(data: st.DataObject) -> None:
    n = data.draw(st.tuples(st.integers(0, 120), st.integers(0, 120)))
    successes = (data.draw(st.integers(0, n[0])), data.draw(st.integers(0, n[1])))
    expected = stats.fisher_exact([[s, whole - s] for s, whole in zip(successes, n, strict=True)]).pvalue
    found = exact_test([(successes[0], n[0])], [(successes[1], n[1])])
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-12)


STRATA = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), max_size=2)


@given(STRATA)
@settings(max_examples=30, deadline=None)
def test_the_exact_test_of_strata_counts_every_allotment(strata: list[tuple[int, int, int, int]]) -> None:
    """Shuffle within each stratum which attempts were now: every way is as likely as any other."""
    before = [(won, won + lost) for won, _, lost, _ in strata]
    now = [(won, won + lost) for _, won, _, lost in strata]
    ways = [
        [sum(chosen) for chosen in itertools.combinations([1] * (b + n) + [0] * (m - b + k - n), k)]
        for (b, m), (n, k) in zip(before, now, strict=True)
    ]
    totals = [sum(each) for each in itertools.product(*ways)]
    likely = {total: totals.count(total) for total in totals}
    seen = likely[sum(won for won, _ in now)]
    expected = sum(count for count in likely.values() if count <= seen) / len(totals)
    assert exact_test(before, now) == pytest.approx(expected)


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="impossible counts"):
        exact_test([(3, 2)], [(0, 5)])
    assert exact_test([], []) == 1.0


@given(P_VALUES)
def test_holm_is_bonferroni_closed_over_every_set_of_hypotheses(p_values: list[float]) -> None:
    """An adjusted p is the largest Bonferroni p of the sets that hold the hypothesis (Marcus, Peritz, Gabriel 1976)."""
    every = range(len(p_values))
    sets = [chosen for size in range(1, len(p_values) + 1) for chosen in itertools.combinations(every, size)]
    bonferroni = {chosen: min(1.0, len(chosen) * min(p_values[index] for index in chosen)) for chosen in sets}
    expected = tuple(max(bonferroni[chosen] for chosen in sets if index in chosen) for index in every)
    assert holm(p_values) == pytest.approx(expected)


@pytest.mark.parametrize(("better", "worse"), [(0.3, 0.1), (0.25, 0.0), (0.2, 0.12), (1.0, 0.0)])
def test_so_many_pairs_have_about_the_power_they_promise(better: float, worse: float) -> None:
    n = pairs_needed(better, worse)
    assert n is not None
    draws = np.random.Generator(np.random.PCG64(1)).multinomial(n, [better, worse, 1 - better - worse], size=2000)
    called = np.mean([sign_test(int(wins), int(losses)) < 0.05 for wins, losses, _ in draws])
    # The formula is an approximation of the exact test's power, and the exact test is the more careful one.
    assert called >= 0.65 or n < 10
    assert pairs_needed(worse, better) == n


def test_no_number_of_pairs_tells_equals_apart() -> None:
    assert pairs_needed(0.2, 0.2) is None
    assert pairs_needed(0.0, 0.0) is None


def penalised(theta: np.ndarray, wins: np.ndarray) -> float:
    """Minus the log-likelihood, with each agent's draw against an opponent of strength 0."""
    ahead = theta[:, None] - theta[None, :]
    own = -0.5 * (np.logaddexp(0, -theta) + np.logaddexp(0, theta)).sum()
    return -float(-(wins * np.logaddexp(0, -ahead)).sum() + own)


@given(st.integers(2, 5).flatmap(lambda n: square(n, most=60)))
@settings(max_examples=40, deadline=None)
def test_strengths_are_where_scipy_finds_the_likeliest(counts: list[list[int]]) -> None:
    wins = np.array(counts, dtype=np.float64)
    np.fill_diagonal(wins, 0.0)
    found = strengths(wins)
    best = optimize.minimize(penalised, np.zeros(len(wins)), args=(wins,), method="BFGS", options={"gtol": 1e-8})
    assert found == pytest.approx(best.x, abs=1e-3)
    assert penalised(found, wins) <= best.fun + 1e-7


def test_two_agents_are_rated_as_the_algebra_says() -> None:
    """Without the prior a 10:1 record is 400 points; the two draws pull it in a little."""
    apart = np.diff(ratings_of([[0, 1000.0], [100.0, 0]]))[0]
    assert -400 < apart < -395
    assert sum(ratings_of([[0, 3.0], [3.0, 0]])) == pytest.approx(2 * MIDDLE)


def ratings_of(wins: list[list[float]]) -> list[float]:
    return [estimate.value for estimate in ratings(np.array([wins])) if estimate.value is not None]


def test_ratings_at_their_ends() -> None:
    assert ratings(np.zeros((1, 0, 0))) == ()
    lonely, other = ratings(np.zeros((3, 2, 2)))
    assert (lonely.value, other.value) == (None, None)
    always, never = ratings(np.array([[[0.0, 50.0], [0.0, 0.0]]] * 4))
    assert always.value is not None
    assert never.value is not None
    assert all(math.isfinite(value) for value in (always.value, never.value))
    assert always.value - MIDDLE == pytest.approx(MIDDLE - never.value)
    assert (always.low, always.n) == (always.value, 200)
    one = ratings(np.array([[[0.0, 2.0], [1.0, 0.0]]]))[0]
    assert (one.low, one.high, one.n) == (None, None, 3)


@given(st.lists(square(3, most=5), min_size=2, max_size=4))
@settings(max_examples=15, deadline=None)
def test_a_rating_lies_in_its_interval(counts: list[list[list[int]]]) -> None:
    wins = np.array(counts, dtype=np.float64)
    wins[:, range(3), range(3)] = 0.0
    for estimate in ratings(wins):
        if estimate.value is not None:
            assert estimate.low is not None
            assert estimate.high is not None
            assert estimate.low <= estimate.value <= estimate.high
