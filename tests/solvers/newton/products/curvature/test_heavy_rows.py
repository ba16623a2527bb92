"""The heaviest rows of each class."""

from dataclasses import replace
from functools import partial

import numpy as np

from wdrsvm.problem import LOSSES, RobustProblem, WassersteinBall
from wdrsvm.solvers import SolverSettings, SolverStatus
from wdrsvm.solvers.newton.products.curvature import heavy_rows
from wdrsvm.solvers.newton.products.curvature.heavy_rows import HeavyEntries, heavy_count
from wdrsvm.solvers.newton.products.design import At, Design, in_columns
from wdrsvm.solvers.newton.products.loop import product_newton
from wdrsvm.solvers.newton.products.settings import PRODUCTS
from wdrsvm.solvers.scaling import Scaling

from ..test_loop import blobs


def test_the_largest_entries_of_two_tables_are_those_of_both():
    spread = np.random.default_rng(0).uniform(size=(3, 20))
    numbers = np.arange(100, 120)
    whole = HeavyEntries.of(spread, numbers, 4)
    first = HeavyEntries.of(spread[:, :3], numbers[:3], 4)
    joined = first.joined(HeavyEntries.of(spread[:, 3:], numbers[3:], 4), 4)
    for entries in (whole, joined):
        order = np.argsort(entries.curvature, axis=1)
        curvature = np.take_along_axis(entries.curvature, order, 1)
        np.testing.assert_array_equal(curvature, np.sort(spread, axis=1)[:, -4:])
        rows = np.take_along_axis(entries.rows, order, 1)
        np.testing.assert_array_equal(rows, 100 + np.argsort(spread, axis=1)[:, -4:])


def test_a_pass_finds_the_sums_and_the_heaviest_rows_of_all_blocks():
    problem = blobs(n_classes=4)
    scaling = Scaling.of(problem)
    prepared = problem.by_chunks(partial(in_columns, scaling, np.float64))
    rows = scaling.design(problem.X)
    coef = np.random.default_rng(1).normal(size=(4, scaling.n_columns))
    powers = np.exp(rows @ coef.T)
    share = powers / powers.sum(axis=1)[:, None]
    spread = problem.weight[:, None] * share * (1 - share)
    with prepared.reduction() as reduction:
        design = Design(scaling, reduction, n_heavy=5)
        found = design.heavy_curvature(At(coef))
        np.testing.assert_allclose(design.features(found.entries.rows), rows[found[2].rows])
    np.testing.assert_allclose(found.mass.sum(axis=1), spread.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.first.sum(axis=1), spread.T @ rows, atol=1e-12)
    largest = np.sort(spread, axis=0)[-5:].T
    np.testing.assert_allclose(np.sort(found.entries.curvature, axis=1), largest)
    assert 0 < found.heavy_share < 1
    np.testing.assert_allclose(found.heavy_share, largest.sum() / spread.sum())


def test_rows_are_taken_where_some_dozens_are_many():
    assert heavy_count(10_003, 77, 385) > 0
    # Too few among all rows; as many as columns; too many entries.
    assert heavy_count(10**6, 77, 385) == 0
    assert heavy_count(1000, 20, 17) == 0
    assert 0 < heavy_count(20_000, 1000, 513) < heavy_count(10_003, 77, 385)


def uneven_embeddings(n_rows=2000, n_features=64, n_classes=25):
    """Rows of unit length, some far from the centres of their classes, of which each has
    too many rows for all of them to be taken as they are."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    distance = rng.exponential(size=(n_rows, 1))
    centres = rng.normal(size=(n_classes, n_features))[y]
    X = centres + distance * rng.normal(size=(n_rows, n_features))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    weight, ball = np.full(n_rows, 1 / n_rows), WassersteinBall(3e-4)
    return RobustProblem.of(X, y, weight, ball, n_classes, loss=LOSSES["logistic"])


def test_they_save_steps_and_prove_as_much(monkeypatch):
    problem, settings = uneven_embeddings(), SolverSettings(tol=1e-4)
    found = product_newton(problem, settings)
    again = product_newton(problem, settings)
    np.testing.assert_array_equal(found.coef, again.coef)
    monkeypatch.setattr(heavy_rows, "PRODUCTS", replace(PRODUCTS, heavy_rows=0))
    other = product_newton(problem, settings)
    assert found.status is other.status is SolverStatus.CONVERGED
    assert found.certificate.dual_bound <= other.certificate.objective
    assert other.certificate.dual_bound <= found.certificate.objective
    value = problem.risk(found.coef, found.intercept).value
    np.testing.assert_allclose(found.certificate.objective, value, rtol=1e-12)
    assert found.n_iter < other.n_iter
