"""The multipliers of the method in matrix products."""

from dataclasses import replace

import numpy as np

from wdrsvm.problem import dual_bound
from wdrsvm.solvers import SolverSettings
from wdrsvm.solvers.newton.products.loop import product_newton
from wdrsvm.solvers.newton.products.settings import PRODUCTS
from wdrsvm.solvers.newton.products.tangents import DrawnTangents, with_points

from .test_loop import blobs


def drawn(price=np.inf):
    rng = np.random.default_rng(0)
    return DrawnTangents(rng.normal(size=(20, 8)), np.zeros(20), 0.7, price, 0.1)


def test_points_computed_once_are_those_of_the_rows():
    problem, rows = blobs(), slice(100, 200)
    kept = with_points(drawn(), problem)
    one, other = drawn().rows(problem, rows), kept.rows(problem, rows)
    np.testing.assert_array_equal(one.points, other.points)
    assert dual_bound(problem, drawn()) == dual_bound(problem, kept)


def test_points_of_too_many_rows_are_not_kept(monkeypatch):
    problem = blobs()
    assert with_points(drawn(price=1.0), problem).points is None
    few = replace(PRODUCTS, max_kept_points=5999)
    monkeypatch.setattr("wdrsvm.solvers.newton.products.tangents.PRODUCTS", few)
    assert with_points(drawn(), problem).points is None


def test_a_result_does_not_hold_them():
    found = product_newton(blobs(), SolverSettings(tol=1e-3))
    assert found.multipliers.points is None
