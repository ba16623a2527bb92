"""Masses of rows: a sparse table is as good as a dense one, and takes little memory."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem, dual_bound
from wdrsvm.problem.certificate.multipliers import label_slopes
from wdrsvm.problem.certificate.trusted_masses import TrustedMasses
from wdrsvm.solvers import SolverSettings, solve
from wdrsvm.solvers.first_order import beginning, feasible_multipliers, resting_rows
from wdrsvm.solvers.first_order.norms import l2
from wdrsvm.solvers.first_order.places_of_rows.masses import (
    dense_rows,
    moving_rows,
    on_own_labels,
    own_masses,
    restored,
    slopes,
    with_places,
    with_rows,
)
from wdrsvm.solvers.first_order.places_of_rows.places import Places
from wdrsvm.solvers.first_order.settings import FIRST_ORDER
from wdrsvm.solvers.first_order.state import Ascent
from wdrsvm.solvers.result import Start


def a_problem(n_rows=300, n_classes=30, n_features=12, fit_intercept=True, noise=0.5):
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    X = rng.standard_normal((n_classes, n_features))[y]
    X += noise * rng.standard_normal((n_rows, n_features))
    weight = rng.uniform(0.5, 1.5, n_rows)
    weight /= weight.sum()
    return RobustProblem.of(X, y, weight, WassersteinBall(0.02), n_classes, fit_intercept)


@pytest.fixture
def few(monkeypatch):
    """Tables of any size are sparse, and only some rows are dense at a time."""
    numbers = replace(FIRST_ORDER, max_dense_masses=0, entries_of_part=2000)
    for module in (beginning, l2, resting_rows):
        monkeypatch.setattr(module, "FIRST_ORDER", numbers)


def some_masses():
    """Masses that lie at few places, a row without any, and labels."""
    y, alpha = np.array([0, 1, 2, 1]), np.zeros((4, 3))
    alpha[0, 0], alpha[1, [0, 1]], alpha[2, [0, 1]] = 0.2, (0.1, 0.3), (0.1, 0.1)
    return alpha, y


@pytest.mark.tiny
def test_a_sparse_table_tells_what_a_dense_one_does():
    alpha, y = some_masses()
    stored = sparse.csr_array(alpha)
    # A mass that has become zero is no mass.
    stored.data[stored.indptr[1]] = alpha[1, 0] = 0.0
    for table in (alpha, stored):
        np.testing.assert_array_equal(own_masses(table, y), [0.2, 0.3, 0.0, 0.0])
        np.testing.assert_array_equal(moving_rows(table, y), [2])
        np.testing.assert_array_equal(dense_rows(table, slice(1, 3)), alpha[1:3])
    np.testing.assert_allclose(slopes(stored, y).toarray(), label_slopes(alpha, y))


@pytest.mark.tiny
def test_masses_of_some_rows_are_replaced():
    alpha, _ = some_masses()
    other = np.array([[0.0, 0.5, 0.0], [0.1, 0.0, 0.6]])
    found = with_rows(sparse.csr_array(alpha), np.array([3, 1]), other).toarray()
    alpha[[3, 1]] = other
    np.testing.assert_array_equal(found, alpha)


@pytest.mark.tiny
def test_the_masses_of_places_are_all_masses():
    alpha, _ = some_masses()
    starts, classes = np.array([0, 1, 3, 5, 6]), np.array([0, 0, 1, 0, 1, 2])
    masses = np.array([0.2, 0.4, 0.0, 0.0, 0.2, 0.1])
    places = Places(starts, classes, np.array([1, 2]), np.zeros(4), masses)
    wanted = np.array([[0.2, 0, 0], [0.4, 0, 0], [0, 0.2, 0], [0, 0, 0.1]])
    for table in (alpha, sparse.csr_array(alpha)):
        found = with_places(table, places)
        assert sparse.issparse(found) == sparse.issparse(table)
        np.testing.assert_array_equal(dense_rows(found, slice(None)), wanted)
    assert with_places(alpha, places) is alpha


@pytest.mark.tiny
def test_restored_masses_are_those_of_the_certificate():
    problem = a_problem(n_rows=40)
    rng = np.random.default_rng(1)
    alpha = np.maximum(rng.standard_normal((40, 30)), 0.0)
    alpha[3] = 0.0
    none = np.full((40, 30), np.inf)
    rows = TrustedMasses(alpha).rows(problem, slice(None))
    wanted = rows.restored(problem.weight, problem.y, none, 1.0).alpha
    for table in (alpha, sparse.csr_array(alpha)):
        np.testing.assert_allclose(restored(table, problem).toarray(), wanted)
    labels = on_own_labels(problem).toarray()
    np.testing.assert_array_equal(labels[np.arange(40), problem.y], problem.weight)
    assert np.count_nonzero(labels) == 40


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_first_epoch_is_that_of_a_dense_table(few, fit_intercept):
    """It looks at all classes, a part of the rows at a time."""
    problem = a_problem(n_classes=6, fit_intercept=fit_intercept)
    ours = Ascent(problem, None, 0)
    # Pairs are adapted within the first epoch, and parts end elsewhere.
    assert 18 * ours.block.pace < 2000 < 18 * 2 * ours.block.pace < 18 * 300
    beginning.FIRST_ORDER = FIRST_ORDER
    theirs = Ascent(problem, None, 0)
    for ascent in (ours, theirs):
        ascent.sweep()
    # Blocks of rows end elsewhere, so that single precision rounds otherwise.
    masses = ours.duals.alpha.toarray()
    np.testing.assert_allclose(masses, theirs.duals.alpha, atol=5e-3 / 300)
    np.testing.assert_allclose(ours.block.pairs, theirs.block.pairs, atol=5e-4)


@pytest.mark.parametrize("max_entries", [0, 10**9])
@pytest.mark.parametrize("tol", [1e-3, 1e-5])
def test_the_whole_method_with_sparse_masses(few, tol, max_entries, monkeypatch):
    """Bounds are proven anew from the masses that come back, copied rows or not."""
    numbers = replace(FIRST_ORDER, least_moving_entries=0, max_moving_entries=max_entries)
    monkeypatch.setattr(feasible_multipliers, "FIRST_ORDER", numbers)
    problem = a_problem(n_classes=6)
    found = solve(problem, "first-order", SolverSettings(tol=tol))
    exact = solve(problem, "interior-point", SolverSettings(tol=1e-8)).certificate
    assert found.certificate.holds(tol)
    assert found.certificate.dual_bound <= exact.objective
    assert exact.dual_bound <= found.certificate.objective
    assert isinstance(found.multipliers, TrustedMasses)
    proven = dual_bound(problem, found.multipliers)
    assert proven == pytest.approx(found.certificate.dual_bound, rel=tol)
    # A neighbour goes on from them.
    start = Start(found.coef, found.intercept, found.certificate.lam, found.multipliers)
    again = solve(problem, "first-order", SolverSettings(tol=tol), start)
    assert again.certificate.holds(tol)
    assert again.n_iter < found.n_iter


def test_masses_that_no_repair_of_moving_rows_balances_are_still_proven(few, monkeypatch):
    monkeypatch.setattr(feasible_multipliers, "_of_moving_rows", lambda *told: None)
    problem = a_problem(n_classes=6)
    found = solve(problem, "first-order", SolverSettings(tol=1e-3))
    assert found.certificate.holds(1e-3)
    proven = dual_bound(problem, found.multipliers)
    assert proven == pytest.approx(found.certificate.dual_bound, rel=1e-3)


def test_no_table_of_all_rows_and_classes(few, monkeypatch):
    """Neither in the epochs nor in the certificate."""
    numbers = replace(FIRST_ORDER, max_dense_masses=0, entries_of_part=200_000)
    for module in (beginning, l2, resting_rows):
        monkeypatch.setattr(module, "FIRST_ORDER", numbers)
    problem = a_problem(n_rows=30_000, n_classes=120, n_features=24, noise=1.2)
    settings = SolverSettings(tol=1e-3, max_iter=8)
    tracemalloc.start()
    try:
        found = solve(problem, "first-order", settings)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.certificate.dual_bound > 0
    assert sparse.issparse(found.multipliers.alpha)
    # Copies of the rows, and blocks of a few megabytes.  A table has 29 megabytes.
    assert peak < 3 * problem.X.nbytes + 24_000_000
