"""Tangent multipliers: bounds that hold, slopes and curvature by finite differences."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from wdrsvm.problem import Loss, dual_bound
from wdrsvm.problem.tangents import RowTangents, Tangents

from ..agreement.instances import random_problem

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
