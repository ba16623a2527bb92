"""Multipliers of rows, each function against its formula written out for a row."""

import numpy as np
import pytest

from wdrsvm.problem import LOSSES, Loss
from wdrsvm.problem.certificate.multipliers import (
    Changed,
    Loosened,
    Multipliers,
    RowMultipliers,
    tilt,
)

from ...agreement.instances import random_problem

N, C = 40, 3


def random_rows(seed):
    """Masses of either sign, many of them zero; flips that are free, dear or impossible."""
    rng = np.random.default_rng(seed)
    masses = rng.normal(size=(3, N, C)) * (rng.random((3, N, C)) < 0.6)
    # Rows without any mass, without any of their own label's, and without winners.
    masses[:, 0] = 0.0
    masses[0, 1], masses[1, 1] = 0.0, 1.0
    masses[2, 2], masses[1, 2] = 0.0, 1.0
    y, weight = rng.integers(0, C, N), rng.exponential(size=N)
    cost = rng.choice([0.0, 0.7, 2.0, np.inf], (N, C))
    cost[1:3] = 0.7
    cost[np.arange(N), y] = np.inf
    return RowMultipliers(*masses), weight, y, cost


def scaled_to(mass, total, otherwise):
    return total * mass / mass.sum() if mass.sum() else otherwise


def restored_by_hand(alpha, phi, beta, weight, y, cost, flip_share):
    own = np.eye(C)[y]
    alpha, beta = np.maximum(alpha, 0.0), np.maximum(beta, 0.0)
    phi = np.maximum(phi, 0.0) * np.isfinite(cost)
    total = alpha.sum() + phi.sum()
    phi = phi * weight / total if total else phi
    phi = np.where(cost > 0, flip_share * phi, phi)
    flipped = phi.sum()
    alpha = scaled_to(alpha, weight - flipped, (weight - flipped) * own)
    return alpha, phi, scaled_to(beta, flipped, phi)


@pytest.mark.parametrize("seed", range(3))
def test_restored_masses_are_feasible_row_by_row(seed):
    for flip_share in (0.0, 0.3, 1.0):
        rows, weight, y, cost = random_rows(seed)
        before = [part.copy() for part in rows]
        found = rows.restored(weight, y, cost, flip_share)
        for n in range(N):
            masses = (part[n] for part in rows)
            expected = restored_by_hand(*masses, weight[n], y[n], cost[n], flip_share)
            for part, by_hand in zip(found, expected, strict=True):
                np.testing.assert_allclose(part[n], by_hand, atol=1e-14)
        np.testing.assert_allclose(found.alpha.sum(1) + found.phi.sum(1), weight)
        np.testing.assert_allclose(found.beta.sum(1), found.phi.sum(1), atol=1e-14)
        for part, kept in zip(rows, before, strict=True):
            np.testing.assert_array_equal(part, kept)


def test_no_restored_mass_is_negative():
    """Where all is flipped, what rounding leaves of the weight has no sign."""
    rng = np.random.default_rng(0)
    y, weight = np.zeros(200, int), rng.exponential(size=200)
    phi = rng.random((200, 3)) * [0.0, 1.0, 1.0]
    rows = RowMultipliers(np.full((200, 3), 1e-300), phi, phi)
    cost = np.tile([np.inf, 1.0, 2.0], (200, 1))
    restored = rows.restored(weight, y, cost, 1.0)
    assert (weight < restored.phi.sum(axis=1)).any()
    assert (restored.alpha >= 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_value_spending_and_slopes_are_sums_over_rows_and_classes(seed):
    rows, weight, y, cost = random_rows(seed)
    rows = rows.restored(weight, y, cost, 0.5)
    alpha, phi, beta = rows
    value = spending = 0.0
    slopes = np.zeros((N, C))
    for n in range(N):
        value += weight[n] - alpha[n, y[n]]
        slopes[n] = alpha[n] - alpha[n].sum() * np.eye(C)[y[n]] + beta[n] - phi[n]
        spending += sum(cost[n, c] * phi[n, c] for c in range(C) if phi[n, c] > 0)
    assert rows.value(weight, y) == pytest.approx(value, rel=1e-12)
    assert rows.spending(cost) == pytest.approx(spending, rel=1e-12)
    np.testing.assert_allclose(rows.slopes(y), slopes, atol=1e-14)


def test_curvature_is_how_slopes_answer_a_tilt():
    for n_columns in (0, 1, 2):
        rng = np.random.default_rng(0)
        alpha, phi, beta = rng.exponential(size=(3, N, C))
        alpha[:2] = 0.0  # a row without mass has no curvature
        rows, y = RowMultipliers(alpha, phi, beta), rng.integers(0, C, N)
        columns, step = rng.normal(size=(N, n_columns)), 1e-6
        towards = rng.normal(size=(C, n_columns))
        there, back = (
            rows.tilted(sign * step * columns @ towards.T).slopes(y).T @ columns
            for sign in (1, -1)
        )
        system = rows.curvature(columns)
        assert system.shape == (C, n_columns, C, n_columns)
        expected = np.einsum("idje,je->id", system, towards)
        np.testing.assert_allclose((there - back) / (2 * step), expected, atol=1e-7)


def test_a_tilt_shifts_mass_by_at_most_what_is_there():
    rng = np.random.default_rng(1)
    mass = rng.exponential(size=(N, C)) * (rng.random((N, C)) < 0.8)
    mass[0] = 0.0
    pull = rng.normal(size=(N, C))
    found = tilt(mass, pull)
    for n in range(1, N):
        total = mass[n].sum()
        moved = mass[n] * np.maximum(1 + pull[n] - mass[n] @ pull[n] / total, 0.0)
        np.testing.assert_allclose(found[n], total * moved / moved.sum())
    assert not found[0].any()


def test_a_tilt_too_violent_for_rounding_leaves_a_row_as_it_was():
    mass = np.full((1, 3), 0.1)
    clipped = 0
    for pull in 10.0 ** np.linspace(16, 20, 200):
        rounded = 1 + pull - (mass * pull).sum() / mass.sum()
        clipped += rounded <= 0
        np.testing.assert_allclose(tilt(mass, np.full((1, 3), pull)), mass)
    assert clipped


def test_loosening_adds_the_same_trace_to_every_piece():
    rows, weight, _, _ = random_rows(0)
    loose = rows.loosened(weight)
    # A thousand-millionth of the weight, in equal parts.
    expected = np.repeat(1e-9 * weight[:, None] / C, C, axis=1)
    np.testing.assert_allclose(loose.alpha - rows.alpha, expected, rtol=1e-4, atol=1e-15)
    np.testing.assert_allclose(loose.beta - rows.beta, expected, rtol=1e-4, atol=1e-15)
    np.testing.assert_array_equal(loose.phi, rows.phi)


def test_multipliers_are_handed_out_by_rows_and_keep_what_is_known_of_the_norm():
    problem = random_problem(3)
    shape = (problem.n_rows, problem.n_classes)
    alpha, phi, beta = np.random.default_rng(0).random((3, *shape))
    flow, gradient = np.ones((1, 2)), np.ones((2, 2))
    given = Multipliers(alpha, phi, beta, flow, gradient)
    rows = slice(2, 5)
    for part, whole in zip(given.rows(problem, rows), (alpha, phi, beta), strict=True):
        np.testing.assert_array_equal(part, whole[rows])
    loose = Loosened(given)
    expected = given.rows(problem, rows).loosened(problem.weight[rows])
    for part, other in zip(loose.rows(problem, rows), expected, strict=True):
        np.testing.assert_array_equal(part, other)
    assert loose.flow is flow
    assert Changed(given).gradient is gradient


def test_masses_belong_to_the_crammer_singer_loss_alone():
    rows = random_rows(0)[0]
    assert rows.belong_to(LOSSES["crammer-singer"])
    assert not rows.belong_to(LOSSES["logistic"])
    assert not rows.belong_to(Loss(0.0, 2.0))


def test_slopes_do_not_feel_the_zero_piece():
    tiny = 1e-20
    masses = RowMultipliers(np.array([[1.0, tiny]]), np.zeros((1, 2)), np.zeros((1, 2)))
    np.testing.assert_array_equal(masses.slopes(np.array([0])), [[-tiny, tiny]])


def test_the_most_violent_tilt_keeps_the_mass_of_every_row():
    mass = np.array([[0.3, 0.0, 0.0], [0.1, 0.2, 0.3], [0.0, 0.0, 0.0]])
    pull = np.random.default_rng(0).normal(size=(200, 3, 3))
    for size in (1.0, 1e8, 1e16, 1e20, 1e30):
        for each in pull:
            tilted = tilt(mass, size * each)
            assert (tilted >= 0).all()
            np.testing.assert_allclose(tilted.sum(axis=1), mass.sum(axis=1))


def test_slopes_of_rows():
    part = RowMultipliers(
        alpha=np.array([[0.1, 0.2, 0.3]]),
        phi=np.array([[0.4, 0.0, 0.0]]),
        beta=np.array([[0.0, 0.1, 0.3]]),
    )
    np.testing.assert_allclose(part.slopes(np.array([1])), [[-0.3, -0.3, 0.6]])
