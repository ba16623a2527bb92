"""Shifts of one-hot columns change no score, and do not spoil steps near the optimum."""

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.solvers import SolverSettings, solve
from wdrsvm.solvers.interior_point.bounded.evaluation import BoundedEvaluation
from wdrsvm.solvers.interior_point.bounded.gauges import hold_gauges
from wdrsvm.solvers.interior_point.bounded.point import BoundedPoint

COSTS = [40.0, np.inf]


def two_groups(norm, fit_intercept):
    """A feature in a box and two categorical ones, the second of which cannot switch."""
    rng = np.random.default_rng(0)
    one_hot = [np.eye(3)[rng.integers(0, 3, 30)] for _ in COSTS]
    X = np.hstack([rng.uniform(size=(30, 1)), *one_hot])
    groups = [([1, 2, 3], COSTS[0]), ([4, 5, 6], COSTS[1])]
    ball = WassersteinBall(0.1, 2.0, norm, support=(0.0, 1.0), categorical=groups)
    y, weight = np.arange(30) % 3, np.full(30, 1 / 30)
    return RobustProblem.of(X, y, weight, ball, 3, fit_intercept=fit_intercept)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize(("fit_intercept", "n_shifts"), [(True, 2), (False, 1)])
def test_shifts_change_no_loss_and_no_constraint(norm, fit_intercept, n_shifts):
    evaluation = BoundedEvaluation.of(two_groups(norm, fit_intercept))
    layout = evaluation.layout()
    assert layout.shifts.shape == (n_shifts, layout.n_shared)
    assert np.linalg.matrix_rank(layout.shifts) == n_shifts
    changes = np.zeros((n_shifts, layout.lift.shape[1]))
    changes[:, : layout.n_shared] = layout.shifts
    design = layout.design(evaluation.normalised.moves.rows)
    for rows in (design, layout.sides, layout.cone):
        np.testing.assert_allclose(rows @ changes.T, 0.0, atol=1e-14)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_held_gauges_leave_no_direction_without_curvature(fit_intercept):
    evaluation = BoundedEvaluation.of(two_groups("l2", fit_intercept))
    point = BoundedPoint(evaluation.layout(), evaluation.normalised)
    design = point.layout.design(evaluation.normalised.moves.rows)
    design = design[:, : point.layout.n_shared]
    # The curvature of a loss of each class alone, without that of their common shift.
    centred = np.eye(3) - 1 / 3
    matrix = np.kron(centred, design.T @ design)
    free = np.linalg.matrix_rank(matrix)
    hold_gauges(matrix, point.layout, 3)
    matrix = np.tril(matrix) + np.tril(matrix, -1).T
    assert free < len(matrix) == np.linalg.matrix_rank(matrix)
    assert np.linalg.eigvalsh(matrix).min() > 0


@pytest.mark.parametrize("solver", ["interior-point", "newton"])
def test_one_hot_columns_beside_an_intercept_reach_a_tight_gap(solver):
    rng = np.random.default_rng(2)
    X = np.column_stack([np.eye(4)[rng.integers(0, 4, 34)], 100 * rng.normal(size=34)])
    ball = WassersteinBall(0.04, 100.0, categorical=[([0, 1, 2, 3], 40.0)])
    problem = RobustProblem.of(X, np.arange(34) % 4, np.full(34, 1 / 34), ball, 4)
    result = solve(problem, solver, settings=SolverSettings(tol=1e-8))
    assert result.certificate.relative_gap < 1e-8
