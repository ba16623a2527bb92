"""Odd sizes, flags and grids: taken for what they mean, or refused with a sentence."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from wdrsvm import RobustSVC, WassersteinBall, bootstrap_radius, radius_max, worst_case_risk
from wdrsvm.problem import RobustProblem
from wdrsvm.robustness.paths.grids import checked_label_costs, checked_radii
from wdrsvm.robustness.radius.break_ties import lean, nominal_classifier
from wdrsvm.robustness.radius.radius_max import LimitClassifier
from wdrsvm.solvers import solve

rng = np.random.default_rng(0)
y = np.arange(12) % 3
X = rng.normal(size=(12, 2)) + 1.5 * np.eye(3)[y][:, :2]


def test_entries_that_cannot_be_squared_are_refused():
    with pytest.raises(ValueError, match="X must have no entries larger than"):
        radius_max(1e300 * X, y)


@pytest.mark.parametrize("factor", [1e-300, 1e250])
def test_the_size_of_weights_does_not_matter(factor):
    weight = np.linspace(0.5, 1.0, 12)
    found = radius_max(X, y, label_cost=0.7, sample_weight=factor * weight)
    assert found == pytest.approx(radius_max(X, y, label_cost=0.7, sample_weight=weight))


def test_weights_below_zero_are_refused():
    with pytest.raises(ValueError, match="sample_weight must be >= 0, but its least is -1"):
        radius_max(X, y, sample_weight=np.r_[-1.0, np.ones(11)])


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


def test_balls_of_kernels_have_no_shape():
    model = RobustSVC().fit(X, y)
    with pytest.raises(ValueError, match="norm must be 'l2', and feature_cost, support"):
        worst_case_risk(model, X, y, WassersteinBall(0.1, norm="l1"))


def test_one_row_has_no_resamples():
    with pytest.raises(ValueError, match="at least 2"):
        bootstrap_radius(X[:1], y[:1])


def test_full_coverage_tries_all_radii():
    found = bootstrap_radius(X, y, coverage=1.0, n_resamples=3, n_radii=3)
    assert len(found.radii) <= 3
    assert found.radius == found.radii[-1]
    assert found.coverage[-1] == 1.0 or len(found.radii) == 3


def leaned(bound_share=1.0, **changes):
    """A constant fit, leaned; with a bound of that share of the constant's risk."""
    problem = RobustProblem.of(X, y, np.full(12, 1 / 12), WassersteinBall(2.0, 0.5), 3)
    found = solve(problem)
    limit = LimitClassifier(np.zeros((3, 2)), np.zeros(3), 1.0)
    certificate = found.certificate._replace(dual_bound=bound_share)
    result = replace(found, certificate=certificate)
    nominal = nominal_classifier(problem)
    return problem, result, lean(problem, result, limit, nominal, 1e-3, **changes), nominal


def test_leaning_ranks_as_the_nominal_classifier_within_the_tolerance():
    problem, _, found, nominal = leaned()
    assert found.certificate.objective <= 1.0 + 1e-3
    risk = problem.risk(found.coef, found.intercept).value
    assert found.certificate.objective == risk
    scores = problem.scores(found.coef, found.intercept)
    best = problem.scores(nominal.coef, nominal.intercept)
    np.testing.assert_array_equal(scores.argmax(axis=1), best.argmax(axis=1))


@pytest.mark.parametrize("options", [{"bound_share": 0.99}, {"nominal_risk": 0.5}])
def test_without_room_nothing_leans(options):
    _, result, found, _ = leaned(**options)
    assert found is result


@pytest.mark.parametrize("odd", [np.inf, np.nan])
def test_weights_are_finite(odd):
    with pytest.raises(ValueError, match="sample_weight"):
        radius_max(X, y, sample_weight=np.r_[odd, np.ones(11)])


def test_two_classes_are_judged_by_one_decision():
    """Scores -d/2 and d/2 of a decision d: one that differs from it is refused."""
    model = LogisticRegression().fit(X, y > 0)
    assert worst_case_risk(model, X, y > 0, WassersteinBall(0.0)) > 0
    model.intercept_ = model.intercept_ + 1.0
    moved = worst_case_risk(model, X, y > 0, WassersteinBall(0.0))
    assert moved == pytest.approx(hinge(model))


def hinge(model):
    sign = np.where(y > 0, 1.0, -1.0)
    return np.maximum(0.0, 1.0 - sign * model.decision_function(X)).mean()
