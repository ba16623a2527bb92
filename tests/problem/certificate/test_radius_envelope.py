"""Bounds that multipliers found at one radius and label cost prove at others."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.problem import LOSSES, RobustProblem, WassersteinBall
from wdrsvm.problem.certificate.bound import dual_bound, dual_point
from wdrsvm.problem.certificate.radius_envelope import DualPoint, envelope
from wdrsvm.solvers import SolverSettings, solve


def random_problem(rng, norm="l2", loss="crammer-singer", label_cost=1.0):
    X, y = rng.normal(size=(30, 3)), rng.permutation(np.arange(30) % 3)
    X[np.arange(30), y] += 1.0
    ball = WassersteinBall(0.1, label_cost, norm)
    weight = rng.dirichlet(np.ones(30))
    return RobustProblem.of(X, y, weight, ball, n_classes=3, loss=LOSSES[loss])


def test_the_envelope_is_the_minimum_over_prices():
    """Its definition, by brute force over lam."""
    rng = np.random.default_rng(0)
    prices = np.linspace(0, 50, 200_001)
    for _ in range(20):
        spending, value = rng.uniform(0, 2, 6), rng.uniform(0, 1, 6)
        radius = rng.uniform(0.1, 2)
        lines = value - prices[:, None] * spending
        least = (radius * prices + np.maximum(lines.max(axis=1), 0)).min()
        assert envelope(spending, value, radius) == pytest.approx(least, abs=1e-3)


def test_infinite_spending_proves_nothing():
    assert envelope(np.array([np.inf]), np.array([1.0]), 1.0) == 0.0
    some = envelope(np.array([0.5, np.inf, 3.0]), np.array([0.25, 9.0, 0.5]), 1.75)
    assert some == pytest.approx(0.375)


def test_scaling_into_the_budget():
    point = DualPoint(0.8, 1.0, 1.0)
    assert point.bound(1.0) == pytest.approx(0.4)
    assert point.bound(3.0) == 0.8


@pytest.mark.parametrize("loss", ["crammer-singer", "logistic"])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_multipliers_bound_the_whole_plane(norm, loss):
    """Never above the optimum, wherever it is asked for, and tight where it was found."""
    rng = np.random.default_rng(1)
    problem = random_problem(rng, norm, loss)
    found = solve(problem, settings=SolverSettings(tol=1e-7))
    point = dual_point(problem, found.multipliers)
    assert point.bound(0.1) == dual_bound(problem, found.multipliers)
    assert point.bound(0.1) >= found.certificate.objective - 1e-5
    for radius, cost in rng.uniform(0.02, 2.0, size=(6, 2)):
        there = replace(problem, ball=replace(problem.ball, radius=radius, label_cost=cost))
        spending = np.array([point.on_moves + cost * point.on_flips])
        bound = envelope(spending, np.array([point.value]), radius)
        assert bound <= solve(there).certificate.objective + 1e-9


def test_a_bound_of_zero_costs_no_multipliers():
    problem = random_problem(np.random.default_rng(2))
    found = solve(problem)
    assert dual_point(problem, found.multipliers, enough=0.0).value == 0.0


def test_what_spends_nothing_is_left_whole_without_a_budget():
    free = DualPoint(0.3, 0.0, 0.0)
    assert (free.share(0.0), free.bound(0.0)) == (1.0, 0.3)
    dear = DualPoint(0.3, 0.5, 1.5)
    assert dear.spending == 2.0
    assert (dear.share(2.0), dear.share(0.5), dear.share(0.0)) == (1.0, 0.25, 0.0)


def test_the_envelope_by_hand():
    """From the origin over (1, 4) and (3, 6), then level; (2, 4.5) lies below."""
    spending, value = np.array([2.0, 1.0, 3.0, 4.0, np.inf]), np.array([4.5, 4, 6, 5, 99])
    for radius, bound in (
        (0.0, 0.0),
        (0.5, 2.0),
        (1.0, 4.0),
        (2.0, 5.0),
        (3.0, 6.0),
        (9.0, 6.0),
    ):
        assert envelope(spending, value, radius) == pytest.approx(bound)
    assert envelope(np.array([0.0, 2.0]), np.array([1.0, 3.0]), 1.0) == pytest.approx(2.0)
    assert envelope(np.array([1.0]), np.array([-1.0]), 0.5) == 0.0
