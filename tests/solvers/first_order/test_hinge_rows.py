"""One row after another settles where it is balanced."""

import numpy as np
import pytest

from wdrsvm.solvers.first_order.hinge_rows import (
    LAM,
    RESPONSE,
    SPENT,
    settle_flips,
    settle_labels,
)


def random_row(rng, n_classes):
    factor = rng.normal(size=(n_classes, n_classes))
    metric = factor @ factor.T
    return metric, 3 * rng.normal(size=n_classes), float(rng.uniform(0.1, 2.0))


@pytest.mark.parametrize("seed", range(10))
def test_a_row_without_flips_ends_balanced(seed):
    rng = np.random.default_rng(seed)
    metric, scores, q = random_row(rng, 5)
    first, alpha, change = scores.copy(), np.eye(5)[2] * 0.7, np.empty(5)
    assert settle_labels(alpha, scores, 2, q, metric, 0.3, 1e-6, change)
    values = scores + (np.arange(5) != 2)
    assert alpha.sum() == pytest.approx(0.7)
    assert values.max() - values[alpha > 0].min() <= 1e-6
    np.testing.assert_allclose(change, alpha - np.eye(5)[2] * 0.7)
    moved = (q * metric + 0.3 * np.eye(5)) @ change
    np.testing.assert_allclose(scores, first - moved, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_a_row_with_flips_ends_balanced_and_pays_for_them(seed):
    rng = np.random.default_rng(seed)
    metric, scores, q = random_row(rng, 4)
    alpha, phi, beta, change = np.eye(4)[1] * 0.7, *np.zeros((3, 4))
    cost = np.array([0.3, np.inf, 0.6, np.inf])
    price = np.zeros(7)
    price[[LAM, RESPONSE]] = 0.5, 2.0
    moved = np.zeros(4)
    # One call makes a bounded number of moves: call until a row asks for none.
    while settle_flips(
        alpha, phi, beta, cost, scores, 1, price, q, metric, 0.3, 1e-9, change
    ):
        moved += change
    assert alpha.sum() + phi.sum() == pytest.approx(0.7)
    assert beta.sum() == pytest.approx(phi.sum())
    spent = phi[0] * 0.3 + phi[2] * 0.6
    assert price[SPENT] == pytest.approx(spent, abs=1e-15)
    assert price[LAM] == pytest.approx(0.5 + 2.0 * spent)
    label = scores + (np.arange(4) != 1) - scores[1]
    flip = 1.0 - scores - price[LAM] * cost
    best = max(label.max(), scores.max() + flip.max())
    held = alpha @ label + beta @ scores + phi[[0, 2]] @ flip[[0, 2]]
    assert 0.7 * best - held <= 1e-8
    g = alpha - 0.7 * np.eye(4)[1] + beta - phi + phi.sum() * np.eye(4)[1]
    np.testing.assert_allclose(moved, g, atol=1e-12)
