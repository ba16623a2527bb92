"""The preconditioner inverts what it says it stands for."""

import numpy as np
import pytest

from wdrsvm.solvers.newton.products.curvature import preconditioner
from wdrsvm.solvers.newton.products.curvature.heavy_rows import HeavyRows
from wdrsvm.solvers.newton.products.curvature.preconditioner import (
    ClassCurvature,
    ClassInverse,
    Preconditioner,
    into_basis,
    out_of_basis,
    squares_times,
)
from wdrsvm.solvers.newton.products.curvature.sums import CurvatureSums


def test_it_is_the_inverse_of_spread_means_and_stiffness():
    rng = np.random.default_rng(0)
    mass, means, stiffness = (
        rng.uniform(size=(3, 2)),
        rng.normal(size=(3, 2, 4)),
        rng.uniform(size=3),
    )
    spread = np.cov(rng.normal(size=(4, 30)))
    outer = np.einsum("cr,crq,crp->cqp", mass, means, means)
    second = mass.sum() * spread + outer.sum(axis=0)
    sums = CurvatureSums(mass, mass[:, :, None] * means, second)
    apply = Preconditioner.of(ClassCurvature.of(sums, n_touchable=4), stiffness)
    gradient = rng.normal(size=(3, 4))
    found = apply(gradient)
    for c in range(3):
        curvature = mass[c].sum() * spread + outer[c] + stiffness[c] * np.eye(4)
        np.testing.assert_allclose(curvature @ found[c], gradient[c], rtol=1e-5, atol=1e-6)


def test_squares_in_a_basis_tell_what_a_matrix_tells():
    """In the basis in which the spread is a diagonal."""
    rng = np.random.default_rng(3)
    told = random_sums(rng)
    of_matrix = ClassCurvature.of(told, n_touchable=3)
    basis = of_matrix.basis
    squares = np.diag(basis.T @ told.second @ basis)
    known = told._replace(second=squares, basis=basis)
    of_squares = ClassCurvature.of(known, n_touchable=3)
    gradient, stiffness = rng.normal(size=(3, 4)), np.array([0.1, 0.2, 0.3])
    found, expected = (
        Preconditioner.of(curvature, stiffness)(gradient)
        for curvature in (of_squares, of_matrix)
    )
    np.testing.assert_allclose(found, expected)


def random_sums(rng):
    return CurvatureSums(
        rng.uniform(1, 2, (3, 2)), rng.normal(size=(3, 2, 4)), 30 * np.eye(4)
    )


def test_the_curvature_times_a_step_undoes_the_inverse():
    rng = np.random.default_rng(1)
    curvature = ClassCurvature.of(random_sums(rng), n_touchable=3)
    step = curvature.inverse(np.full(3, 0.5))(rng.normal(size=(3, 4)))
    image = curvature.times(step) + (0.5 + curvature.floor) * step
    again = curvature.inverse(np.full(3, 0.5))(image)
    np.testing.assert_allclose(again, step)


def test_single_precision_keeps_the_sign_of_intercepts():
    """The column of ones has no spread; hardly any stiffness holds it."""
    rng = np.random.default_rng(5)
    rows = np.column_stack([rng.normal(size=(200, 3)), np.ones(200)])
    rows[:100, :3] += 2.0
    mass, first = np.full((1, 2), 100.0), np.stack([rows[:100].sum(0), rows[100:].sum(0)])
    sums = CurvatureSums(mass, first[None], rows.T @ rows)
    curvature, tiny = ClassCurvature.of(sums, n_touchable=3), np.full(1, 1e-8)
    gradient = rng.normal(size=(50, 1, 4))
    inverses = curvature.inverse(tiny, np.float32), curvature.inverse(tiny)
    narrow, wide = (
        np.array([inverse(one.astype(inverse.diagonal.dtype)) for one in gradient])
        for inverse in inverses
    )
    np.testing.assert_allclose(narrow, wide, rtol=1e-2, atol=1e-3 * np.abs(wide).max())


def test_the_basis_leaves_the_intercept_alone():
    rng = np.random.default_rng(2)
    rows = np.column_stack([rng.normal(size=(50, 3)), np.ones(50)])
    sums = CurvatureSums(np.ones((2, 2)), rng.normal(size=(2, 2, 4)), rows.T @ rows)
    basis = ClassCurvature.of(sums, n_touchable=3).basis
    np.testing.assert_array_equal(basis[3], [0, 0, 0, 1])
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-12)


def test_heavy_rows_stand_beside_the_spread_and_mean_of_the_others():
    rng = np.random.default_rng(3)
    rows, curvature = rng.normal(size=(3, 40, 4)), rng.uniform(size=(3, 40))
    halves = curvature.reshape(3, 2, 20)
    mass, own = halves.sum(axis=2), rows.reshape(3, 2, 20, 4)
    first = np.einsum("crn,crnq->crq", halves, own)
    second = np.einsum("cn,cnq,cnr->qr", curvature, rows, rows)
    of_all = ClassCurvature.of(CurvatureSums(mass, first, second), n_touchable=4)
    heavy, stiffness = HeavyRows(curvature[:, :6], rows[:, :6]), np.full(3, 0.3)
    gradients = rng.normal(size=(2, 3, 4))
    precondition = Preconditioner.of(of_all, stiffness, heavy=heavy)
    found = np.array([precondition(gradient) for gradient in gradients])
    spread = of_all.basis @ np.diag(of_all.spread[0] / mass[0].sum()) @ of_all.basis.T
    for c in range(3):
        light = curvature[c, 6:].sum()
        mean = curvature[c, 6:] @ rows[c, 6:] / light
        whole = light * (spread + np.outer(mean, mean)) + 0.3 * np.eye(4)
        whole += np.einsum("n,nq,nr->qr", curvature[c, :6], rows[c, :6], rows[c, :6])
        for step, gradient in zip(found[:, c], gradients[:, c], strict=True):
            np.testing.assert_allclose(whole @ step, gradient, rtol=1e-5, atol=1e-6)


def test_sums_at_another_point_keep_the_spread():
    rng = np.random.default_rng(4)
    sums = random_sums(rng)
    before = ClassCurvature.of(sums, n_touchable=4)
    mass, first = 2 * sums.mass, rng.normal(size=(3, 2, 4))
    after = before.moved(mass, first)
    np.testing.assert_allclose(after.spread, 2 * before.spread)
    step = rng.normal(size=(3, 4))
    along = np.einsum("crq,cq->cr", first, step @ before.basis.T) / mass
    image = (after.times(step) - after.spread * step) @ before.basis.T
    np.testing.assert_allclose(image, np.einsum("crq,cr->cq", first, along))


def test_another_stiffness_is_that_of_an_inverse_built_with_it():
    rng = np.random.default_rng(0)
    curvature, parts = rng.uniform(1.0, 2.0, (4, 3)), rng.normal(size=(4, 2, 3))
    first, second = rng.uniform(0.1, 0.5, (2, 4))
    found, expected = (
        ClassInverse.of(1 / (curvature + stiffness[:, None]), parts, stiffness)
        for stiffness in (first, second)
    )
    gradient = rng.normal(size=(4, 3))
    found = found.stiffened(second)
    np.testing.assert_allclose(found(gradient), expected(gradient), rtol=1e-12)
    np.testing.assert_allclose(found.stiffness, second)


def test_a_stiffness_far_below_the_last_one_leaves_some():
    """In single precision the rest of the diagonal may vanish beside the stiffness."""
    diagonal, parts = np.full((2, 3), 1e-7, np.float32), np.ones((2, 1, 3), np.float32)
    stiff = ClassInverse.of(diagonal, parts, np.full(2, 1e7))
    for stiffness in (1e-3, 0.0):
        found = stiff.stiffened(np.full(2, stiffness))
        assert (found.diagonal > 0).all()
        assert (found.diagonal < 10.0).all()


@pytest.mark.parametrize("block", [1, 16, 1000])
@pytest.mark.parametrize("has_basis", [False, True])
def test_a_square_is_the_product_with_the_inverse(monkeypatch, has_basis, block):
    rng = np.random.default_rng(6)
    parts, (gradient, other) = rng.normal(size=(5, 2, 4)), rng.normal(size=(2, 5, 4))
    diagonal = rng.uniform(1.0, 2.0, (5, 4))
    inverse = ClassInverse.of(diagonal, parts, np.zeros(5))
    basis = np.linalg.qr(rng.normal(size=(4, 4)))[0] if has_basis else np.eye(4)
    precondition = Preconditioner(basis if has_basis else None, inverse)
    monkeypatch.setattr(preconditioner, "BLOCK_ENTRIES", block)
    found, square = precondition.with_square(gradient, other)
    np.testing.assert_allclose(found, precondition(gradient))
    for c in range(5):
        whole = basis @ (np.diag(1 / diagonal[c]) + parts[c].T @ parts[c]) @ basis.T
        np.testing.assert_allclose(whole @ found[c], gradient[c])
        square -= other[c] @ np.linalg.solve(whole, other[c])
    assert square == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("block", [1, 16, 1000])
def test_squares_of_parts_class_by_class(monkeypatch, block):
    rng = np.random.default_rng(8)
    parts, step = rng.normal(size=(5, 2, 4)), rng.normal(size=(5, 4))
    monkeypatch.setattr(preconditioner, "BLOCK_ENTRIES", block)
    wanted = np.einsum("crq,crp,cp->cq", parts, parts, step)
    np.testing.assert_allclose(squares_times(parts, step), wanted)


def test_turning_rows_of_all_classes_is_turning_each():
    rng = np.random.default_rng(7)
    rows, basis = rng.normal(size=(3, 2, 4)), rng.normal(size=(4, 4))
    for turn, matrix in ((into_basis, basis), (out_of_basis, basis.T)):
        found = turn(rows, basis)
        for c in range(3):
            np.testing.assert_allclose(found[c], rows[c] @ matrix)
        np.testing.assert_allclose(turn(rows[0], basis), found[0])
