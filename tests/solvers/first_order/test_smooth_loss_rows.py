"""The first-order method on smooth losses: rows one by one, and whole problems."""

import numpy as np
import pytest

from wdrsvm.problem.certificate.smooth import RowTangents
from wdrsvm.solvers.first_order.hinge_rows import CENTRE, LAM, MARGIN, RESPONSE, TEMPERATURE
from wdrsvm.solvers.first_order.smooth_loss_rows import settle_tangent

from .cases import FAMILY


@pytest.mark.parametrize("loss", FAMILY, ids=str)
def test_a_row_settles_where_its_point_is_its_scores(loss):
    rng = np.random.default_rng(2)
    factor = rng.normal(size=(4, 4))
    metric, q, r, tol = factor @ factor.T + np.eye(4), 2.0, 0.3, 1e-9
    u, masses, slopes = np.zeros(4), 0.7 * np.eye(4)[1], np.zeros(4)
    cost = np.array([0.5, np.inf, 0.2, np.inf])
    price = np.zeros(9)
    price[[LAM, CENTRE, RESPONSE]] = 1.0, 1.0, 0.1
    price[[TEMPERATURE, MARGIN]] = loss.temperature, loss.margin
    scores, total = rng.normal(size=4), np.zeros(4)
    for _ in range(50):
        change = np.empty(4)
        settle_tangent(u, masses, slopes, cost, scores, 1, price, q, metric, r, tol, change)
        scores = scores - (q * metric + r * np.eye(4)) @ change
        total += change
    made = RowTangents(loss, u[None], masses[None])
    np.testing.assert_allclose(u, scores, atol=1e-7)
    np.testing.assert_allclose(slopes, made.slopes(None)[0], atol=1e-12)
    np.testing.assert_allclose(total, slopes, atol=1e-12)
    assert masses.sum() == pytest.approx(0.7)
    worth = loss.of_labels(u[None])[0] - price[LAM] * np.where(np.arange(4) == 1, 0, cost)
    assert worth[masses > 0].min() >= worth.max() - 1e-7
