"""The polish: what is left to do where smoothing ends."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.solvers.newton.hinge import smoothing_newton
from wdrsvm.solvers.result import SolverSettings, SolverStatus

from ..cases import assert_solved, clusters, every_norm, problem_of
from .cases import many_rows


@every_norm
def test_the_polish_reaches_what_smoothing_cannot(norm):
    problem = many_rows(norm, 4000)
    result = smoothing_newton(problem, SolverSettings(tol=1e-9))
    assert_solved(problem, result, 1e-9)


def test_flat_and_trusted_labels_are_polished_too():
    """Rows fixed to a flip cost budget, those of verified labels never flip."""
    X, y = clusters(3000, distance=0.3)
    trust = np.where(np.arange(3000) % 3, 1.0, np.inf)
    problem = problem_of(X, y, "l2", 0.2, 0.5, label_trust=trust)
    assert_solved(problem, smoothing_newton(problem, SolverSettings(tol=1e-8)), 1e-8)


def test_stopped_in_the_polish_it_tells_its_true_gap():
    problem = problem_of(*clusters(200), "l1")
    settings = SolverSettings(tol=1e-8)
    whole = smoothing_newton(problem, settings)
    limit = whole.n_iter - 2
    result = smoothing_newton(problem, replace(settings, max_iter=limit))
    assert result.status is SolverStatus.MAX_ITER
    assert result.n_iter == limit
    value = problem.risk(result.coef, result.intercept).value
    assert result.certificate.objective == value
    assert result.certificate.dual_bound <= whole.certificate.objective


def test_the_history_counts_on_through_the_polish():
    result = smoothing_newton(problem_of(*clusters(200), "l1"), SolverSettings(tol=1e-8))
    counts = [record.n_iter for record in result.history]
    assert counts == sorted(counts)
    assert counts[-1] == result.n_iter


@every_norm
@pytest.mark.parametrize("scale", [1e12, 1e15])
def test_few_rows_in_large_units_are_polished_from_several_starts(norm, scale):
    """From the default lam the interior point stalls in some of these."""
    rng = np.random.default_rng(3)
    centres = 2.0 * rng.normal(size=(3, 4))
    y = np.arange(40) % 3
    X = scale * (rng.normal(size=(40, 4)) + centres[y])
    problem = problem_of(X, y, norm)
    assert_solved(problem, smoothing_newton(problem, SolverSettings()), 1e-6)


@every_norm
def test_classes_that_hardly_differ_are_polished_from_several_starts(norm):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 3
    X = rng.normal(size=(40, 4))
    X[:, 0] = 1e-8 * (y - 1)
    problem = problem_of(X, y, norm, 1e-10)
    assert_solved(problem, smoothing_newton(problem, SolverSettings()), 1e-6)
