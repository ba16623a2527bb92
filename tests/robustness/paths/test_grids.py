"""Grids of radii and label costs, at their boundaries."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.robustness.paths import grids
from wdrsvm.robustness.paths.grids import (
    MOST_RADII,
    RADIUS_RATIO,
    TOP_TOL,
    checked_label_costs,
    checked_radii,
    radii_below,
    useful_radii,
)
from wdrsvm.robustness.radius.radius_max import radius_max_of

from ..cases import twelve_rows

MATRIX = np.array([[0, 1], [2, 0]])
PROBLEM = RobustProblem.of(
    np.array([[-1.0], [1.0]]), np.array([0, 1]), np.full(2, 0.5), WassersteinBall(0.3), 2
)


def test_one_label_cost_alone_is_a_list_of_one():
    for alone in (2, 2.0, np.float64(2.0), np.int64(2)):
        assert checked_label_costs(alone) == [2.0]
    (matrix,) = checked_label_costs(MATRIX)
    assert matrix.dtype == np.float64
    np.testing.assert_array_equal(matrix, MATRIX)


def test_label_costs_are_floats_or_matrices():
    found = checked_label_costs([1, np.array(2), MATRIX.tolist()])
    assert [type(each) for each in found] == [float, float, np.ndarray]
    assert found[2].dtype == np.float64
    assert checked_label_costs(np.array([1, 3])) == [1.0, 3.0]
    for wrong in (["dear"], [None], 3j, [10**400], [[[1], [1, 2]]]):
        with pytest.raises(TypeError, match="label_costs must be numbers or matrices"):
            checked_label_costs(wrong)
    for nothing in ([], np.empty(0)):
        with pytest.raises(ValueError, match="one label cost at least"):
            checked_label_costs(nothing)


def test_a_number_of_radii_has_bounds():
    assert MOST_RADII == 10_000
    for count in (1, 2, np.int64(7), MOST_RADII):
        found = checked_radii(count)
        assert found == count
        assert type(found) is int
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="numbers or an integer >= 1, got"):
            checked_radii(wrong)
    with pytest.raises(ValueError, match="radii must be 10000 radii at most, got 10001"):
        checked_radii(MOST_RADII + 1)


def test_radii_are_finite_and_not_below_zero():
    assert checked_radii([0, 0.25]).tolist() == [0.0, 0.25]
    assert checked_radii([0]).dtype == np.float64
    for wrong in ([-0.1, 1.0], [np.inf], [np.nan, 1.0]):
        with pytest.raises(ValueError, match="radii must be finite and >= 0"):
            checked_radii(wrong)
    for wrong in ([], [[0.1]], 0.1, "many", [10**400], True):
        with pytest.raises(ValueError, match="radii must be numbers or an integer >= 1"):
            checked_radii(wrong)


@pytest.mark.parametrize(
    ("costs", "chosen"),
    [
        ([1.0, 3.0, 2.0], [3.0]),
        ([np.inf], [np.inf]),
        ([1.0, np.inf, MATRIX, 2.0], [2.0, np.inf, MATRIX]),
        ([MATRIX, 0.0], [0.0, MATRIX]),
    ],
    ids=["numbers", "inf", "all", "matrix"],
)
def test_the_largest_of_the_tops_begins_the_grid(monkeypatch, costs, chosen):
    asked = []

    def top(problem, tol):
        asked.append(SimpleNamespace(cost=problem.ball.label_cost, tol=tol))
        return float(len(asked))

    monkeypatch.setattr(grids, "radius_max_of", top)
    found = radii_below(PROBLEM, 3, costs)
    assert [each.tol for each in asked] == [TOP_TOL] * len(chosen) == [1e-3] * len(chosen)
    for each, cost in zip(asked, chosen, strict=True):
        np.testing.assert_array_equal(each.cost, cost)
    n = len(chosen)
    assert RADIUS_RATIO == 1e-3
    np.testing.assert_allclose(found, [n, n * 1e-3**0.5, n * 1e-3])


def test_where_nothing_can_be_learned_the_grid_begins_at_one(monkeypatch):
    monkeypatch.setattr(grids, "radius_max_of", lambda problem, tol: 0.0)
    np.testing.assert_allclose(radii_below(PROBLEM, 2, [1.0]), [1.0, 1e-3])


def test_radii_become_floats_or_a_sentence():
    given = checked_radii([1, 2])
    assert isinstance(given, np.ndarray)
    assert given.dtype == np.float64
    for wrong in (["much"], [[0.1]], [], 0, True, [-0.1], [np.inf]):
        with pytest.raises(ValueError, match="radii must be"):
            checked_radii(wrong)


def test_a_grid_begins_at_the_largest_radius_max_of_its_costs():
    problem = twelve_rows(WassersteinBall(0.0))
    matrix = 0.4 * (1 - np.eye(3))
    for costs in ([0.5, np.inf], [0.2, 0.9], [matrix, 0.1], [np.inf]):
        tops = [
            radius_max_of(replace(problem, ball=WassersteinBall(0.0, cost)), TOP_TOL)
            for cost in costs
        ]
        radii = radii_below(problem, 3, costs)
        assert radii[0] == pytest.approx(max(tops))
        assert radii[-1] == pytest.approx(RADIUS_RATIO * max(tops))


def test_label_costs_alone_and_in_lists():
    assert checked_label_costs(2) == [2.0]
    matrix = np.ones((3, 3)) - np.eye(3)
    (alone,) = checked_label_costs(matrix)
    np.testing.assert_array_equal(alone, matrix)
    assert checked_label_costs((1, np.inf)) == [1.0, np.inf]
    with pytest.raises(ValueError, match="one label cost at least"):
        checked_label_costs([])
    with pytest.raises(TypeError, match="label_costs must be numbers or matrices"):
        checked_label_costs(["dear"])


def test_more_radii_than_anyone_wants_are_refused():
    with pytest.raises(ValueError, match="radii at most, got"):
        checked_radii(10**9)


@pytest.mark.parametrize(("useful", "n_steps"), [(0.7, 1), (0.3, 3), (1e-9, 1)])
def test_a_search_begins_where_a_classifier_says_something(monkeypatch, useful, n_steps):
    """Steps down from the top by the factor 1.5; after eight, any radii will do."""
    asked = []

    def says_something(problem):
        asked.append((problem.ball.label_cost, problem.radius))
        return problem.ball.label_cost == np.inf and problem.radius <= useful

    monkeypatch.setattr(grids, "radius_max_of", lambda problem, tol: 1.0)
    monkeypatch.setattr(grids, "_says_something", says_something)
    found = useful_radii(PROBLEM, 2, [2.0, np.inf])
    np.testing.assert_allclose(found, [1.5**-n_steps, 1e-3 * 1.5**-n_steps])
    n_asked = n_steps if useful > 0.1 else 8
    expected = [(cost, 1.5**-k) for k in range(1, n_asked + 1) for cost in (2.0, np.inf)]
    np.testing.assert_allclose(asked, expected)


def test_a_classifier_says_something_if_it_promises_more_than_a_constant():
    problem = twelve_rows(WassersteinBall(0.01))
    assert grids._says_something(problem)
    assert not grids._says_something(problem.with_radius(100.0))


@pytest.mark.parametrize(("objective", "says"), [(0.49, True), (0.5, False), (0.6, False)])
def test_a_promise_that_counts_is_two_shares_below_that_of_a_constant(
    monkeypatch, objective, says
):
    asked = []

    def told(problem, settings):
        asked.append((problem.n_rows, settings))
        return SimpleNamespace(certificate=SimpleNamespace(objective=next(objectives)))

    objectives = iter([0.5 / (1 - 2 * grids.CONSTANT_SHARE), objective])
    monkeypatch.setattr(grids, "solve", told)
    assert grids._says_something(twelve_rows()) == says
    # Without features, rows of one label are one row.
    assert asked == [(3, grids.ROUGHLY), (12, grids.ROUGHLY)]
