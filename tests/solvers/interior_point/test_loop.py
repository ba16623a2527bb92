"""The interior point: its gap, its honesty when stopped, and awkward data."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import scale

from wdrsvm.problem import RobustProblem, WassersteinBall, dual_bound
from wdrsvm.solvers.cones.kernels import native
from wdrsvm.solvers.interior_point.loop import interior_point
from wdrsvm.solvers.reference.peers import solve_clarabel, solve_highs
from wdrsvm.solvers.result import SolverSettings, SolverStatus

from ...agreement.instances import random_problem
from ..cases import (
    DEGENERATE,
    assert_solved,
    beyond_the_constant_classifier,
    clusters,
    every_norm,
    problem_of,
)

DEFAULT = SolverSettings()


def optimum(problem):
    """The value an independent solver finds."""
    pytest.importorskip("highspy")
    pytest.importorskip("clarabel")
    judge = solve_clarabel if problem.ball.norm == "l2" else solve_highs
    return judge(problem).value


@every_norm
@pytest.mark.parametrize("build", DEGENERATE)
def test_awkward_data_are_solved(build, norm):
    problem = build(norm)
    result = interior_point(problem, DEFAULT)
    assert_solved(problem, result, 1e-6)
    expected = optimum(problem)
    assert result.certificate.objective == pytest.approx(expected, rel=5e-6, abs=1e-7)


@every_norm
def test_features_of_all_sizes_are_solved(norm):
    for seed in range(20):
        X, y = clusters(seed=seed)
        problem = problem_of(X * 10.0 ** np.array([-6, -2, 2, 6]), y, norm)
        assert_solved(problem, interior_point(problem, DEFAULT), 1e-6)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-8])
def test_the_gap_asked_for_is_reached(seed, tol):
    problem = random_problem(seed)
    assert_solved(problem, interior_point(problem, SolverSettings(tol=tol)), tol)


@pytest.mark.parametrize("seed", [1, 2, 7])
def test_a_gap_next_to_rounding_is_reached(seed):
    """Without restored multipliers, some of these runs stall at gaps of 1e-9 to 4e-9."""
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    X, y = scale(X)[order], y[order]
    settings = SolverSettings(tol=1e-9)
    for radius in [0.0027434, 0.00068912]:
        for rows, _ in StratifiedKFold(5).split(X, y):
            problem = problem_of(X[rows], y[rows], "l2", radius, np.inf)
            assert_solved(problem, interior_point(problem, settings), 1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_no_radius_is_solved(seed):
    problem = random_problem(seed, radius=0.0)
    assert_solved(problem, interior_point(problem, SolverSettings(tol=1e-8)), 1e-8)


@every_norm
def test_beyond_the_constant_classifier_all_coefficients_vanish(norm):
    result = interior_point(beyond_the_constant_classifier(norm), DEFAULT)
    assert result.certificate.objective == pytest.approx(1.0, rel=1e-6)
    assert np.abs(result.coef).max() < 1e-6


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_equal_columns_share_their_coefficient(norm):
    """The solution is central on the face of solutions, not a vertex of it."""
    X, y = clusters()
    problem = problem_of(np.column_stack([X, X[:, 0]]), y, norm)
    coef = interior_point(problem, SolverSettings(tol=1e-7)).coef
    np.testing.assert_allclose(coef[:, 0], coef[:, -1], atol=1e-4)


@pytest.mark.parametrize("cost", [np.full(4, np.inf), [1.0, np.inf, 1.0, 1.0]])
def test_a_constant_column_that_cannot_be_moved_does_no_harm(cost):
    """Rounding in its weighted mean must not count as spread."""
    X, y = clusters(60)
    X[:, 1] = 1000 / 7
    for seed in range(5):
        weight = np.random.default_rng(seed).exponential(size=60)
        problem = problem_of(X, y, "l1", feature_cost=cost, weight=weight)
        assert_solved(problem, interior_point(problem, DEFAULT), 1e-6)


def test_rows_of_zero_weight_do_no_harm():
    X, y = clusters()
    weight = np.where(np.arange(45) % 7, 1.0, 0.0)
    problem = problem_of(X, y, "l1", weight=weight)
    assert_solved(problem, interior_point(problem, DEFAULT), 1e-6)


def test_the_intercept_is_zero_unless_asked_for():
    X, y = clusters()
    problem = problem_of(X, y, fit_intercept=False)
    np.testing.assert_array_equal(interior_point(problem, DEFAULT).intercept, 0.0)


@pytest.mark.parametrize("seed", range(6))
def test_classes_sum_to_zero(seed):
    result = interior_point(random_problem(seed), DEFAULT)
    np.testing.assert_allclose(result.coef.sum(axis=0), 0.0, atol=1e-10)
    assert result.intercept.sum() == pytest.approx(0.0, abs=1e-9)


@every_norm
def test_sparse_rows_are_as_dense_ones(norm):
    problem = problem_of(*clusters(), norm)
    dense = interior_point(problem, DEFAULT)
    found = interior_point(problem.with_rows(X=sparse.csr_array(problem.X)), DEFAULT)
    np.testing.assert_allclose(found.coef, dense.coef, atol=1e-8)


def test_the_same_problem_has_the_same_solution():
    problem = random_problem(3)
    one, other = interior_point(problem, DEFAULT), interior_point(problem, DEFAULT)
    np.testing.assert_array_equal(one.coef, other.coef)
    assert one.certificate == other.certificate


@every_norm
@pytest.mark.parametrize("max_iter", [1, 2, 5])
def test_stopped_early_it_tells_its_true_gap(max_iter, norm):
    problem = problem_of(*clusters(), norm)
    best = interior_point(problem, SolverSettings(tol=1e-9)).certificate
    result = interior_point(problem, SolverSettings(max_iter=max_iter))
    found = result.certificate
    assert result.status is SolverStatus.MAX_ITER
    assert result.n_iter == len(result.history) == max_iter
    assert found.objective == problem.risk(result.coef, result.intercept).value
    assert 0 <= found.dual_bound <= best.objective <= found.objective
    assert found.dual_bound <= dual_bound(problem, result.multipliers) + 1e-12


def test_more_iterations_narrow_the_gap():
    problem = problem_of(*clusters(), "l1")
    gaps = [
        interior_point(problem, SolverSettings(max_iter=k)).certificate.gap
        for k in (1, 4, 8, 100)
    ]
    assert (np.diff(gaps) < 0).all()


def test_every_iteration_is_told_to_the_callback():
    records = []
    problem = problem_of(*clusters(), "l1")
    result = interior_point(problem, SolverSettings(callback=records.append))
    assert tuple(records) == result.history
    assert [record.n_iter for record in records] == list(range(1, result.n_iter + 1))
    assert (np.diff([record.seconds for record in records]) >= 0).all()
    assert (np.diff([record.dual_bound for record in records[-2:]]) >= 0).all()
    last = records[-1]
    assert last.gap == last.objective - last.dual_bound
    assert last.objective == pytest.approx(result.certificate.objective, rel=1e-5)
    assert last.dual_bound == pytest.approx(result.certificate.dual_bound)


@pytest.mark.parametrize("radius", [0.0, 0.05])
def test_the_history_tells_the_objective_where_nothing_can_be_moved(radius):
    X, y = clusters()
    cost = np.full(4, np.inf)
    problem = problem_of(X, y, "l2", radius, np.inf, feature_cost=cost)
    result = interior_point(problem, DEFAULT)
    assert_solved(problem, result, 1e-6)
    last = result.history[-1].objective
    assert last == pytest.approx(result.certificate.objective, rel=1e-5)


def test_an_exception_of_the_callback_stops_the_solver():
    def stop(record):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interior_point(problem_of(*clusters()), SolverSettings(callback=stop))


class TestNormalSystem:
    """The linear system of a step, also where rounding has made it indefinite."""

    @staticmethod
    def held(matrix, first):
        """The matrix with its gauge fixed, both triangles."""
        held = matrix.copy()
        native.hold_gauge(held, 3, 2, first)
        return np.tril(held) + np.tril(held, -1).T

    def test_rows_and_columns_of_all_sizes_are_solved(self):
        rng = np.random.default_rng(0)
        half, scale = rng.normal(size=(6, 6)), 10.0 ** np.arange(-9, 9, 3)
        matrix = scale[:, None] * (half @ half.T) * scale
        expected = rng.normal(size=6) / scale
        found = native.NormalSystem(matrix).solve(matrix @ expected)
        np.testing.assert_allclose(found * scale, expected * scale, rtol=1e-9)

    @pytest.mark.parametrize("shift", [1e-13, 1e-9])
    def test_a_singular_system_is_solved_within_its_range(self, shift):
        """The factor needs a ridge; refinement removes most of what that leaves."""
        half = np.random.default_rng(0).normal(size=(6, 3))
        matrix = half @ half.T - shift * np.eye(6)
        assert np.linalg.eigvalsh(matrix)[0] < 0
        rhs = half @ np.ones(3)
        found = native.NormalSystem(matrix).solve(rhs)
        assert np.abs(matrix @ found - rhs).max() <= 10 * shift

    def test_the_gauge_is_fixed_from_a_column_on(self):
        rng = np.random.default_rng(0)
        laplacian = np.array([[2.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0]])
        matrix = np.zeros((7, 7))
        matrix[:6, :6] = np.kron(laplacian, np.diag(rng.uniform(1.0, 2.0, 2)))
        matrix[6, 6] = 1.0
        held = self.held(matrix, 1)
        shifts = np.kron(np.ones(3), np.eye(2))
        np.testing.assert_allclose(held[:6, :6] @ shifts[0], 0.0, atol=1e-12)
        assert shifts[1] @ held[:6, :6] @ shifts[1] > 1.0
        assert np.linalg.eigvalsh(self.held(held, 0))[0] > 0

    def test_a_column_without_curvature_is_held(self):
        matrix = np.zeros((7, 7))
        matrix[6, 6] = 1.0
        assert np.linalg.eigvalsh(self.held(matrix, 0))[0] > 0


def test_the_result_names_its_solver_and_says_nothing(capsys):
    assert interior_point(problem_of(*clusters()), DEFAULT).solver == "interior-point"
    assert capsys.readouterr() == ("", "")


def test_rows_without_any_column_have_the_loss_of_equal_scores():
    X, y = np.zeros((4, 0)), np.array([0, 1, 2, 0])
    ball = WassersteinBall(0.1, 1.0, "l2")
    problem = RobustProblem.of(
        X, y, np.full(4, 0.25), ball, n_classes=3, fit_intercept=False
    )  # fmt: skip
    assert interior_point(problem, DEFAULT).certificate.objective == pytest.approx(1.0)
