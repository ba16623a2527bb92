"""The evidence chooses points, and weighs them."""

import numpy as np
import pytest

from wdrsvm.estimators.search.doubt.choice import (
    EVIDENCE_RATE,
    LEAST_SHARE,
    Doubts,
    believes_all,
    doubts_of,
)
from wdrsvm.estimators.search.doubt.opinions import Evidence, Opinion, Told

ALL = np.ones(3, dtype=bool)
ROWS = np.arange(2)


def doubts(value, weight=None, taken=0.0):
    value = np.asarray(value, dtype=float)
    weight = np.ones(value.shape[1]) if weight is None else np.asarray(weight, float)
    taken = np.broadcast_to(taken, len(value))
    factor, share = np.ones(len(value)), np.full(len(value), 0.3)
    evidence = Evidence(value, taken, factor, share, weight, len(weight))
    codes = np.zeros(value.shape[1], int)
    nothing = Told([], [], weight, codes)
    return Doubts(np.array(["a", "b", "c"]), codes, evidence, nothing)


def test_the_most_evidence_is_chosen_among_eligible_grid_points():
    found = doubts([[0.0] * 4, [1.0] * 4, [2.0] * 4, [3.0] * 4])
    # The last one is not in the grid.
    assert found.chosen(ALL) == 2
    assert found.chosen(np.array([True, True, False])) == 1


def test_rows_count_by_their_weights_and_priors_take_evidence():
    value = [[0.0, 0.0], [1.0, -1.0], [-9.0, -9.0]]
    assert doubts(value, [9, 1]).chosen(ALL) == 1
    assert doubts(value, [1, 9]).chosen(ALL) == 0
    assert doubts(value, [9, 1], taken=[0.0, 1.0, 0.0]).chosen(ALL) == 0


def test_weights_fall_exponentially_with_the_evidence_of_all_rows():
    behind = 1.0 / (EVIDENCE_RATE * 4)
    found = doubts([[0.0] * 4, [-behind] * 4, [-9.0 / EVIDENCE_RATE] * 4, [0.0] * 4])
    weights = found.weights(ALL)
    assert weights.sum() == pytest.approx(1)
    # Ridge points follow the grid, and count.
    assert weights == pytest.approx(np.array([1, np.exp(-1), 0, 1]) / (2 + np.exp(-1)))
    assert np.exp(-36) < LEAST_SHARE
    assert found.weights(np.array([False, True, True]))[0] == 0


def test_grid_points_have_weights_among_themselves():
    found = doubts([[0.0] * 4, [-1.0] * 4, [0.0] * 4, [99.0] * 4])
    among = np.array([1, np.exp(-4 * EVIDENCE_RATE), 1])
    assert found.grid_weights(ALL) == pytest.approx(among / among.sum())
    assert found.weights(ALL) == pytest.approx([0, 0, 0, 1])


def test_the_centre_is_the_heaviest_point_of_the_heavier_kind():
    # The first point is the heaviest one; the other two together are heavier.
    found = doubts([[0.1] * 4, [0.0] * 4, [0.05] * 4, [9.0] * 4])
    assert found.centre(ALL, np.array([True, False, False])) == 2
    assert found.centre(ALL, np.array([True, True, False])) == 0
    assert found.centre(ALL, ALL) == found.centre(ALL, ~ALL) == 0
    assert found.centre(np.array([True, True, False]), np.array([True, False, False])) == 0


def test_points_that_believe_all_labels_have_infinite_costs_between_labels():
    matrix = np.where(np.eye(2) == 1, 0.0, np.inf)
    found = believes_all([np.inf, 0.5, matrix], 2)
    assert found.tolist() == [True, True, False, False, True, True]


def test_points_that_were_left_out_have_no_weight():
    found = doubts([[0.0] * 4, [np.nan] * 4, [0.0] * 4])
    assert found.weights(ALL) == pytest.approx([0.5, 0, 0.5])


def test_the_share_of_wrong_labels_leaves_out_lucky_replacements():
    found = doubts([[0.0] * 4, [1.0] * 4, [2.0] * 4]).columns(2)
    assert found["wrong_share"] == pytest.approx([0.2, 0.2])
    assert found["mean_test_evidence"] == pytest.approx([0, 1])


def test_labels_are_codes_and_weights_are_equal_by_default():
    said = Opinion(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([0, 1]))
    found = doubts_of(np.array(["no", "yes"]), None, [np.array([0, 1])], [[said]], ROWS)
    assert found.codes.tolist() == [0, 1]
    assert found.evidence.weight.tolist() == [1.0, 1.0]
