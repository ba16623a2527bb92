"""Smoothed samples against a list of all their pieces, and finite differences."""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from wdrsvm.solvers.newton.kernels import (
    ScoredRows,
    piece_margins,
    soft_curvature,
    soft_multipliers,
    soften,
)

pytestmark = pytest.mark.tiny
N_ROWS, LAM = 9, 0.6
class_counts = pytest.mark.parametrize("n_classes", [2, 3, 5])
temperatures = pytest.mark.parametrize("mu", [1.0, 0.1, 1e-3])


class Samples:
    """Random scores; ``cost`` holds a few rows of label costs that samples share."""

    def __init__(self, n_classes, seed=0):
        rng = np.random.default_rng(seed)
        self.scores = rng.normal(size=(N_ROWS, n_classes))
        self.y = rng.integers(0, n_classes, N_ROWS)
        self.cost = rng.uniform(0.1, 2.0, (4, n_classes))
        self.cost[0] = np.inf
        self.cost[1, 0] = np.inf
        self.cost[2] = 0.0
        self.cost_row = rng.integers(0, 4, N_ROWS)
        self.cost_row[:4] = np.arange(4)
        self.weight = rng.uniform(0.1, 1.0, N_ROWS)

    def scored(self, lam=LAM, scores=None):
        scores = self.scores if scores is None else scores
        return ScoredRows(scores, self.y, self.cost, self.cost_row, self.weight, lam)

    def pieces(self, n, lam=LAM, scores=None):
        """Value of every piece of sample n, with its winner, its label and its price."""
        z = (self.scores if scores is None else scores)[n]
        price, y = self.cost[self.cost_row[n]], self.y[n]
        classes = range(len(z))
        found = [((j != y) + z[j] - z[y], j, y, 0.0) for j in classes]
        for c in classes:
            if c != y and np.isfinite(price[c]):
                base = 1 - z[c] - lam * price[c]
                found += [(base + z[j], j, c, price[c]) for j in classes]
        return found

    def values(self, n, lam=LAM, scores=None):
        return np.array([piece[0] for piece in self.pieces(n, lam, scores)])

    def smooth(self, mu, lam=LAM, scores=None):
        """Smoothed losses by definition."""
        rows = [self.values(n, lam, scores) for n in range(N_ROWS)]
        return self.weight * mu * np.array([logsumexp(row / mu) for row in rows])

    def shares(self, n, mu, lam=LAM, scores=None):
        return self.weight[n] * softmax(self.values(n, lam, scores) / mu)


@class_counts
@temperatures
def test_loss_is_the_smooth_maximum_of_all_pieces(n_classes, mu):
    samples = Samples(n_classes)
    loss = soften(samples.scored(), mu)[0]
    assert loss == pytest.approx(samples.smooth(mu).sum(), rel=1e-12)


@class_counts
def test_loss_tends_to_the_maximum(n_classes):
    samples = Samples(n_classes)
    hard = samples.weight @ [samples.values(n).max() for n in range(N_ROWS)]
    assert soften(samples.scored(), 1e-13)[0] == pytest.approx(hard, rel=1e-11)
    for mu in (1e-4, 1e-2, 1.0):
        excess = soften(samples.scored(), mu)[0] - hard
        # The maximum is summed in another order than the losses.
        rounding = 1e-15 * abs(hard)
        assert -rounding <= excess <= mu * samples.weight.sum() * np.log(n_classes**2)


@class_counts
@temperatures
def test_multipliers_are_the_softmax_of_the_pieces(n_classes, mu):
    samples = Samples(n_classes)
    alpha, phi, beta = soft_multipliers(samples.scored(), mu)
    expected = np.zeros((3, N_ROWS, n_classes))
    for n in range(N_ROWS):
        shares = samples.shares(n, mu)
        for (_, winner, label, _), share in zip(samples.pieces(n), shares, strict=True):
            if label == samples.y[n]:
                expected[0, n, winner] += share
            else:
                expected[1, n, label] += share
                expected[2, n, winner] += share
    np.testing.assert_allclose([alpha, phi, beta], expected, atol=1e-13)


@class_counts
@pytest.mark.parametrize("mu", [1.0, 1e-3, 1e-13])
def test_multipliers_meet_the_row_sums(n_classes, mu):
    samples = Samples(n_classes)
    alpha, phi, beta = soft_multipliers(samples.scored(), mu)
    assert min(alpha.min(), phi.min(), beta.min()) >= 0
    np.testing.assert_allclose(alpha.sum(axis=1) + phi.sum(axis=1), samples.weight)
    np.testing.assert_allclose(beta.sum(axis=1), phi.sum(axis=1), atol=1e-15)
    assert not phi[np.isinf(samples.cost[samples.cost_row])].any()
    assert not phi[np.arange(N_ROWS), samples.y].any()


@class_counts
@pytest.mark.parametrize("mu", [1.0, 0.1])
def test_slopes_are_the_gradient(n_classes, mu):
    samples = Samples(n_classes)
    _, _, on_flips, slopes, _ = soften(samples.scored(), mu)
    h = 1e-6
    for j in range(n_classes):
        shift = h * (np.arange(n_classes) == j)
        up, down = (samples.smooth(mu, scores=samples.scores + d) for d in (shift, -shift))
        np.testing.assert_allclose(slopes[:, j], (up - down) / (2 * h), atol=1e-7)
    up, down = (samples.smooth(mu, lam=LAM + d).sum() for d in (h, -h))
    assert -on_flips == pytest.approx((up - down) / (2 * h), rel=1e-6)


@class_counts
@temperatures
def test_dual_value_and_slopes_belong_to_the_multipliers(n_classes, mu):
    samples = Samples(n_classes)
    alpha, phi, beta = soft_multipliers(samples.scored(), mu)
    _, dual, on_flips, slopes, softness = soften(samples.scored(), mu)
    own = np.arange(N_ROWS), samples.y
    assert dual == pytest.approx((samples.weight - alpha[own]).sum())
    expected = alpha + beta - phi
    expected[own] -= alpha.sum(axis=1)
    np.testing.assert_allclose(slopes, expected, atol=1e-15)
    price = samples.cost[samples.cost_row]
    assert on_flips == pytest.approx((phi * np.where(phi > 0, price, 0.0)).sum())
    largest = np.array([samples.shares(n, mu).max() for n in range(N_ROWS)])
    np.testing.assert_allclose(softness, 1 - largest / samples.weight, atol=1e-12)


def gradient_of_row(samples, n, mu, z, lam):
    """Gradient of one smoothed loss in (z, lam), from the pieces."""
    scores = samples.scores.copy()
    scores[n] = z
    pieces, shares = samples.pieces(n, lam, scores), samples.shares(n, mu, lam, scores)
    gradient = np.zeros(len(z) + 1)
    for (_, winner, label, price), share in zip(pieces, shares, strict=True):
        gradient[winner] += share
        gradient[label] -= share
        gradient[-1] -= share * price
    return gradient


@class_counts
@pytest.mark.parametrize("mu", [1.0, 0.1])
def test_curvature_is_the_derivative_of_the_gradient(n_classes, mu):
    samples = Samples(n_classes)
    curvature = soft_curvature(samples.scored(), mu)
    h = 1e-6
    for n in range(N_ROWS):
        point = np.append(samples.scores[n], LAM)
        for i in range(n_classes + 1):
            shift = h * (np.arange(n_classes + 1) == i)
            up, down = (
                gradient_of_row(samples, n, mu, moved[:-1], moved[-1])
                for moved in (point + shift, point - shift)
            )
            slope = (up - down) / (2 * h)
            np.testing.assert_allclose(curvature[n, i], slope, atol=1e-7)


@class_counts
@temperatures
def test_curvature_is_semidefinite(n_classes, mu):
    samples = Samples(n_classes)
    for block in soft_curvature(samples.scored(), mu):
        np.testing.assert_array_equal(block, block.T)
        values = np.linalg.eigvalsh(block)
        assert values[0] >= -1e-13 * max(values[-1], 1e-300)


def test_a_row_that_flips_for_certain_has_finite_curvature():
    """Nothing is left with the true label: its springs have no sum to divide by."""
    scores, cost = np.array([[100.0, 99.9, 0.0]]), np.array([[np.inf, 0.3, 0.1]])
    rows = ScoredRows(scores, np.array([0]), cost, np.array([0]), np.ones(1), LAM)
    alpha, _, _ = soft_multipliers(rows, 0.1)
    assert not alpha.any()
    curvature = soft_curvature(rows, 0.1)
    assert np.isfinite(curvature).all()


@class_counts
@pytest.mark.parametrize("seed", range(5))
def test_margins_are_between_the_two_largest_pieces(n_classes, seed):
    samples = Samples(n_classes, seed)
    found = piece_margins(samples.scored())
    for n in range(N_ROWS):
        second, first = np.sort(samples.values(n))[-2:]
        assert found[n] == pytest.approx(first - second, abs=1e-14)


def test_tied_pieces_have_no_margin():
    scores = np.array([[0.0, 0.0, -5.0], [2.0, 1.0, 1.0]])
    cost = np.full((1, 3), np.inf)
    rows = np.array([0, 0]), cost, np.zeros(2, int), np.ones(2)
    np.testing.assert_allclose(piece_margins(ScoredRows(scores, *rows, 0.0)), [1.0, 0.0])
