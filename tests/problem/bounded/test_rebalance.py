"""Movement and switches of a plan that are corrected to balance its masses."""

import numpy as np
import pytest

from wdrsvm.problem.bounded.rebalance import (
    rebalanced_moves,
    rebalanced_switches,
    spread_moves,
    spread_switches,
)

N_CLASSES = 3
WINNER, LABEL = np.nonzero(~np.eye(N_CLASSES, dtype=bool))


def error_of(moved):
    """What movement (K, P) adds to the equation of the classes."""
    error = np.zeros((N_CLASSES, moved.shape[1]))
    np.add.at(error, WINNER, moved)
    np.subtract.at(error, LABEL, moved)
    return error


@pytest.mark.parametrize("seed", range(4))
def test_a_small_error_of_movement_is_removed(seed):
    rng = np.random.default_rng(seed)
    moved = rng.normal(size=(len(WINNER), 4))
    error = error_of(0.01 * rng.normal(size=moved.shape))
    found = rebalanced_moves(WINNER, LABEL, moved, error)
    np.testing.assert_allclose(error_of(found - moved), -error, atol=1e-12)
    # Little is changed, in proportion to what there is.
    assert (np.abs(found - moved) <= 0.5 * np.abs(moved) + 1e-12).all()


def test_movement_does_not_turn_back():
    moved = np.full((len(WINNER), 1), 0.1)
    found = rebalanced_moves(WINNER, LABEL, moved, np.array([[9.0], [-9.0], [0.0]]))
    assert (found >= 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_a_small_error_of_categories_is_removed(seed):
    rng = np.random.default_rng(seed)
    switched = rng.exponential(size=(len(WINNER), 4, 4))
    shift = 0.01 * rng.normal(size=switched.shape)
    error = error_of(shift.sum(axis=1) - shift.sum(axis=2))
    found = rebalanced_switches(WINNER, LABEL, switched, error)
    change = found - switched
    removed = error_of(change.sum(axis=1) - change.sum(axis=2))
    np.testing.assert_allclose(removed, -error, atol=1e-12)
    assert (found >= 0).all()
    assert not np.einsum("kaa->ka", change).any()


def test_without_an_error_nothing_changes():
    switched, moved = np.ones((len(WINNER), 2, 2)), np.ones((len(WINNER), 2))
    zero = np.zeros((N_CLASSES, 2))
    np.testing.assert_array_equal(rebalanced_moves(WINNER, LABEL, moved, zero), moved)
    found = rebalanced_switches(WINNER, LABEL, switched, zero)
    np.testing.assert_array_equal(found, switched)


@pytest.mark.parametrize("seed", range(4))
def test_an_error_is_spread_over_movement_that_has_room(seed):
    """Also where nothing moves yet; one side may be endless, or have no room at all."""
    rng = np.random.default_rng(seed)
    moved = np.zeros((len(WINNER), 4))
    up, down = rng.uniform(0.5, 1.0, size=(2, *moved.shape))
    up[:, 0], down[:2, 1] = np.inf, 0.0
    error = error_of(0.01 * rng.normal(size=moved.shape))
    found = spread_moves(WINNER, LABEL, moved, (up, down), error)
    np.testing.assert_allclose(error_of(found), -error, atol=1e-12)
    assert (found <= up).all()
    assert (found >= -down).all()
    np.testing.assert_array_equal(found[:2, 1], 0.0)


@pytest.mark.parametrize("end", ["up", "down"])
def test_movement_at_the_end_of_its_room_stays_there(end):
    rng = np.random.default_rng(0)
    up, down = rng.uniform(0.5, 1.0, size=(2, len(WINNER), 2))
    moved = 0.5 * up
    moved[:2] = up[:2] if end == "up" else -down[:2]
    error = error_of(0.01 * rng.normal(size=moved.shape))
    found = spread_moves(WINNER, LABEL, moved, (up, down), error)
    np.testing.assert_array_equal(found[:2], moved[:2])
    np.testing.assert_allclose(error_of(found - moved), -error, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_an_error_is_spread_over_categories_that_hold_mass(seed):
    rng = np.random.default_rng(seed)
    held = rng.uniform(0.5, 1.0, size=(len(WINNER), 3))
    held[0, 0] = 0.0
    switched = np.zeros((len(WINNER), 3, 3))
    switched[:, 1, 2] = 0.3 * held[:, 1]
    shift = 0.01 * rng.normal(size=switched.shape)
    error = error_of(shift.sum(axis=1) - shift.sum(axis=2))
    found = spread_switches(WINNER, LABEL, switched, held, error)
    change = found - switched
    removed = error_of(change.sum(axis=1) - change.sum(axis=2))
    np.testing.assert_allclose(removed, -error, atol=1e-12)
    assert (found >= 0).all()
    assert (found.sum(axis=2) <= held).all()
    # What was switched is switched back before anything is switched the other way.
    assert not found[:, 2, 1].any()


@pytest.mark.parametrize("seed", range(4))
def test_a_category_that_has_switched_all_of_its_mass_has_none_left(seed):
    rng = np.random.default_rng(seed)
    held = rng.uniform(0.5, 1.0, size=(len(WINNER), 3))
    switched = np.zeros((len(WINNER), 3, 3))
    switched[:4, 1, 2] = held[:4, 1]
    shift = 0.01 * rng.normal(size=switched.shape)
    error = error_of(shift.sum(axis=1) - shift.sum(axis=2))
    found = spread_switches(WINNER, LABEL, switched, held, error)
    assert (found.sum(axis=2) <= held + 1e-15).all()
    change = found - switched
    removed = error_of(change.sum(axis=1) - change.sum(axis=2))
    np.testing.assert_allclose(removed, -error, atol=1e-12)
