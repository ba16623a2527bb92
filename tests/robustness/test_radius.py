"""radius_max: where the optimum stops growing."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from wdrsvm import WassersteinBall, radius_max
from wdrsvm.problem import RobustProblem, polar
from wdrsvm.robustness import radius_max_of
from wdrsvm.robustness.radius import limit_classifier
from wdrsvm.solvers import SolverSettings, solve

X, y = load_iris(return_X_y=True)
X = scale(X)
MIXED_COST = np.array([[0.0, 0.5, np.inf], [1.0, 0.0, 2.0], [np.inf, 0.3, 0.0]])


def problem_of(X=X, y=y, label_cost=2.0, norm="l2", **options):
    ball = WassersteinBall(0.0, label_cost, norm, options.pop("feature_cost", None))
    weight = options.pop("weight", np.full(len(y), 1.0 / len(y)))
    return RobustProblem(X, y, weight, ball, int(y.max()) + 1, **options)


def optimum(problem, radius):
    certificate = solve(problem.with_radius(radius), settings=SolverSettings(tol=1e-7))
    return certificate.certificate.objective


CASES = [
    pytest.param({"label_cost": cost, "norm": norm, "fit_intercept": intercept})
    for cost in (0.5, 2.0, np.inf)
    for norm in ("l1", "l2", "linf")
    for intercept in (True, False)
] + [
    pytest.param({"label_cost": MIXED_COST}),
    pytest.param({"label_cost": np.inf, "feature_cost": [1.0, 2.0, 0.5, np.inf]}),
    pytest.param({"label_trust": np.where(np.arange(len(y)) % 3, np.inf, 1.0)}),
]


@pytest.mark.parametrize("options", CASES)
def test_the_optimum_reaches_its_ceiling_there_and_not_before(options):
    problem = problem_of(**options)
    found = radius_max_of(problem, tol=1e-4)
    top = limit_classifier(problem).risk
    assert found > 0
    assert optimum(problem, found) >= top * (1 - 2e-4)
    assert optimum(problem, 2 * found) == pytest.approx(top, rel=1e-6)
    assert optimum(problem, 0.9 * found) < top * (1 - 1e-4)


def test_two_points_by_hand():
    """Moving half the mass from -1 to 1 costs 1: then the classes are alike."""
    problem = problem_of(np.array([[-1.0], [1.0]]), np.array([0, 1]), np.inf)
    assert radius_max_of(problem) == pytest.approx(1.0, rel=1e-3)


def test_a_cheap_flip_lowers_it_to_half_its_cost():
    problem = problem_of(np.array([[-9.0], [9.0]]), np.array([0, 1]), 0.5)
    assert radius_max_of(problem) == pytest.approx(0.25, rel=1e-3)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_ceiling_of_trusted_labels_is_the_best_constant(fit_intercept):
    share = np.array([0.1, 0.7, 0.2])
    problem = problem_of(
        np.zeros((3, 2)), np.arange(3), np.inf, weight=share, fit_intercept=fit_intercept
    )
    best = 2 * (1 - 0.7) if fit_intercept else 1.0
    assert limit_classifier(problem).risk == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize(("n_trusted", "best"), [(0, 1.0), (2, 0.6), (1, 1.0)])
def test_ceiling_counts_verified_labels_as_trusted(n_trusted, best):
    """Of two rows a class; only where most of the mass is verified can a guess pay."""
    share = np.repeat([0.1, 0.7, 0.2], 2) / 2
    trust = np.tile(np.where(np.arange(2) < n_trusted, np.inf, 1.0), 3)
    labels = np.repeat(np.arange(3), 2)
    problem = problem_of(np.zeros((6, 1)), labels, 2.0, weight=share, label_trust=trust)
    assert limit_classifier(problem).risk == pytest.approx(best, rel=1e-6)


def test_ceiling_of_doubtful_labels_is_one():
    assert limit_classifier(problem_of(label_cost=3.0)).risk == 1.0


def test_zero_when_flips_are_free_or_features_say_nothing():
    assert radius_max(X, y, label_cost=0.0) == 0.0
    assert radius_max(np.ones((6, 2)), [0, 1, 2] * 2) == 0.0
    assert radius_max(X, y, label_cost=np.inf, feature_cost=[np.inf] * 4) == 0.0


def test_scales_with_the_units_of_the_features():
    small = radius_max(X, y, label_cost=2.0)
    large = radius_max(100 * X, y, label_cost=200.0)
    assert large == pytest.approx(100 * small, rel=1e-3)


def test_weights_are_repeated_rows():
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = radius_max(X, y, sample_weight=times)
    assert weighted == pytest.approx(radius_max(X.repeat(times, 0), y.repeat(times)))


def test_balanced_class_weight_is_a_sample_weight():
    rare = np.r_[0:50, 50:70, 100:110]
    weight = 1.0 / np.bincount(y[rare])[y[rare]]
    balanced = radius_max(X[rare], y[rare], class_weight="balanced")
    assert balanced == pytest.approx(radius_max(X[rare], y[rare], sample_weight=weight))


def test_a_rare_class_lowers_it():
    """With trusted labels and 9 in 10 alike, constant is soon the most robust."""
    rare = np.r_[0:5, 50:100]
    assert radius_max(X[rare], y[rare] > 0, label_cost=np.inf) < radius_max(
        X[:100], y[:100] > 0, label_cost=np.inf
    )


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="y must have at least 2 classes"):
        radius_max(X, np.zeros(len(y)))


def test_unknown_norm_is_refused():
    with pytest.raises(ValueError, match="norm must be one of"):
        radius_max(X, y, norm="l7")


def test_of_the_log_loss_is_the_polar_of_its_gradient():
    """A constant is optimal exactly where sigma(G) <= radius, G its gradient."""
    observed = np.eye(3)[y]
    gradient = (observed.mean(axis=0) - observed).T @ X / len(y)
    expected = polar(gradient, "l2", np.ones(X.shape[1]))
    found = radius_max(X, y, label_cost=np.inf, loss="logistic")
    assert found <= expected
    assert found == pytest.approx(expected, rel=0.05)
    with pytest.raises(ValueError, match="loss must be one of"):
        radius_max(X, y, loss="hinge")
