"""Large systems are factorised in parts, with the same factor."""

import numpy as np
import pytest

from wdrsvm.solvers.cones import normal_system
from wdrsvm.solvers.cones.normal_system import NormalSystem, cholesky, cholesky_of


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    for name, size in (("MAX_AT_ONCE", 5), ("PANEL", 4), ("STRIP", 7)):
        monkeypatch.setattr(normal_system, name, size)


def positive(size, seed=0):
    root = np.random.default_rng(seed).normal(size=(size, 4 * size))
    matrix = root @ root.T
    scale = np.sqrt(np.diag(matrix))
    return matrix / np.outer(scale, scale)


@pytest.mark.parametrize("size", [3, 5, 6, 8, 9, 30, 41])
def test_the_factor_is_the_same(size):
    matrix = positive(size)
    before = matrix.copy()
    found = cholesky_of(matrix)
    np.testing.assert_allclose(found, cholesky(matrix), atol=1e-12)
    np.testing.assert_array_equal(matrix, before)
    assert found.flags.c_contiguous


def test_a_singular_matrix_gets_a_ridge():
    matrix = np.ones((12, 12))
    found = cholesky_of(matrix)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found @ found.T, matrix, atol=1e-6)


def test_no_numbers_have_no_factor():
    assert np.isnan(cholesky_of(np.full((12, 12), np.nan))).all()


def test_a_large_system_is_solved():
    matrix, solution = 3.0 * positive(30), np.arange(30.0)
    found = NormalSystem(matrix.copy()).solve(matrix @ solution)
    np.testing.assert_allclose(found, solution, atol=1e-9)
