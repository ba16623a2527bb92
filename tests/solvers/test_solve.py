"""Every solver on problems of a few rows, where it is judged by another one.

Small enough to run with uncompiled kernels too, where their lines are counted.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.problem.loss import LOSSES, Loss
from wdrsvm.solvers import SOLVERS, SolverSettings, SolverStatus, Start, choose, solve
from wdrsvm.solvers.solve import _no_worse_than_known

from .cases import BOUNDED_TOL, odd_problem, rows_in_line, three_clusters

NORMS = ["l1", "l2", "linf"]
MATRIX = np.array([[0.0, 0.5, np.inf], [2.0, 0.0, 0.3], [1.0, 0.7, 0.0]])
COSTS = {"inf": np.inf, "half": 0.5, "none": 0.0, "matrix": MATRIX}
CRAMMER_SINGER = LOSSES["crammer-singer"]


def tiny(norm="l2", cost="half", radius=0.05, n_features=2, loss=CRAMMER_SINGER, **others):
    """Nine rows of three classes, three of them on the wrong side."""
    rng = np.random.default_rng(7)
    y = np.arange(9) % 3
    X = rng.normal(size=(9, n_features)) + 1.5 * np.eye(3)[y][:, :1] - (y == 2)[:, None]
    weight = rng.uniform(0.5, 1.5, size=9)
    ball = WassersteinBall(radius, COSTS[cost], norm)
    return RobustProblem.of(X, y, weight / weight.sum(), ball, 3, loss=loss, **others)


def assert_bracketed(problem, name, tol=1e-4, start=None):
    """Solved to the gap; the judge's optimum lies within; the risk is recomputed."""
    found = solve(problem, name, SolverSettings(tol=tol), start)
    judge = solve(problem, settings=SolverSettings(tol=1e-7)).certificate
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.holds(tol)
    assert found.certificate.dual_bound <= judge.objective + 1e-9
    assert found.certificate.objective >= judge.dual_bound - 1e-9
    risk = problem.risk(found.coef, found.intercept).value
    assert found.certificate.objective == pytest.approx(risk, rel=1e-12)
    return found


SECOND = ["interior-point", "newton"]


@pytest.mark.tiny
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("name", [*SECOND, "first-order"])
def test_tiny_problems_are_solved(name, cost, norm):
    assert_bracketed(tiny(norm, cost), name, 1e-2 if name == "first-order" else 1e-4)


@pytest.mark.tiny
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", [*SECOND, "first-order"])
def test_more_features_than_rows_and_no_intercept(name, norm):
    tol = 1e-2 if name == "first-order" else 1e-4
    assert_bracketed(tiny(norm, n_features=10, fit_intercept=False), name, tol)


@pytest.mark.tiny
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", [*SECOND, "first-order"])
@pytest.mark.parametrize("n_features", [2, 9])
def test_more_classes_than_kernels_take_at_once(n_features, name, norm):
    rng = np.random.default_rng(3)
    y = np.arange(12) % 6
    X = 3 * rng.normal(size=(6, n_features))[y] + rng.normal(size=(12, n_features))
    problem = RobustProblem.of(X, y, np.full(12, 1 / 12), WassersteinBall(0.1, 2, norm), 6)
    assert_bracketed(problem, name, 1e-2 if name == "first-order" else 1e-4)


@pytest.mark.tiny
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ["newton", "first-order"])
def test_sparse_rows_and_trust(name, norm):
    problem = tiny(norm, "matrix", label_trust=np.linspace(0.5, 2.0, 9))
    problem.label_trust[3] = np.inf
    dense = assert_bracketed(problem, name, 1e-2)
    found = solve(with_rows(problem, sparse.csr_array), name, SolverSettings(tol=1e-2))
    gap = found.certificate.gap + dense.certificate.gap
    assert abs(found.certificate.objective - dense.certificate.objective) <= gap + 1e-12


def with_rows(problem, kind):
    return problem.with_rows(X=kind(problem.X))


@pytest.mark.tiny
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("cost", ["inf", "half"])
@pytest.mark.parametrize("loss", [LOSSES["logistic"], Loss(0.1, 1.0)], ids=["log", "soft"])
@pytest.mark.parametrize("name", ["newton", "first-order"])
def test_smooth_losses(name, loss, cost, norm):
    assert_bracketed(tiny(norm, cost, loss=loss), name, 1e-2)


@pytest.mark.tiny
@pytest.mark.parametrize("name", [*SECOND, "first-order"])
def test_the_triangle_bound(name):
    found = assert_bracketed(tiny(lipschitz="triangle"), name, 1e-2)
    exact = solve(tiny(), "interior-point").certificate
    assert found.certificate.objective >= exact.dual_bound


@pytest.mark.tiny
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", [*SECOND, "first-order"])
def test_a_start_from_the_neighbouring_radius(name, norm):
    problem = tiny(norm)
    before = solve(problem.with_radius(0.06), name, SolverSettings(tol=1e-2))
    start = Start(before.coef, before.intercept, before.certificate.lam)
    assert_bracketed(problem, name, 1e-2, start)


@pytest.mark.tiny
@pytest.mark.parametrize("name", SECOND)
def test_no_budget(name):
    # Where lam is 0 an impossible flip costs 0 times infinity, which nobody buys.
    with np.errstate(invalid="ignore"):
        assert_bracketed(tiny(radius=0.0), name)


@pytest.mark.tiny
@pytest.mark.parametrize("name", [*SECOND, "first-order"])
def test_too_large_a_budget_leaves_a_constant(name):
    found = assert_bracketed(tiny(radius=5.0), name)
    assert found.certificate.objective == pytest.approx(1.0, rel=1e-4)


@pytest.mark.tiny
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ["subgradient", "stochastic"])
def test_rough_solvers_bracket_the_optimum(name, norm):
    problem = tiny(norm)
    found = solve(problem, name, SolverSettings(max_iter=60)).certificate
    best = solve(problem, "interior-point").certificate
    assert found.objective >= best.dual_bound - 1e-12
    assert found.dual_bound <= best.objective + 1e-12
    assert found.objective <= 1.0


@pytest.mark.tiny
@pytest.mark.parametrize("name", [*SECOND, "first-order"])
def test_a_limit_of_iterations_is_kept_and_told(name):
    found = solve(tiny(), name, SolverSettings(tol=1e-10, max_iter=1))
    assert found.status is SolverStatus.MAX_ITER
    best = solve(tiny(), "interior-point").certificate
    assert found.certificate.objective >= best.dual_bound
    assert found.certificate.dual_bound <= best.objective


@pytest.mark.tiny
@pytest.mark.parametrize("name", ["highs", "clarabel"])
def test_the_judges_agree(name):
    pytest.importorskip({"highs": "highspy"}.get(name, name))
    assert_bracketed(tiny("l1", "matrix"), name, 1e-5)


@pytest.mark.tiny
def test_five_classes_of_dense_rows():
    """Products of dense rows take four classes at a time."""
    y = np.arange(10) % 5
    X = np.random.default_rng(3).normal(size=(10, 2)) + 3 * np.eye(5, 2)[y]
    ball = WassersteinBall(0.05, 0.5, "l2")
    problem = RobustProblem.of(X, y, np.full(10, 0.1), ball, 5)
    assert_bracketed(problem, "first-order", 1e-2)


@pytest.mark.parametrize("loss", ["crammer-singer", "logistic"])
@pytest.mark.parametrize("name", [*SECOND, "first-order", "subgradient", "stochastic"])
def test_labels_and_weights_lie_in_memory_as_they_like(name, loss):
    problem = tiny(loss=LOSSES[loss])
    if any(SOLVERS[name].missing(problem)):
        return
    y, weight = np.repeat(problem.y, 2).astype(np.int32), np.repeat(problem.weight, 2)
    strided = problem.with_rows(y=y[::2], weight=weight[::2])
    settings = SolverSettings(tol=1e-2, max_iter=20)
    expected, found = (solve(each, name, settings) for each in (problem, strided))
    np.testing.assert_array_equal(found.coef, expected.coef)


def needs(name):
    package = {"highs": "highspy", "clarabel": "clarabel"}.get(name)
    if package is not None:
        pytest.importorskip(package)


# Steps along subgradients end where the others begin: their gaps are honest, not small.
ROUGH = {"subgradient", "stochastic"}


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_brackets_the_optimum(name):
    needs(name)
    problem = rows_in_line(norm="l1")
    result = solve(problem, name, SolverSettings(tol=1e-4))
    reference = solve(problem, "interior-point", SolverSettings(tol=1e-8)).certificate
    assert result.certificate.dual_bound <= reference.objective + 1e-12
    assert result.certificate.objective >= reference.dual_bound - 1e-12
    assert result.certificate.holds(1e-4) or name in ROUGH


def test_the_result_names_the_solver_that_auto_chose():
    problem = rows_in_line()
    assert solve(problem).solver == choose(problem, 1e-6)


def test_a_status_follows_the_certificate_of_the_classifier_given_back():
    """A start better than what one iteration reaches is given back, and has converged."""
    problem = odd_problem(2)
    found = solve(problem)
    start = Start(found.coef, found.intercept, found.certificate.lam)
    worse = replace(
        found,
        certificate=found.certificate._replace(objective=found.certificate.objective + 1),
        status=SolverStatus.STALLED,
    )
    kept = _no_worse_than_known(problem, worse, start, BOUNDED_TOL)
    assert kept.certificate.objective <= found.certificate.objective
    assert kept.status is SolverStatus.CONVERGED


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_a_tiny_ball_around_large_features(norm):
    """In the solver's units lam ends at 1e12, far from where it starts."""
    plain = three_clusters(norm=norm)
    small = replace(plain.ball, radius=0.05e-12, label_cost=2e-12)
    found = solve(replace(plain, ball=small), "interior-point")
    assert found.status is SolverStatus.CONVERGED
