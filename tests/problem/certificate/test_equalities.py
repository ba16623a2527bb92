"""The columns on which multipliers balance: which they are, their scale, their rounding."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.problem import RobustProblem, WassersteinBall
from wdrsvm.problem.certificate.equalities import (
    EQUALITY_ROUNDING,
    BoundTotals,
    Equalities,
    Sums,
    largest_entries,
)
from wdrsvm.rows import blocks

X = np.array([[1.0, -8.0, 0.0, 3.0], [-2.0, 4.0, 0.0, -1.0], [0.5, 2.0, 0.0, -4.0]])
GRADIENT = np.arange(8.0).reshape(2, 4)
ALL = np.ones(4, dtype=bool)


def problem_of(X=X, radius=0.1, **changes):
    ball = WassersteinBall(radius, feature_cost=[1.0, 1.0, 1.0, np.inf])
    return RobustProblem.of(X, np.array([0, 1, 0]), np.full(3, 1 / 3), ball, 2, **changes)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_design_has_the_columns_that_are_not_zero(kind, fit_intercept):
    problem = problem_of(kind(X), fit_intercept=fit_intercept)
    equalities = Equalities.of(problem, ALL, GRADIENT)
    ones = [1.0] * fit_intercept
    assert equalities.columns.tolist() == [0, 1, 3]
    assert equalities.scale.tolist() == [2.0, 8.0, 4.0]
    assert equalities.strict.tolist() == [False, False, True, *[True] * fit_intercept]
    aim = np.hstack([GRADIENT[:, [0, 1, 3]] / [2.0, 8.0, 4.0], np.zeros((2, len(ones)))])
    np.testing.assert_array_equal(equalities.aim, aim)
    rows = np.hstack([X[1:, [0, 1, 3]] / [2.0, 8.0, 4.0], np.ones((2, len(ones)))])
    np.testing.assert_array_equal(equalities.rows(problem, slice(1, 3)), rows)
    features = equalities.features(problem, slice(1, 3))
    dense = features.toarray() if sparse.issparse(features) else features
    np.testing.assert_array_equal(dense, X[1:])


def test_without_a_gradient_sums_are_to_vanish_on_the_chosen_columns():
    equalities = Equalities.of(problem_of(), np.array([False, True, False, True]))
    assert equalities.columns.tolist() == [1, 3]
    np.testing.assert_array_equal(equalities.aim, np.zeros((2, 3)))
    none = Equalities.of(problem_of(), ~ALL)
    assert len(none.columns) == 0
    np.testing.assert_array_equal(none.rows(problem_of(), slice(0, 3)), np.ones((3, 1)))


def test_without_a_budget_every_column_is_strict():
    assert Equalities.of(problem_of(radius=0.0), ALL).strict.all()


def test_columns_too_small_to_divide_by_are_left_out():
    scale = np.array([1e-61, 1e-59, 1.0, 1.0])
    problem = problem_of(np.ones((3, 4)) * scale, fit_intercept=False)
    equalities = Equalities.of(problem, ALL)
    assert equalities.columns.tolist() == [1, 2, 3]


def test_features_far_from_zero_are_taken_from_their_middle(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 4)
    problem = problem_of(X + 1e6)
    equalities = Equalities.of(problem, ALL)
    np.testing.assert_array_equal(equalities.centre, problem.centre)
    assert problem.centre.all()
    expected = X + 1e6 - problem.centre
    np.testing.assert_array_equal(equalities.features(problem, slice(0, 3)), expected)
    np.testing.assert_array_equal(
        equalities.scale, np.abs(expected[:, [0, 1, 3]]).max(axis=0)
    )
    np.testing.assert_array_equal(equalities.rows(problem, slice(0, 3))[:, -1], 1.0)


def test_the_largest_entries_of_no_columns_are_none():
    assert len(largest_entries(problem_of(), np.empty(0, dtype=np.intp))) == 0
    assert largest_entries(problem_of(), np.array([1])).tolist() == [8.0]


def sums_that_lack(lack, equalities, moved=1.0):
    lack = np.asarray(lack)
    gradient = np.full((2, 4), 7.0)
    totals = BoundTotals(1.0, gradient, np.full(lack.shape, 10.0))
    return Sums(0.0, equalities.aim - lack, moved, totals=totals)


def test_what_lacks_and_what_is_missed():
    equalities = Equalities.of(problem_of(), ALL, GRADIENT)
    lack = np.array([[0.5, -1.0, 0.25, 0.0], [0.0, 2.0, -3.0, 0.0]])
    sums = sums_that_lack(lack, equalities)
    np.testing.assert_array_equal(equalities.lack(sums), lack)
    assert equalities.miss(sums, np.array([True, True, False, True])) == 2.0
    assert equalities.miss(sums, np.ones(4, dtype=bool)) == 3.0
    assert equalities.miss(sums, np.zeros(4, dtype=bool)) == 0.0


@pytest.mark.parametrize(("moved", "unit"), [(2e-6, 1.0), (1e-7, 0.1), (1e-9, 1e-2)])
def test_little_mass_misses_by_what_it_is_itself(moved, unit):
    equalities = Equalities.of(problem_of(), ALL, GRADIENT)
    lack = np.array([[0.5, -1.0, 0.25, 0.0], [0.0, 2.0, -3.0, 0.0]])
    sums = sums_that_lack(lack, equalities, moved)
    assert equalities.miss(sums, np.ones(4, dtype=bool)) == pytest.approx(3.0 / unit)


def test_only_what_rounding_lacks_is_rounded():
    equalities = Equalities.of(problem_of(), ALL, np.zeros((2, 4)))
    equalities = replace(equalities, aim=np.tile([0.5, 0.25, -0.5, 0.0], (2, 1)))
    # The terms have size 10: ten times the rounding is rounding, eleven times is not.
    lack = EQUALITY_ROUNDING * np.array([[9.0, -9.0, 0.0, 0.0], [-11.0, 9.0, 11.0, 0.0]])
    sums = replace_aim(equalities, lack)
    found = equalities.rounded(sums, sums.totals)
    expected = [[1.0, 2.0, 7.0, -2.0], [7.0, 2.0, 7.0, 7.0]]
    np.testing.assert_array_equal(found.gradient, expected)
    np.testing.assert_array_equal(sums.totals.gradient, np.full((2, 4), 7.0))
    assert found.value == sums.totals.value


def test_a_pull_is_the_tilt_on_the_columns_of_each_row():
    """Also where only intercepts balance, and where nothing does."""
    rng = np.random.default_rng(0)
    for columns, has_intercept in ((ALL, True), (~ALL, True), (~ALL, False)):
        problem = replace(problem_of(), fit_intercept=has_intercept)
        equalities = Equalities.of(problem, columns)
        tilt = rng.normal(size=equalities.aim.shape)
        rows = equalities.rows(problem, slice(0, problem.n_rows))
        np.testing.assert_allclose(equalities.pull(tilt, rows), rows @ tilt.T, atol=1e-15)


def replace_aim(equalities, lack):
    """Sums whose lack is exact: the aim is added to nothing."""
    return sums_that_lack(lack, replace(equalities, aim=equalities.aim))


def test_sums_that_are_reached_without_any_terms_count_as_reached():
    equalities = Equalities.of(problem_of(), ALL, np.zeros((2, 4)))
    sums = replace_aim(equalities, np.zeros((2, 4)))
    totals = sums.totals._replace(sizes=np.zeros((2, 4)))
    found = equalities.rounded(sums, totals).gradient
    np.testing.assert_array_equal(found[:, [0, 1, 3]], 0.0)
    np.testing.assert_array_equal(found[:, 2], 7.0)
