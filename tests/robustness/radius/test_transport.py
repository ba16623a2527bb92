"""Costs of moving one row to another."""

import numpy as np

from wdrsvm.robustness.radius.transport import Sample, TransportCost


def test_features_that_cannot_move_must_be_equal():
    """However little they differ."""
    fixed = np.array([[1.0], [1.0 + 1e-9], [1.5]])
    rows = Sample(np.array([[0.0], [2.0], [5.0]]), fixed, None)
    found = TransportCost("l1", np.zeros((1, 1))).between(rows, rows)
    np.testing.assert_array_equal(found, np.where(np.eye(3, dtype=bool), 0.0, np.inf))


def test_labels_and_features_are_paid_for():
    rows = Sample(np.array([[0.0, 0.0], [3.0, 4.0]]), np.empty((2, 0)), np.array([0, 1]))
    price = np.array([[0.0, 7.0], [2.0, 0.0]])
    for norm, moved in {"l1": 7.0, "l2": 5.0, "linf": 4.0}.items():
        found = TransportCost(norm, price).between(rows, rows)
        np.testing.assert_allclose(found, [[0.0, moved + 7.0], [moved + 2.0, 0.0]])
