"""Doubt must earn its place."""

import numpy as np
import pytest

from wdrsvm.estimators.search.doubt.choice import AHEAD, Doubts, doubts_of
from wdrsvm.estimators.search.doubt.opinions import FACTORS, Evidence, Opinion
from wdrsvm.estimators.search.grid import SearchGrid

GRID = SearchGrid(np.array([0.1, 0.01]), [np.inf, 1.0])
ALL = np.ones(4, dtype=bool)


def doubts(value, weight=None):
    value = np.asarray(value, dtype=float)
    weight = np.ones(value.shape[1]) if weight is None else np.asarray(weight, float)
    share, other = np.full(len(value), 0.3), np.zeros(value.shape, dtype=int)
    evidence = Evidence(value, share, value, other, value, weight)
    return Doubts(np.array(["a", "b", "c"]), np.zeros(value.shape[1], int), evidence)


def test_the_best_of_each_kind_are_compared():
    plain = [[0.0] * 4, [1.0] * 4]
    assert doubts([*plain, [2.0] * 4, [3.0] * 4]).chosen(GRID, ALL) == 3
    assert doubts([*plain, [0.5] * 4, [0.7] * 4]).chosen(GRID, ALL) == 1


@pytest.mark.parametrize(("gain", "place"), [(1.1, 2), (0.9, 0)])
def test_doubt_needs_an_advantage_above_its_error(gain, place):
    """Differences of 1 and -1 have the standard error 1 / sqrt(100)."""
    noise = np.tile([1.0, -1.0], 50)
    ahead = noise + gain * AHEAD / 10
    value = [np.zeros(100), np.full(100, -9.0), ahead, np.full(100, -9.0)]
    assert doubts(value).chosen(GRID, ALL) == place


def test_rows_count_by_their_weights():
    value = [[0.0, 0.0], [-9, -9], [1.0, -1.0], [-9, -9]]
    assert doubts(value, [9, 1]).chosen(GRID, ALL) == 2
    assert doubts(value, [1, 9]).chosen(GRID, ALL) == 0


def test_only_eligible_points_are_chosen():
    value = [[0.0] * 4, [1.0] * 4, [2.0] * 4, [3.0] * 4]
    assert doubts(value).chosen(GRID, np.array([True, True, True, False])) == 2
    assert doubts(value).chosen(GRID, np.array([True, True, False, False])) == 1
    assert doubts(value).chosen(GRID, np.array([False, False, True, False])) == 2


def test_a_matrix_that_excludes_all_confusions_believes_all_labels():
    trusting = np.where(np.eye(3, dtype=bool), 0.0, np.inf)
    grid = SearchGrid(np.array([0.1]), [trusting, 1.0])
    noise = np.tile([1.0, -1.0], 50)
    assert doubts([np.zeros(100), noise + 1e-3]).chosen(grid, ALL[:2]) == 0


def test_the_share_of_wrong_labels_leaves_out_lucky_replacements():
    found = doubts([[0.0] * 4, [1.0] * 4]).columns["wrong_share"]
    assert found == pytest.approx([0.2, 0.2])


def test_labels_are_codes_and_weights_are_equal_by_default():
    given = np.tile([0.9, 0.8], (len(FACTORS), 1))
    said = Opinion(given, np.array([1, 0]), np.array([-1.0, -1.0]), True)
    found = doubts_of(np.array(["no", "yes"]), None, [np.array([0, 1])], [[said]])
    assert found.codes.tolist() == [0, 1]
    assert found.evidence.weight.tolist() == [1.0, 1.0]
