"""Rows of smooth losses: by definition, and by finite differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from wdrsvm.problem import Loss
from wdrsvm.problem.certificate.smooth import RowTangents
from wdrsvm.solvers.newton.kernels import (
    ScoredRows,
    active_tangents,
    label_curvature,
    label_masses,
    soften_labels,
)

pytestmark = pytest.mark.tiny
N, C = 9, 4
LAM = 0.7
LOSSES = [Loss(1.0, 0.0), Loss(0.3, 1.0), Loss(1e-3, 1.0)]


def arguments(seed=0):
    rng = np.random.default_rng(seed)
    scores, y = 2 * rng.normal(size=(N, C)), rng.integers(0, C, N)
    cost = rng.uniform(0.1, 3.0, (N, C))
    cost[rng.random((N, C)) < 0.3] = np.inf
    cost[:2] = np.inf
    weight = rng.exponential(size=N)
    return scores, y, cost, np.arange(N), weight


def worths(loss, scores, y, cost, lam):
    """a_c = l(z, c) - lam k_c, -inf where the label cannot be given."""
    price = cost.copy()
    price[np.arange(N), y] = 0.0
    return loss.of_labels(scores) - lam * price


def soften(loss, scores, others, lam, mu, barrier):
    rows = ScoredRows(scores, *others, lam)
    return soften_labels(rows, mu, barrier, loss.temperature, loss.margin)


@pytest.mark.parametrize("barrier", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_smoothed_loss_closes_in_on_the_maximum_from_above(loss, barrier):
    scores, y, cost, row, weight = arguments()
    exact = weight @ worths(loss, scores, y, cost, LAM).max(axis=1)
    for mu in (0.3, 1e-3, 1e-8):
        found = soften(loss, scores, (y, cost, row, weight), LAM, mu, barrier)[1]
        assert exact - 1e-12 <= found <= exact + C * mu * weight.sum()


@pytest.mark.parametrize("barrier", [True, False])
@pytest.mark.parametrize("loss", LOSSES[:2])
def test_slopes_and_flip_cost_are_the_gradient_of_the_merit(loss, barrier):
    scores, *others = arguments(1)
    _, _, _, on_flips, slopes, _ = soften(loss, scores, others, LAM, 0.1, barrier)
    step = 1e-6
    for n, j in np.ndindex(N, C):
        shift = np.zeros_like(scores)
        shift[n, j] = step
        ends = [
            soften(loss, scores + s * shift, others, LAM, 0.1, barrier)[0] for s in (1, -1)
        ]
        assert slopes[n, j] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-6)
    ends = [soften(loss, scores, others, LAM + s * step, 0.1, barrier)[0] for s in (1, -1)]
    assert -on_flips == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-6)


@pytest.mark.parametrize("barrier", [True, False])
@pytest.mark.parametrize("loss", LOSSES[:2])
def test_curvature_is_the_derivative_of_the_slopes(loss, barrier):
    scores, *others = arguments(2)
    family = barrier, loss.temperature, loss.margin
    curvature = label_curvature(ScoredRows(scores, *others, LAM), 0.1, *family)
    step = 1e-5
    for j in range(C + 1):
        shift, d_lam = step * np.eye(C + 1)[j, :C], step * (j == C)
        ends = [
            soften(loss, scores + s * shift, others, LAM + s * d_lam, 0.1, barrier)
            for s in (1, -1)
        ]
        change = (ends[0][4] - ends[1][4]) / (2 * step)
        assert_allclose(curvature[:, :C, j], change, atol=1e-5)
        on_flips = (ends[0][3] - ends[1][3]) / (2 * step)
        assert -curvature[:, C, j].sum() == pytest.approx(on_flips, abs=1e-5)


@pytest.mark.parametrize("barrier", [True, False])
def test_masses_are_nonnegative_sum_to_the_weights_and_avoid_the_impossible(barrier):
    scores, y, cost, row, weight = arguments(3)
    rows = ScoredRows(scores, y, cost, row, weight, LAM)
    masses = label_masses(rows, 0.1, barrier, 1.0, 0.0)
    assert_allclose(masses.sum(axis=1), weight)
    possible = np.isfinite(cost)
    possible[np.arange(N), y] = True
    assert (masses >= 0).all()
    assert not masses[~possible].any()


@pytest.mark.parametrize("barrier", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_dual_value_is_that_of_the_tangents(loss, barrier):
    scores, y, cost, row, weight = arguments(5)
    dual = soften(loss, scores, (y, cost, row, weight), LAM, 0.1, barrier)[2]
    family = barrier, loss.temperature, loss.margin
    rows = ScoredRows(scores, y, cost, row, weight, LAM)
    masses = label_masses(rows, 0.1, *family)
    expected = RowTangents(loss, scores, masses).value(weight, y)
    assert dual == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_active_tangents_are_those_of_the_worst_label(loss):
    scores, y, cost, row, weight = arguments(4)
    slope = np.empty_like(scores)
    family = loss.temperature, loss.margin
    rows = ScoredRows(scores, y, cost, row, weight, LAM)
    spent = active_tangents(rows, *family, slope)
    label = worths(loss, scores, y, cost, LAM).argmax(axis=1)
    flipped = label != y
    assert spent == pytest.approx(weight[flipped] @ cost[flipped, label[flipped]])
    assert_allclose(slope.sum(axis=1), 0.0, atol=1e-12)
    assert (slope[np.arange(N), label] <= 0).all()
