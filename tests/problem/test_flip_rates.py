"""Flips counted by bins of rates: what is in each bin, and where the budget ends."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.problem import RobustProblem, WassersteinBall
from wdrsvm.problem.flip_rates import (
    LEAST_RATE,
    MOST_RATE,
    FlipsByRate,
    edges_between,
    first_edges,
    risk_by_rate,
)
from wdrsvm.problem.label_flips import Purchase, spend

N, C = 20, 3


def problem_of_flips(seed=0):
    """Losses and costs in eighths, so that rates are exact."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-8, 8, (N, 2)) / 8
    cost = np.array([[0.0, 0.5, 2.0], [1.0, 0.0, 0.5], [0.5, 4.0, 0.0]])
    y, weight = rng.integers(0, C, N), np.full(N, 1 / N)
    return RobustProblem.of(X, y, weight, WassersteinBall(0.2, cost), C)


COEF = np.array([[1.0, -0.5], [0.25, 0.5], [-1.0, 0.0]])
AT = COEF, np.array([0.25, 0.0, -0.5])
ROWS = slice(3, 17)


def by_hand(problem, move_rate, edges):
    """(cost, gain, least, most) of each bin: bin b has the rates of b edges or more."""
    choices = problem.flip_choices_of(*AT, ROWS)
    bins = [[0.0, 0.0, np.inf, -np.inf] for _ in range(len(edges) + 1)]
    for row, _, cost, gain in zip(*choices.flips, strict=True):
        rate, mass = gain / cost, problem.weight[row]
        if rate > move_rate:
            bin_ = bins[sum(edge <= rate for edge in edges)]
            bin_[0] += mass * cost
            bin_[1] += mass * gain
            bin_[2:] = min(bin_[2], rate), max(bin_[3], rate)
    return np.array(bins).T, problem.weight[ROWS] @ choices.loss


def test_every_bin_has_the_flips_of_its_rates():
    """Edges and the rate of moving are rates of flips too: they have to choose a side."""
    for place in (0, 4, -1):
        problem = problem_of_flips()
        rates = np.unique(problem.flip_choices_of(*AT, ROWS).flips.rate)
        edges, move_rate = rates[1::3], rates[place]
        found = FlipsByRate.of(*AT, move_rate, edges, problem, ROWS)
        expected, loss = by_hand(problem, move_rate, edges)
        for part, other in zip(found[1:], expected, strict=True):
            assert part.dtype == np.float64
            np.testing.assert_allclose(part, other, rtol=1e-14)
        assert found.loss == pytest.approx(loss)


@pytest.mark.parametrize("radius", [1e-3, 0.05, 0.2, 10.0])
def test_the_risk_is_that_of_flips_in_their_order(radius):
    """Budgets that end within the flips, and one that outlasts them and moves features."""
    problem = problem_of_flips()
    problem = replace(problem, ball=replace(problem.ball, radius=radius))
    expected, found = problem.risk(*AT), risk_by_rate(problem, *AT)
    assert found.value == pytest.approx(expected.value, rel=1e-9)
    assert found.lam == pytest.approx(expected.lam, rel=1e-6)


def test_counts_of_rows_add_up():
    problem, edges = problem_of_flips(), first_edges()
    of = [
        FlipsByRate.of(*AT, 0.3, edges, problem, slice(*ends)) for ends in ((0, 8), (8, N))
    ]
    whole = FlipsByRate.of(*AT, 0.3, edges, problem, slice(0, N))
    for part, other in zip(of[0].joined(of[1]), whole, strict=True):
        np.testing.assert_allclose(part, other, rtol=1e-13)


def test_only_bins_that_have_flips_are_bought():
    counted = FlipsByRate(
        0.0,
        np.array([0.0, 1.0, 0.0, 2.0, 1.0]),
        np.array([0.0, 1.0, 0.0, 4.0, 3.0]),
        np.array([np.inf, 0.9, np.inf, 1.5, 2.5]),
        np.array([-np.inf, 1.1, -np.inf, 2.4, 3.5]),
    )
    flips, mass = counted.in_bins
    assert flips.row.tolist() == [1, 3, 4]
    assert flips.cost.tolist() == [1.0, 2.0, 1.0]
    assert flips.gain.tolist() == [1.0, 4.0, 3.0]
    assert flips.label.tolist() == [0, 0, 0]
    assert mass.tolist() == [1.0] * 3
    # Bins 4 and 3 are bought whole for 3; what ends in a bin has its rates.
    for budget, rates in ((0.5, (2.5, 3.5)), (2.0, (1.5, 2.4)), (3.2, (0.9, 1.1))):
        bought = spend(flips, mass, budget, 0.0)
        assert counted.rates_at_the_end(bought) == rates
    assert counted.rates_at_the_end(spend(flips, mass, 9.0, 0.0)) == (0.0, 0.0)


def test_nothing_bought_ends_in_no_bin():
    counted = FlipsByRate(0.0, *np.zeros((4, 3)))
    nothing = Purchase(np.empty(0, dtype=np.intp), np.empty(0), 1.0, 0.0, 0.0)
    assert counted.rates_at_the_end(nothing) == (0.0, 0.0)


def test_the_first_bins_have_rates_of_any_size():
    edges = first_edges()
    assert edges[0] == pytest.approx(1e-12) == pytest.approx(LEAST_RATE)
    assert edges[-1] == pytest.approx(1e12) == pytest.approx(MOST_RATE)
    ratios = edges[1:] / edges[:-1]
    np.testing.assert_allclose(ratios, ratios[0])


def test_the_largest_rate_of_a_range_has_a_bin_of_its_own():
    edges = edges_between(0.5, 2.0)
    below, at, above = np.searchsorted(
        edges, [2.0 - 1e-9, 2.0, np.nextafter(2.0, 3.0)], side="right"
    )
    assert below < at < above == len(edges)
    assert edges[0] == 0.5
    widths = np.diff(edges[:-1])
    np.testing.assert_allclose(widths, widths[0])


def test_one_label_only_leaves_empty_bins_of_floats():
    problem = replace(problem_of_flips(), ball=WassersteinBall(0.2))
    counted = FlipsByRate.of(*AT, 0.0, first_edges(), problem, ROWS)
    assert counted.cost.dtype == counted.gain.dtype == np.float64
    assert not counted.cost.any()
    assert (counted.least == np.inf).all()
