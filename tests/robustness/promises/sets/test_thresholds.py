"""Thresholds of sets: the condition of conformal risk control, and what is least for it."""

import numpy as np
import pytest

from wdrsvm.robustness.promises.sets.thresholds import (
    CONDITION_ROUNDING,
    Wanted,
    best_multiplier,
    blind_multiplier,
    calm_threshold,
    expected_losses,
    least,
    robust_threshold,
)


def rows(seed, n=200):
    """Costs that grow with the threshold, as those of rows do."""
    leads = np.random.default_rng(seed).normal(1.0, 1.0, n)
    return lambda q: np.maximum(leads + q, 0.0) / 1.5


def bound(costs, lam, radius):
    return lam * radius + (np.maximum(1 - lam * costs, 0).sum() + 1) / (len(costs) + 1)


@pytest.mark.parametrize(
    ("n_rows", "lost", "index"), [(19, 0.1, 17), (99, 0.1, 89), (9, 0.1, 8), (20, 0.5, 10)]
)
def test_without_movement_it_is_the_quantile_of_split_conformal(n_rows, lost, index):
    gaps = np.random.default_rng(0).exponential(size=n_rows)
    found = calm_threshold(gaps, Wanted(lost, 0.0))
    assert (
        found
        == np.sort(gaps)[index]
        == np.sort(gaps)[int(np.ceil((n_rows + 1) * (1 - lost) - 1e-9)) - 1]
    )


def test_too_few_rows_have_no_threshold():
    assert calm_threshold(np.zeros(8), Wanted(0.1, 0.0)) == np.inf
    assert calm_threshold(np.zeros(0), Wanted(0.1, 0.0)) == np.inf
    assert robust_threshold(lambda q: np.full(8, q), 8, 0.1, Wanted(0.1, 0.1)) == np.inf
    assert best_multiplier(rows(0), 8, Wanted(0.1, 0.1)) == 0
    assert blind_multiplier(8, Wanted(0.1, 0.1)) == 0


@pytest.mark.parametrize("lam", [0.3, 0.8])
def test_the_threshold_meets_the_condition_and_a_smaller_one_does_not(lam):
    costs_at, wanted = rows(1), Wanted(0.15, 0.1)
    q = robust_threshold(costs_at, 200, lam, wanted)
    assert q > 0
    assert bound(costs_at(q), lam, 0.1) <= 0.15 + 1e-11
    assert bound(costs_at(q - 1e-6), lam, 0.1) > 0.15


def test_a_multiplier_that_costs_too_much_has_no_threshold():
    assert robust_threshold(rows(1), 200, 2.0, Wanted(0.15, 0.1)) == np.inf
    assert robust_threshold(rows(1), 200, 0.0, Wanted(0.15, 0.1)) == np.inf


@pytest.mark.parametrize("seed", range(3))
def test_no_multiplier_makes_the_threshold_of_like_rows_less(seed):
    costs_at, wanted = rows(seed), Wanted(0.15, 0.05)
    best = best_multiplier(costs_at, 200, wanted)
    least_found = robust_threshold(costs_at, 200, best, wanted)
    others = [
        robust_threshold(costs_at, 200, lam, wanted)
        for lam in (*np.linspace(0.05, 2.9, 40), 0.99 * best, 1.01 * best)
    ]
    assert least_found <= min(others) + 1e-9
    blind = robust_threshold(costs_at, 200, blind_multiplier(200, wanted), wanted)
    assert least_found <= blind + 1e-9 < np.inf


def test_what_nothing_can_lose_is_no_loss():
    np.testing.assert_array_equal(
        expected_losses(np.array([0.0, 1.0, 9.0, np.inf]), 0.5), [1.0, 0.5, 0.0, 0.0]
    )
    np.testing.assert_array_equal(expected_losses(np.array([3.0, np.inf]), 0.0), [1.0, 0.0])


def test_the_least_number_is_found_at_any_scale():
    for at in (1e-20, 0.3, 7.0, 1e20):
        assert least(lambda q, at=at: q >= at) == pytest.approx(at, rel=1e-11)
    assert least(lambda q: True) == 0
    assert least(lambda q: False) == np.inf
    assert 0 < least(lambda q: q > 0) < 1e-50


def test_rows_that_can_all_be_spared_need_no_multiplier():
    costs = np.append(np.full(5, 0.001), np.full(195, np.inf))
    wanted = Wanted(0.15, 0.5)
    assert best_multiplier(lambda q: costs, 200, wanted) == 0
    assert robust_threshold(lambda q: costs, 200, 0.0, wanted) == 0


@pytest.mark.parametrize("n_rows", [9, 10**6 - 1])
def test_the_rounding_of_many_rows_does_not_forbid_a_threshold(n_rows):
    """Losses of n rows may exceed what is left by the rounding of n + 1 terms."""
    share = 0.3
    spent = Wanted(share, share - 1 / (n_rows + 1) + 0.9 * CONDITION_ROUNDING)
    assert robust_threshold(lambda q: np.full(1, np.inf), n_rows, 1.0, spent) == 0.0
    more = Wanted(share, share - 1 / (n_rows + 1) + 1.1 * CONDITION_ROUNDING)
    assert robust_threshold(lambda q: np.full(1, np.inf), n_rows, 1.0, more) == np.inf
    lost = np.full(1, 1.0 - 0.9 * CONDITION_ROUNDING * (n_rows + 1))
    even = Wanted(share, share - 1 / (n_rows + 1))
    assert robust_threshold(lambda q: lost, n_rows, 1.0, even) == 0.0


def test_where_all_labels_may_be_lost_no_threshold_is_needed():
    gaps = np.array([1.0, 2.0, 3.0])
    assert calm_threshold(gaps, Wanted(0.999, 0.0)) == 1.0
    assert calm_threshold(gaps, Wanted(1.0, 0.0)) == 0.0
