"""Large systems are factorised in parts, with the same factor."""

import numpy as np
import pytest

from wdrsvm.solvers.cones import normal_system
from wdrsvm.solvers.cones.normal_system import (
    NormalSystem,
    cholesky,
    cholesky_of,
    fix_gauge,
)


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


@pytest.mark.parametrize("entry", [np.nan, np.inf])
def test_a_factorisation_without_numbers_ends(entry):
    matrix = np.array([[1.0, entry], [entry, 1.0]])
    assert np.isnan(cholesky(matrix)).any()
    with np.errstate(invalid="ignore"):
        assert np.isnan(NormalSystem(matrix).solve(np.ones(2))).any()


class TestNormalSystem:
    """The linear system of a step, also where rounding has made it indefinite."""

    def test_rows_and_columns_of_all_sizes_are_solved(self):
        rng = np.random.default_rng(0)
        half, scale = rng.normal(size=(6, 6)), 10.0 ** np.arange(-9, 9, 3)
        matrix = scale[:, None] * (half @ half.T) * scale
        expected = rng.normal(size=6) / scale
        found = NormalSystem(matrix.copy()).solve(matrix @ expected)
        np.testing.assert_allclose(found * scale, expected * scale, rtol=1e-9)

    @pytest.mark.parametrize("shift", [1e-13, 1e-9])
    def test_a_singular_system_is_solved_within_its_range(self, shift):
        """The factor needs a ridge; refinement removes most of what that leaves."""
        half = np.random.default_rng(0).normal(size=(6, 3))
        matrix = half @ half.T - shift * np.eye(6)
        assert np.linalg.eigvalsh(matrix)[0] < 0
        rhs = half @ np.ones(3)
        found = NormalSystem(matrix.copy()).solve(rhs)
        assert np.abs(matrix @ found - rhs).max() <= 10 * shift

    def test_the_gauge_is_fixed_from_a_column_on(self):
        rng = np.random.default_rng(0)
        laplacian = np.array([[2.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0]])
        matrix = np.zeros((7, 7))
        matrix[:6, :6] = np.kron(laplacian, np.diag(rng.uniform(1.0, 2.0, 2)))
        matrix[6, 6] = 1.0
        held = matrix.copy()
        fix_gauge(held, 3, 2, 1)
        shifts = np.kron(np.ones(3), np.eye(2))
        np.testing.assert_allclose(held[:6, :6] @ shifts[0], 0.0, atol=1e-12)
        assert shifts[1] @ held[:6, :6] @ shifts[1] > 1.0
        fix_gauge(held, 3, 2, 0)
        assert np.linalg.eigvalsh(held)[0] > 0

    def test_a_column_without_curvature_is_held(self):
        matrix = np.zeros((7, 7))
        matrix[6, 6] = 1.0
        fix_gauge(matrix, 3, 2, 0)
        assert np.linalg.eigvalsh(matrix)[0] > 0
