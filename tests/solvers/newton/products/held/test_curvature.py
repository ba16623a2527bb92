"""The preconditioner where the norm holds some coefficients."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.solvers.newton.products.curvature.heavy_rows import HeavyRows
from wdrsvm.solvers.newton.products.curvature.preconditioner import (
    ClassCurvature,
    Preconditioner,
)
from wdrsvm.solvers.newton.products.curvature.sums import CurvatureSums
from wdrsvm.solvers.newton.products.held.curvature import AxisCurvature, ClassMatrix
from wdrsvm.solvers.newton.products.settings import PRODUCTS

N_CLASSES, N_COLUMNS = 3, 6


HELD = "wdrsvm.solvers.newton.products.held.curvature.PRODUCTS"


def sums():
    """Curvature sums of random rows with a column of ones."""
    rng = np.random.default_rng(0)
    rows = np.hstack([rng.normal(size=(50, N_COLUMNS - 1)), np.ones((50, 1))])
    spread = rng.uniform(size=(N_CLASSES, 50))
    second = (rows * spread.sum(axis=0)[:, None]).T @ rows
    parts = spread.reshape(N_CLASSES, 2, 25)
    first = np.einsum("crn,rnq->crq", parts, rows.reshape(2, 25, N_COLUMNS))
    return CurvatureSums(parts.sum(axis=2), first, second)


def heavy_rows(n_rows=2):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(N_CLASSES, n_rows, N_COLUMNS))
    rows[:, :, -1] = 1.0
    return HeavyRows(rng.uniform(0.1, 0.5, (N_CLASSES, n_rows)), rows)


def dense(matrix):
    """The matrix of each class, (C, Q, Q)."""
    parts = matrix.parts
    whole = parts.transpose(0, 2, 1) @ parts
    return whole + np.einsum("cq,qr->cqr", matrix.diagonal, np.eye(parts.shape[2]))


@pytest.mark.parametrize("heavy", [None, heavy_rows()], ids=["light", "heavy"])
def test_with_all_axes_it_is_the_curvature_in_its_basis(monkeypatch, heavy):
    monkeypatch.setattr(HELD, replace(PRODUCTS, least_rest=0.0))
    stiffness = np.array([0.3, 0.5, 0.2])
    curvature = ClassCurvature.of(sums(), N_COLUMNS - 1)
    expected = Preconditioner.of(curvature, stiffness, heavy=heavy)
    matrix = AxisCurvature.of(sums(), N_COLUMNS - 1).matrix(np.float64, heavy)
    none = np.zeros((N_CLASSES, 0, N_COLUMNS))
    own = matrix.inverse(np.repeat(stiffness[:, None], N_COLUMNS, axis=1), none)
    gradients = np.random.default_rng(2).normal(size=(N_CLASSES, N_COLUMNS))
    np.testing.assert_allclose(own(gradients), expected(gradients), rtol=1e-8)


def test_squares_in_a_basis_tell_what_a_matrix_tells(monkeypatch):
    monkeypatch.setattr(HELD, replace(PRODUCTS, least_rest=0.0))
    told = sums()
    basis = ClassCurvature.of(told, N_COLUMNS - 1).basis
    squares = np.diag(basis.T @ told.second @ basis)
    known = told._replace(second=squares, basis=basis)
    found, expected = (
        AxisCurvature.of(which, N_COLUMNS - 1).matrix(np.float64, None)
        for which in (known, told)
    )
    np.testing.assert_allclose(dense(found)[:, :-1, :-1], dense(expected)[:, :-1, :-1])
    whole = basis @ np.diag(squares) @ basis.T
    monkeypatch.setattr(HELD, replace(PRODUCTS, least_rest=0.5))
    least = AxisCurvature.of(known, N_COLUMNS - 1).least
    np.testing.assert_allclose(least, 0.5 * np.diag(whole) / told.mass.sum())


def test_few_axes_leave_the_diagonal_as_it_is(monkeypatch):
    monkeypatch.setattr(HELD, replace(PRODUCTS, least_rest=0.0))
    whole = AxisCurvature.of(sums(), N_COLUMNS - 1).matrix(np.float64, None)
    monkeypatch.setattr(HELD, replace(PRODUCTS, least_rest=0.0, axes=2))
    few = AxisCurvature.of(sums(), N_COLUMNS - 1).matrix(np.float64, None)
    assert few.parts.shape[1] < whole.parts.shape[1]
    diagonals = (np.einsum("cqq->cq", dense(matrix)) for matrix in (few, whole))
    np.testing.assert_allclose(*diagonals, rtol=1e-10)


@pytest.mark.parametrize("heavy", [None, heavy_rows(40)], ids=["light", "heavy"])
def test_no_diagonal_is_tiny_beside_the_axes(heavy):
    found = AxisCurvature.of(sums(), N_COLUMNS - 1)
    squares = np.diag(sums().second) / sums().mass.sum()
    least = PRODUCTS.least_rest * squares * sums().mass.sum(axis=1)[:, None]
    assert (found.matrix(np.float32, heavy).diagonal >= 0.99 * least).all()


def test_products_and_inverse_are_those_of_the_dense_matrices():
    rng = np.random.default_rng(3)
    shape = N_CLASSES, N_COLUMNS
    matrix = ClassMatrix(rng.uniform(1, 2, shape), rng.normal(size=(N_CLASSES, 2, 6)))
    step, stiffness = rng.normal(size=shape), rng.uniform(size=shape)
    expected = np.einsum("cqr,cr->cq", dense(matrix), step)
    np.testing.assert_allclose(matrix.times(step), expected)
    along = rng.normal(size=(N_CLASSES, 2, N_COLUMNS))
    added = stiffness * step + np.einsum("crq,crs,cs->cq", along, along, step)
    back = matrix.inverse(stiffness, along)(expected + added)
    np.testing.assert_allclose(back, step)
