"""Coefficients and intercepts that are rounded together."""

from fractions import Fraction

import numpy as np
import pytest

from wdrsvm import RobustLinearSVC, WassersteinBall, robust_path
from wdrsvm.problem import RobustProblem
from wdrsvm.problem.rounding import last_digits
from wdrsvm.problem.rounding.last_digits import REACH, rounded_together, with_sums_of_zero
from wdrsvm.solvers import SolverSettings, SolverStatus, solve

EPS = np.finfo(float).eps


def score_at(coef, point, intercept):
    """Exact scores (C,)."""
    terms = [
        sum(Fraction(a) * Fraction(x) for a, x in zip(row, point.tolist(), strict=True))
        for row in coef.tolist()
    ]
    return np.array(
        [float(t + Fraction(b)) for t, b in zip(terms, intercept.tolist(), strict=True)]
    )


def far_away(n_features, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(n_classes, n_features))
    coef -= coef.mean(axis=0)
    shift = rng.normal(size=n_classes)
    return coef, shift - shift.mean(), 1e12 * rng.uniform(1, 2, size=n_features)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("n_features", "error"), [(1, 5e-6), (2, 1e-6), (4, 1e-6)])
def test_scores_at_a_far_centre_are_right(n_features, error, seed):
    coef, shift, centre = far_away(n_features, seed=seed)
    before = np.abs(score_at(coef, centre, shift - coef @ centre) - shift).max()
    changed, intercept = rounded_together(coef, shift, centre)
    after = np.abs(score_at(changed, centre, intercept) - shift).max()
    assert after < min(error, before / 10)
    assert np.abs(changed - coef).max() <= 2 * REACH * EPS * np.abs(coef).max()


def test_near_features_are_left_as_they_are():
    coef, shift, _ = far_away(3)
    centre = np.array([1.0, -2.0, 3.0])
    changed, intercept = rounded_together(coef, shift, centre)
    assert changed is coef
    np.testing.assert_array_equal(intercept, shift - coef @ centre)


def test_two_classes_stay_opposite():
    coef, shift, centre = far_away(3, n_classes=2)
    coef[0] = np.nextafter(coef[0], np.inf)
    changed, intercept = rounded_together(coef, shift, centre)
    np.testing.assert_array_equal(changed[0], -changed[1])
    assert intercept[0] == -intercept[1]
    assert np.abs(score_at(changed, centre, intercept) - shift).max() < 1e-6


def test_two_classes_that_are_not_opposite_keep_their_difference():
    coef, shift, centre = far_away(3, n_classes=2)
    for moved, raised in ((coef + 1.0, shift), (coef, shift + 1.0)):
        changed, intercept = rounded_together(moved, raised, centre)
        assert np.abs(score_at(changed, centre, intercept) - raised).max() < 1e-6


def test_sums_that_are_rounding_stay():
    coef, shift, centre = far_away(3)
    rounded = rounded_together(coef, shift, centre)
    kept = with_sums_of_zero(*rounded)
    assert kept[0] is rounded[0]
    assert kept[1] is rounded[1]


@pytest.mark.parametrize("moved", ["coef", "intercept"])
def test_other_sums_become_zero(moved):
    coef, intercept, _ = far_away(3)
    given = {"coef": coef, "intercept": intercept}
    given[moved] = given[moved] + 1e-9
    for part, before in zip(with_sums_of_zero(**given), (coef, intercept), strict=True):
        np.testing.assert_allclose(part, before, atol=1e-14)


def far_rows(n_classes):
    rng = np.random.default_rng(3)
    y = np.arange(60) % n_classes
    X = rng.normal(size=(60, 4)) + 2 * rng.normal(size=(n_classes, 4))[y]
    return X + 1e12 * rng.normal(size=4), y


def exact_scores(X, coef, intercept):
    return np.array([score_at(coef, row, intercept) for row in X])


@pytest.mark.parametrize("solver", ["interior-point", "newton"])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_rows_far_from_zero_are_solved(solver, norm):
    X, y = far_rows(3)
    ball = WassersteinBall(0.05, np.inf, norm)
    problem = RobustProblem.of(X, y, np.full(60, 1 / 60), ball, n_classes=3)
    found = solve(problem, solver, SolverSettings(1e-6))
    assert found.status is SolverStatus.CONVERGED
    scores = exact_scores(X, found.coef, found.intercept)
    losses = problem.loss.of_own_labels(scores, y)
    risk = losses.mean() + 0.05 * problem.modulus(found.coef)
    assert risk == pytest.approx(found.certificate.objective, abs=1e-9)
    assert risk - found.certificate.dual_bound < 1e-6 * risk


@pytest.mark.parametrize("n_classes", [2, 3])
def test_estimators_and_paths_keep_the_classifier_that_was_certified(n_classes):
    X, y = far_rows(n_classes)
    model = RobustLinearSVC(0.05, np.inf).fit(X, y)
    path = robust_path(X, y, [0.05], label_costs=np.inf)
    coef, intercept = model.coef_, model.intercept_
    if n_classes == 2:
        coef, intercept = np.vstack([-coef, coef]) / 2, np.append(-intercept, intercept) / 2
    kept = (coef, intercept), (path.coef[0, 0], path.intercept[0, 0])
    claimed = model.objective_, path.objective[0, 0]
    ball = WassersteinBall(0.05, np.inf)
    problem = RobustProblem.of(X, y, np.full(60, 1 / 60), ball, n_classes=n_classes)
    for (coef, intercept), objective in zip(kept, claimed, strict=True):
        losses = problem.loss.of_own_labels(exact_scores(X, coef, intercept), y)
        risk = losses.mean() + 0.05 * problem.modulus(coef)
        assert risk == pytest.approx(objective, abs=1e-9)


def test_what_is_exact_already_stays_as_it_is():
    coef = np.array([[2.0, 2.0], [0.0, 0.0], [-2.0, -2.0]])
    found, _ = rounded_together(coef, np.zeros(3), np.full(2, 2.0**40))
    np.testing.assert_array_equal(found, coef)


def test_every_column_must_sum_to_zero():
    columns = np.array([[1.0, 1.0], [-1.0, 1.0]])
    assert last_digits._sums_to_zero(columns) is False
    assert last_digits._sums_to_zero(np.array([[1.0, -1.0], [1.0, -1.0]])) is False
    assert last_digits._sums_to_zero(columns[:, :1]) is True
