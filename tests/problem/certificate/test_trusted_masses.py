"""Masses of trusted labels: the same as multipliers whose flips are zero."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from wdrsvm.problem import LOSSES, Multipliers, RobustProblem, WassersteinBall, dual_bound
from wdrsvm.problem.certificate.multipliers import RowMultipliers
from wdrsvm.problem.certificate.trusted_masses import RowMasses, TrustedMasses

N_ROWS, N_CLASSES = 40, 4


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(N_ROWS) % N_CLASSES
    X = rng.standard_normal((N_ROWS, 3)) + np.eye(N_CLASSES, 3)[y]
    weight = rng.uniform(0.5, 1.5, N_ROWS)
    ball = WassersteinBall(0.1)
    return RobustProblem.of(X, y, weight / weight.sum(), ball, n_classes=N_CLASSES)


@pytest.fixture
def alpha(problem):
    """Masses that are neither feasible nor all positive; one row has none at all."""
    rng = np.random.default_rng(1)
    mass = problem.weight[:, None] * rng.uniform(-0.2, 1.0, (N_ROWS, N_CLASSES))
    mass[0] = 0.0
    return mass


def both(alpha):
    none = np.zeros_like(alpha)
    return RowMasses(alpha), RowMultipliers(alpha, none, none)


def test_row_by_row_they_are_multipliers_without_flips(problem, alpha):
    rng = np.random.default_rng(2)
    y, weight = problem.y, problem.weight
    cost, pull = problem.attainable_flip_cost(), rng.standard_normal(alpha.shape)
    ours, theirs = (
        part.loosened(weight).restored(weight, y, cost, 1.0).tilted(0.3 * pull)
        for part in both(alpha)
    )
    assert_allclose(ours.alpha, theirs.alpha)
    assert_allclose(ours.alpha.sum(axis=1), weight)
    assert_allclose(ours.slopes(y), theirs.slopes(y), atol=1e-15)
    assert_allclose(ours.slopes(y).sum(axis=1), 0.0, atol=1e-15)
    assert ours.value(weight, y) == pytest.approx(theirs.value(weight, y))
    assert ours.spending(cost) == theirs.spending(cost) == 0.0


def test_their_derivatives_are_those_of_multipliers_without_flips(problem, alpha):
    pull = np.random.default_rng(2).standard_normal(alpha.shape)
    mass = np.abs(alpha) + 1e-3
    ours, theirs = both(mass)
    assert_allclose(ours.response(pull), theirs.response(pull))
    columns = np.column_stack([np.ones(N_ROWS), problem.X[:, 0]])
    assert_allclose(ours.curvature(columns), theirs.curvature(columns), atol=1e-15)
    step = 1e-6
    moved = (ours.tilted(step * pull).alpha - ours.tilted(-step * pull).alpha) / (2 * step)
    assert_allclose(ours.response(pull), moved, atol=1e-8)


def test_their_bound_is_that_of_multipliers_without_flips(problem, alpha):
    none = np.zeros_like(alpha)
    expected = dual_bound(problem, Multipliers(alpha, none, none))
    assert dual_bound(problem, TrustedMasses(alpha)) == pytest.approx(expected)
    assert 0 < expected


def test_they_belong_to_the_hinge_alone(alpha):
    assert RowMasses(alpha).belong_to(LOSSES["crammer-singer"])
    assert not RowMasses(alpha).belong_to(LOSSES["logistic"])
