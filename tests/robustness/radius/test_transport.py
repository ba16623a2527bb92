"""Costs of moving one row to another."""

import numpy as np
import pytest

from wdrsvm.robustness.radius import transport
from wdrsvm.robustness.radius.transport import (
    Sample,
    TransportCost,
    directions_between,
    is_small,
    lower_bound,
    piece_sizes,
)


def rows_of(n_rows, n_features=1):
    return Sample(np.zeros((n_rows, n_features)), np.empty((n_rows, 0)), None)


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


@pytest.mark.parametrize(
    ("has_pot", "most", "more"),
    [
        (False, (2000, 2000), (2001, 2001)),
        (False, (100, 1000), (11, 9091)),
        (True, (1000, 4000), (41, 97_561)),
    ],
)
def test_distances_are_exact_up_to_the_sizes_of_the_documentation(
    monkeypatch, has_pot, most, more
):
    """One pair more of rows is too many."""
    monkeypatch.setattr(transport, "_has_pot", lambda: has_pot)
    most, more = (tuple(rows_of(n) for n in pair) for pair in (most, more))
    assert is_small(*most)
    assert not is_small(*more)
    assert piece_sizes(*most) == (most[0].n_rows, most[1].n_rows)
    assert piece_sizes(*more) < (more[0].n_rows, more[1].n_rows)


def test_equal_means_and_constant_features_have_no_direction():
    rows = Sample(np.array([[0.0, 2.0], [2.0, 0.0]]), np.empty((2, 0)), None)
    found = directions_between("l2", rows, rows, 3, np.random.default_rng(0))
    assert len(found) == 2 + 3
    assert np.isfinite(found).all()


def test_without_directions_and_labels_nothing_is_known_from_below():
    cost = TransportCost("l2", np.zeros((1, 1)))
    nothing = lower_bound(cost, rows_of(2, 0), rows_of(3, 0), np.empty((0, 0)))
    assert (nothing, type(nothing)) == (0.0, float)


def test_no_plan_or_no_pair_is_infinitely_far():
    mass = np.array([0.5, 0.5])
    nowhere = np.full((2, 2), np.inf)
    assert transport._transported(nowhere, mass, mass) == np.inf
    half = np.array([[0.0, np.inf], [np.inf, np.inf]])
    assert transport._transported(half, mass, mass) == np.inf
    uneven = transport._transported(np.array([[0.0, 4.0]]), np.ones(1), mass)
    assert uneven == pytest.approx(2.0)


def test_pot_is_the_module_ot(monkeypatch):
    for installed in ("ot", "pot"):
        monkeypatch.setattr(
            transport, "find_spec", lambda name, it=installed: name == it or None
        )
        assert transport._has_pot() == (installed == "ot")
