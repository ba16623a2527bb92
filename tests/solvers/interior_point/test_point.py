"""A point of the interior-point method, where numbers end."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.solvers.interior_point.point import Iterate, ScaledData
from wdrsvm.solvers.scaling import Scaling

from ..cases import three_clusters


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_an_interior_point_does_not_follow_an_overflow(norm):
    problem = three_clusters(norm=norm)
    data = ScaledData.of(problem, Scaling.of(problem))
    iterate = Iterate(replace(data, linear=np.full_like(data.linear, np.nan)), norm)
    before = iterate.coef.copy(), iterate.lam
    iterate.run(1, 0.0)
    assert iterate.is_stuck
    np.testing.assert_array_equal(iterate.coef, before[0])
    assert iterate.lam == before[1]


def few_rows(norm, label_cost):
    rng = np.random.default_rng(0)
    y = np.arange(12) % 3
    X = rng.normal(size=(12, 2)) + 2 * rng.normal(size=(3, 2))[y]
    ball = WassersteinBall(0.05, label_cost, norm)
    return RobustProblem.of(X, y, np.full(12, 1 / 12), ball, 3)


@pytest.mark.tiny
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_slacks_are_those_of_the_point(norm):
    """Steps move slacks, coefficients, s and h alike, and the restoring step as well."""
    problem = few_rows(norm, 0.5)
    data = ScaledData.of(problem, Scaling.of(problem))
    iterate = Iterate(data, norm)
    iterate.run(5, 0.0)
    for _ in range(2):
        slack, mult, s, h = iterate.rows.arrays()
        scores, rows = iterate.coef @ data.columns, np.arange(12)
        others = np.arange(3)[:, None] != data.y
        own = s - scores + scores[data.y, rows] - others
        np.testing.assert_allclose(slack[0], own, atol=1e-9)
        np.testing.assert_allclose(slack[1], h - scores, atol=1e-9)
        flipped = s - h + scores - 1 + iterate.lam * np.where(others, data.kappa.T, 0.0)
        np.testing.assert_allclose(slack[2][others], flipped[others], atol=1e-9)
        rounding = 1e-7 * np.random.default_rng(0).normal(size=mult.shape)
        iterate.rows.put(slack, mult * (1 + rounding), s, h)
        iterate.restore()
    assert residual(iterate) < 1e-10


def residual(iterate):
    """How far the multipliers of each sample are from a sum of its weight."""
    alpha, _, phi = iterate.rows.multipliers()
    return np.abs(alpha.sum(axis=1) + phi.sum(axis=1) - iterate.data.weight).max()


@pytest.mark.parametrize("label_cost", [0.5, np.inf])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_restored_multipliers_meet_their_equalities(norm, label_cost):
    problem = three_clusters(norm=norm, label_cost=label_cost)
    iterate = Iterate(ScaledData.of(problem, Scaling.of(problem)), norm)
    iterate.run(8, 0.0)
    slack, mult, s, h = iterate.rows.arrays()
    rounding = 1e-6 * np.random.default_rng(0).normal(size=mult.shape)
    iterate.rows.put(slack, mult * (1 + rounding), s, h)
    objective, gap = iterate.objective, iterate.gap
    assert residual(iterate) > 1e-7
    iterate.restore()
    assert residual(iterate) < 1e-10
    assert iterate.gap == pytest.approx(gap, rel=1e-3)
    assert iterate.objective == pytest.approx(objective, rel=1e-3)


def test_multipliers_far_from_their_equalities_stay():
    """To bring them back would be no slight step."""
    problem = three_clusters(label_cost=np.inf)
    iterate = Iterate(ScaledData.of(problem, Scaling.of(problem)), "l2")
    iterate.run(8, 0.0)
    slack, mult, s, h = iterate.rows.arrays()
    iterate.rows.put(slack, 2 * mult, s, h)
    iterate.restore()
    np.testing.assert_array_equal(iterate.rows.arrays()[1], 2 * mult)
