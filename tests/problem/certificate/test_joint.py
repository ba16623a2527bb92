"""Tilting kept and flipped mass together, against finite differences."""

import numpy as np
import pytest

from wdrsvm.problem import LOSSES, Multipliers
from wdrsvm.problem.certificate.joint import Joint, JointRows
from wdrsvm.problem.certificate.multipliers import RowMultipliers

from ...agreement.instances import random_problem


def random_rows(seed, n_rows=7, n_classes=4):
    """Rows that are torn between labels; masses of flips and of their winners agree."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_rows)
    alpha, phi, beta = rng.random((3, n_rows, n_classes))
    phi[np.arange(n_rows), y] = 0.0
    beta *= (phi.sum(axis=1) / beta.sum(axis=1))[:, None]
    return JointRows(RowMultipliers(alpha, phi, beta), y), rng


@pytest.mark.parametrize("seed", range(5))
def test_curvature_is_how_slopes_answer_a_tilt(seed):
    rows, rng = random_rows(seed)
    columns, tilt = rng.normal(size=(7, 3)), rng.normal(size=(4, 3))
    step = 1e-6
    there, back = (
        rows.tilted(sign * step * columns @ tilt.T).slopes(rows.y).T @ columns
        for sign in (1, -1)
    )
    expected = np.einsum("idje,je->id", rows.curvature(columns), tilt)
    np.testing.assert_allclose((there - back) / (2 * step), expected, atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_a_tilt_moves_mass_and_makes_none(seed):
    rows, rng = random_rows(seed)
    moved = rows.tilted(0.1 * rng.normal(size=(7, 4))).masses
    before = rows.masses
    np.testing.assert_allclose(
        moved.alpha.sum(axis=1) + moved.phi.sum(axis=1),
        before.alpha.sum(axis=1) + before.phi.sum(axis=1),
    )
    np.testing.assert_allclose(moved.beta.sum(axis=1), moved.phi.sum(axis=1))
    assert min(part.min() for part in moved) >= 0


def test_rows_without_flips_or_without_mass_have_no_more_than_their_own_curvature():
    rows, rng = random_rows(0)
    alpha, phi, beta = (part.copy() for part in rows.masses)
    phi[:3], beta[:3] = 0.0, 0.0
    alpha[0] = 0.0
    rows = JointRows(RowMultipliers(alpha, phi, beta), rows.y)
    pull = rng.normal(size=(7, 4))
    moved = rows.tilted(pull).masses
    assert all(np.isfinite(part).all() for part in moved)
    assert not moved.phi[:3].any()
    assert not moved.alpha[0].any()
    for n in (1, 2):
        away = pull[n] - pull[n, rows.y[n]]
        kept = alpha[n] * np.maximum(1 + away - alpha[n] @ away / alpha[n].sum(), 0.0)
        np.testing.assert_allclose(moved.alpha[n], alpha[n].sum() * kept / kept.sum())
    columns, tilt, step = rng.normal(size=(7, 3)), rng.normal(size=(4, 3)), 1e-6
    there, back = (
        rows.tilted(sign * step * columns @ tilt.T).slopes(rows.y).T @ columns
        for sign in (1, -1)
    )
    expected = np.einsum("idje,je->id", rows.curvature(columns), tilt)
    np.testing.assert_allclose((there - back) / (2 * step), expected, atol=1e-7)


def test_a_tilt_of_all_masses_is_that_of_their_slopes():
    """Each piece is pulled along its own slope, and winners along the classes."""
    rows, rng = random_rows(1)
    alpha, phi, beta = rows.masses
    pull = 0.3 * rng.normal(size=(7, 4))
    moved = rows.tilted(pull).masses
    for n, y in enumerate(rows.y):
        winners = beta[n] / beta[n].sum()
        masses = np.concatenate([alpha[n], phi[n]])
        pulls = np.concatenate([pull[n] - pull[n, y], winners @ pull[n] - pull[n]])
        after = masses * np.maximum(1 + pulls - masses @ pulls / masses.sum(), 0.0)
        after *= masses.sum() / after.sum()
        np.testing.assert_allclose(moved.alpha[n], after[:4])
        np.testing.assert_allclose(moved.phi[n], after[4:])
        share = winners * np.maximum(1 + pull[n] - winners @ pull[n], 0.0)
        np.testing.assert_allclose(moved.beta[n], after[4:].sum() * share / share.sum())


def test_everything_else_is_that_of_the_masses():
    rows, rng = random_rows(2)
    weight, cost = rng.exponential(size=7), rng.uniform(1.0, 2.0, (7, 4))
    assert rows.value(weight, rows.y) == rows.masses.value(weight, rows.y)
    assert rows.spending(cost) == rows.masses.spending(cost)
    np.testing.assert_array_equal(rows.slopes(rows.y), rows.masses.slopes(rows.y))
    for found, expected in (
        (rows.loosened(weight), rows.masses.loosened(weight)),
        (
            rows.restored(weight, rows.y, cost, 0.5),
            rows.masses.restored(weight, rows.y, cost, 0.5),
        ),
    ):
        np.testing.assert_array_equal(found.y, rows.y)
        for one, other in zip(found.masses, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    for loss, own in ((LOSSES["crammer-singer"], True), (LOSSES["logistic"], False)):
        assert rows.belong_to(loss) is own


def test_rows_of_a_problem_come_with_their_labels():
    problem = random_problem(3)
    masses = np.random.default_rng(0).random((3, problem.n_rows, problem.n_classes))
    found = Joint(Multipliers(*masses)).rows(problem, slice(2, 5))
    np.testing.assert_array_equal(found.y, problem.y[2:5])
    for part, whole in zip(found.masses, masses, strict=True):
        np.testing.assert_array_equal(part, whole[2:5])


@pytest.fixture
def joint():
    """Masses of three rows on all pieces."""
    rng = np.random.default_rng(0)
    y = np.array([0, 1, 2])
    alpha, phi, beta = rng.uniform(size=(3, 3, 3))
    weight, cost = np.array([0.2, 0.3, 0.5]), rng.uniform(1.0, 2.0, (3, 3))
    cost[np.arange(3), y] = np.inf
    rows = JointRows(RowMultipliers(alpha, phi, beta), y)
    return rows.restored(weight, y, cost, 1.0), weight, cost


def test_joint_tilts_keep_the_rows_feasible(joint):
    rows, weight, cost = joint
    alpha, phi, beta = rows.tilted(np.random.default_rng(1).normal(size=(3, 3)) / 10).masses
    assert min(alpha.min(), phi.min(), beta.min()) >= 0
    np.testing.assert_allclose(alpha.sum(axis=1) + phi.sum(axis=1), weight)
    np.testing.assert_allclose(phi.sum(axis=1), beta.sum(axis=1))
    assert not phi[~np.isfinite(cost)].any()


def test_joint_curvature_is_the_change_of_slopes(joint):
    """By finite differences: the sum of g e' answers a tilt as the system says."""
    rows, _, _ = joint
    rng = np.random.default_rng(2)
    columns, tilt = rng.normal(size=(3, 2)), 1e-6 * rng.normal(size=(3, 2))
    before = rows.slopes(rows.y).T @ columns
    after = rows.tilted(columns @ tilt.T).slopes(rows.y).T @ columns
    expected = np.einsum("idje,je->id", rows.curvature(columns), tilt)
    np.testing.assert_allclose(after - before, expected, atol=1e-10)
