"""Tangent multipliers: bounds that hold, slopes and curvature by finite differences."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from wdrsvm.problem import Loss, dual_bound
from wdrsvm.problem.certificate.smooth import RowTangents, Tangents

from ...agreement.instances import random_problem

LOSSES = [Loss(1.0, 0.0), Loss(0.4, 1.0), Loss(0.05, 1.0)]


def random_tangents(seed, loss, n_rows=7, n_classes=4):
    rng = np.random.default_rng(seed)
    masses = rng.exponential(size=(n_rows, n_classes))
    masses[rng.random(masses.shape) < 0.3] = 0.0
    return RowTangents(loss, rng.normal(size=(n_rows, n_classes)), masses)


@pytest.mark.parametrize("loss", LOSSES)
def test_value_is_margin_and_entropy_of_the_winners(loss):
    rows = random_tangents(0, loss)
    value = 0.0
    for u, masses in zip(rows.points, rows.masses, strict=True):
        for label, mass in enumerate(masses):
            lifted = u + loss.margin * (np.arange(len(u)) != label)
            p = softmax(lifted / loss.temperature)
            entropy = -np.sum(p * np.log(np.maximum(p, 1e-300)))
            value += mass * (loss.margin * (1 - p[label]) + loss.temperature * entropy)
    assert rows.value(None, None) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_slopes_are_gradients_of_the_losses(loss):
    rows, step = random_tangents(1, loss), 1e-6

    def total(points):
        return (rows.masses * loss.of_labels(points)).sum(axis=1)

    for j in range(rows.points.shape[1]):
        shift = step * np.eye(rows.points.shape[1])[j]
        slope = (total(rows.points + shift) - total(rows.points - shift)) / (2 * step)
        np.testing.assert_allclose(rows.slopes(None)[:, j], slope, atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_curvature_is_how_slopes_answer_a_tilt(loss):
    rows = random_tangents(2, loss)
    rng = np.random.default_rng(3)
    columns, tilt = rng.normal(size=(len(rows.points), 2)), 1e-6 * rng.normal(size=(4, 2))
    moved = rows.tilted(columns @ tilt.T).slopes(None) - rows.slopes(None)
    predicted = np.einsum("idje,je->id", rows.curvature(columns), tilt)
    np.testing.assert_allclose(moved.T @ columns, predicted, rtol=1e-3, atol=1e-10)


def test_tilting_keeps_the_mass_of_each_row():
    rows = random_tangents(4, LOSSES[1])
    tilted = rows.tilted(np.random.default_rng(5).normal(size=rows.points.shape))
    np.testing.assert_allclose(tilted.masses.sum(axis=1), rows.masses.sum(axis=1))
    assert (tilted.masses >= 0).all()


def test_restored_masses_sum_to_the_weights_without_impossible_flips():
    rows = random_tangents(6, LOSSES[0])
    y, weight = np.arange(7) % 4, np.full(7, 1 / 7)
    cost = np.where(np.arange(4) == 3, np.inf, np.full((7, 4), 2.0))
    cost[np.arange(7), y] = np.inf
    for share in (1.0, 0.25):
        made = rows.restored(weight, y, cost, share)
        np.testing.assert_allclose(made.masses.sum(axis=1), weight)
        assert not made.masses[y != 3, 3].any()
    none = replace(rows, masses=np.zeros_like(rows.masses)).restored(weight, y, cost, 1.0)
    np.testing.assert_array_equal(none.masses[np.arange(7), y], weight)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(20))
def test_no_tangents_bound_above_what_is_attained(seed, loss):
    """Any tangents at all: the bound is below the risk of any classifier."""
    problem = replace(random_problem(seed), loss=loss)
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(problem.n_classes, problem.n_features)) * rng.choice([0.1, 1.0])
    intercept = rng.normal(size=problem.n_classes) * problem.fit_intercept
    points = problem.scores(coef, intercept)
    masses = rng.exponential(size=points.shape)
    masses[np.arange(problem.n_rows), problem.y] *= 10
    bound = dual_bound(problem, Tangents(loss, points, masses))
    zero = problem.risk(np.zeros_like(coef), np.zeros_like(intercept)).value
    assert 0.0 <= bound <= min(zero, problem.risk(coef, intercept).value) + 1e-12


def test_tangents_of_another_loss_are_refused():
    problem = random_problem(0)
    points = np.zeros((problem.n_rows, problem.n_classes))
    with pytest.raises(ValueError, match="not those of the loss"):
        dual_bound(problem, Tangents(LOSSES[0], points, points))


def masses_by_hand(masses, weight, y, cost, flip_share):
    """Of one row: no impossible flips, costly ones in part, the label has the rest."""
    flips = np.maximum(masses, 0.0)
    own = flips[y]
    flips[~np.isfinite(cost)] = 0.0
    flips[y] = 0.0
    total = own + flips.sum()
    flips *= weight / total if total else 0.0
    flips[cost > 0] *= flip_share
    flips[y] = weight - flips.sum()
    return flips


def test_restored_masses_are_those_of_every_row():
    for share in (0.25, 0.0, 1.0):
        rng = np.random.default_rng(8)
        masses = rng.normal(size=(30, 4))
        masses[0] = 0.0
        y, weight = rng.integers(0, 4, 30), rng.exponential(size=30)
        masses[1] = -1.0
        masses[2, y[2]] = 0.0
        cost = rng.choice([0.0, 0.6, np.inf], (30, 4))
        cost[np.arange(30), y] = np.inf
        rows = RowTangents(LOSSES[1], rng.normal(size=(30, 4)), masses)
        before = masses.copy()
        found = rows.restored(weight, y, cost, share)
        np.testing.assert_array_equal(masses, before)
        assert found.points is rows.points
        assert found.loss == rows.loss
        spent = 0.0
        for n in range(30):
            expected = masses_by_hand(masses[n].copy(), weight[n], y[n], cost[n], share)
            np.testing.assert_allclose(found.masses[n], expected, atol=1e-15)
            paid = np.where(np.isfinite(cost[n]), cost[n], 0.0)
            spent += paid @ expected
        assert found.spending(cost) == pytest.approx(spent)
        assert (found.masses >= 0).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_a_tilt_moves_points_along_it_and_mass_to_labels_that_agree(loss):
    rows = random_tangents(9, loss)
    pull = 0.2 * np.random.default_rng(10).normal(size=rows.points.shape)
    found = rows.tilted(pull)
    np.testing.assert_allclose(found.points, rows.points + loss.temperature * pull)
    for n, (u, masses) in enumerate(zip(rows.points, rows.masses, strict=True)):
        agreement = np.zeros(4)
        for c in np.flatnonzero(masses):
            lifted = u + loss.margin * (np.arange(4) != c)
            agreement[c] = softmax(lifted / loss.temperature) @ pull[n] - pull[n, c]
        mean = masses @ agreement / max(masses.sum(), 1e-300)
        moved = masses * np.maximum(1 + agreement - mean, 0.0)
        scale = masses.sum() / moved.sum() if masses.any() else 0.0
        np.testing.assert_allclose(found.masses[n], scale * moved, atol=1e-14)


def test_far_away_points_have_the_value_of_near_ones():
    rows = random_tangents(11, LOSSES[0])
    far = replace(rows, points=rows.points + 2.0**40)
    near = replace(rows, points=far.points - 2.0**40)
    assert far.value(None, None) == pytest.approx(near.value(None, None), rel=1e-9)


def test_rows_without_mass_have_no_curvature():
    rows = random_tangents(12, LOSSES[1])
    rows.masses[:3] = 0.0
    columns = np.random.default_rng(0).normal(size=(7, 1))
    some = RowTangents(rows.loss, rows.points[3:], rows.masses[3:])
    np.testing.assert_allclose(rows.curvature(columns), some.curvature(columns[3:]))
    assert rows.curvature(np.empty((7, 0))).shape == (4, 0, 4, 0)


def test_tangents_are_handed_out_by_rows():
    rng = np.random.default_rng(0)
    points, masses = rng.normal(size=(2, 9, 3))
    gradient = np.ones((3, 2))
    found = Tangents(LOSSES[1], points, masses, gradient=gradient)
    rows = found.rows(None, slice(2, 5))
    np.testing.assert_array_equal(rows.points, points[2:5])
    np.testing.assert_array_equal(rows.masses, masses[2:5])
    assert rows.belong_to(LOSSES[1])
    assert not rows.belong_to(LOSSES[0])
    assert rows.loosened(np.ones(3)) is rows
    assert (found.flow, found.gradient) == (None, gradient)


def test_the_system_of_one_column_is_that_of_many():
    rng = np.random.default_rng(0)
    masses, column = rng.uniform(size=(30, 4)), rng.normal(size=(30, 1))
    for loss in (Loss(1.0, 0.0), Loss(0.3, 1.0)):
        part = RowTangents(loss, rng.normal(size=(30, 4)), masses)
        many = part.curvature(np.hstack([column, column]))
        np.testing.assert_allclose(part.curvature(column)[:, 0, :, 0], many[:, 0, :, 0])


def test_rows_without_mass_do_not_respond():
    rows = random_tangents(0, LOSSES[1])
    rows = replace(rows, masses=np.where(np.arange(7)[:, None] == 2, 0.0, rows.masses))
    found = rows.response(np.ones((7, 4)) * np.arange(4.0))
    assert np.isfinite(found).all()
    assert not found[2].any()
