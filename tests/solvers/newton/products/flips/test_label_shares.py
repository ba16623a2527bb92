"""Shares of labels that follow from sums of what was learnt."""

import numpy as np
import pytest

from wdrsvm.solvers.newton.products.flips.label_shares import LabelShares

from ..test_loop import blobs

N_CLASSES, N_FEATURES = 5, 8


def problem():
    trust = np.tile([1.0, 0.5, np.inf], 100)
    return blobs(n_classes=N_CLASSES).with_rows(label_trust=trust)


def test_first_shares_flip_as_many_rows_as_told():
    first = LabelShares.first((N_CLASSES, N_FEATURES), 0.2)
    y = np.array([0, 3])
    found = first.of(np.zeros((2, N_CLASSES)), y, None)
    np.testing.assert_allclose(found[[0, 1], y], 0.8)
    np.testing.assert_allclose(found[0, 1:], 0.05)


def test_two_lessons_are_one_after_the_other():
    given, rng = problem(), np.random.default_rng(0)
    shares = LabelShares.first((N_CLASSES, N_FEATURES), 0.2)
    rows = slice(0, 300)
    expected = shares.of_rows(given, rows)
    for price, mu in [(0.7, 0.5), (0.3, 0.2)]:
        coef = rng.normal(size=(N_CLASSES, N_FEATURES))
        costs = given.X @ coef.T + price * given.label_trust[:, None]
        own = np.arange(300), given.y
        costs[own] = (given.X @ coef.T)[own]
        expected = expected * np.exp(-costs / mu)
        expected /= expected.sum(axis=1, keepdims=True)
        shares = shares.learnt(coef, price, mu)
    found = shares.of_rows(given, rows)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert found[np.arange(2, 300, 3), given.y[2::3]] == pytest.approx(1.0)
