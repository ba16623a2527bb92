"""Few rows with many features: the same system, eliminated feature by feature."""

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem, certify
from wdrsvm.solvers import SolverSettings, SolverStatus, choose, solve
from wdrsvm.solvers.cones.kernels import native, weighted_gram
from wdrsvm.solvers.cones.wide_system import WideSteps, laplacian_inverses, row_roots
from wdrsvm.solvers.interior_point.point import Iterate, ScaledData
from wdrsvm.solvers.scaling import Scaling


def wide_problem(norm, label_cost=np.inf, n_rows=12, n_features=300, n_classes=3):
    rng = np.random.default_rng(1)
    y = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, n_features))
    ball = WassersteinBall(0.3, label_cost, norm)
    return RobustProblem.of(X, y, np.full(n_rows, 1 / n_rows), ball, n_classes)


def point_of(problem):
    """A point after a few steps, prepared for the next."""
    iterate = Iterate(ScaledData.of(problem, Scaling.of(problem)), problem.norm)
    assert iterate.is_wide
    iterate.run(3, 0.0)
    return iterate, native.SampleMoves(iterate.rows), native.Moves(iterate.cone)


@pytest.mark.tiny
@pytest.mark.parametrize("norm", ["l1", "linf"])
@pytest.mark.parametrize("label_cost", [np.inf, 20.0])
def test_steps_agree_with_the_dense_system(norm, label_cost):
    iterate, on_rows, on_cone = point_of(wide_problem(norm, label_cost, n_features=140))
    data, shape = iterate.data, iterate.coef.shape
    matrix = weighted_gram(on_rows.curvature(), data.columns.T)
    dense = on_cone.completed(matrix)
    wide = WideSteps(iterate.rows, iterate.cone, data.columns, data.kappa, data.y)
    wide.form()
    rhs = np.random.default_rng(0).normal(size=iterate.coef.size + 1)
    rhs[:-1].reshape(shape)[:] -= rhs[:-1].reshape(shape).mean(axis=0)
    first, second = (system.solve(rhs) for system in (dense, wide))
    shifted = [part[:-1].reshape(shape) for part in (first, second)]
    left, right = (coef - coef.mean(axis=0) for coef in shifted)
    np.testing.assert_allclose(left, right, rtol=1e-3, atol=1e-4 * np.abs(left).max())
    assert first[-1] == pytest.approx(second[-1], rel=1e-3)


@pytest.mark.parametrize("label_cost", [np.inf, 20.0])
def test_roots_are_those_of_the_curvature(label_cost):
    iterate, on_rows, _ = point_of(wide_problem("l1", label_cost))
    spring, sums = iterate.rows.springs()
    data, curvature = iterate.data, on_rows.curvature()
    roots = row_roots(spring.transpose(0, 2, 1), sums.T, data.kappa, data.y)
    np.testing.assert_allclose(
        roots @ roots.transpose(0, 2, 1), curvature, rtol=1e-9, atol=1e-9 * curvature.max()
    )


@pytest.mark.parametrize("norm", ["l1", "linf"])
@pytest.mark.parametrize("label_cost", [np.inf, 2.0])
def test_few_rows_are_solved_by_interior_point(norm, label_cost):
    problem = wide_problem(norm, label_cost, n_rows=20, n_features=3000)
    assert choose(problem, 1e-6) == "interior-point"
    found = solve(problem)
    assert found.solver == "interior-point"
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.holds(1e-6)


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_curvature_that_helps_the_elimination_is_not_in_the_solution(norm):
    # With it in the solution, multipliers drift from feasibility, and the bound is lost.
    problem = wide_problem(norm, n_features=50)
    found = solve(problem, "interior-point", SolverSettings(tol=1e-10))
    assert found.status is SolverStatus.CONVERGED
    assert certify(problem, found.coef, found.intercept, found.multipliers).holds(1e-10)


def test_inverses_keep_their_digits_between_ties_of_any_size():
    ties = np.zeros((3, 3, 1))
    for i, j, tie in ((0, 1, 1e12), (0, 2, 1e-12), (1, 2, 3e-12)):
        ties[i, j] = ties[j, i] = tie
    inverse = laplacian_inverses(ties)[..., 0]
    # Classes 0 and 1 are one for all that class 2 sees of them.
    np.testing.assert_allclose(inverse[:2, :2], np.full((2, 2), 1 / 4e-12), rtol=1e-10)
    assert not inverse[2].any()
