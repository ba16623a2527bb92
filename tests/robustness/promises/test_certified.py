"""Certified radii against attacks inside and just outside."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from wdrsvm import RobustLinearSVC, RobustSVC, WassersteinBall, certified_radius
from wdrsvm.problem.norms import steepest_direction
from wdrsvm.robustness.promises.certified import bounded_radius
from wdrsvm.robustness.promises.worst_case import LinearScores

from ..cases import CALM_KERNELS, IRIS, ORDER, SPECIES, FixedScores

NORMS = ["l1", "l2", "linf"]


def case_of(seed, n_rows=15):
    rng = np.random.default_rng(seed)
    n_classes, n_features = 2 + seed % 4, int(rng.integers(1, 6))
    coef = rng.normal(size=(n_classes, n_features))
    classifier = FixedScores(coef, rng.normal(size=n_classes))
    cost = rng.exponential(size=n_features) + 0.1
    cost[1:][rng.random(n_features - 1) < 0.3] = np.inf
    return classifier, rng.normal(size=(n_rows, n_features)), cost, rng


def predictions(classifier, X):
    return (X @ classifier.coef_.T + classifier.intercept_).argmax(axis=1)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("norm", NORMS)
def test_no_attack_inside_changes_a_prediction(norm, seed):
    classifier, X, cost, rng = case_of(seed)
    radii = certified_radius(classifier, X, norm, cost)
    touchable = np.isfinite(cost)
    for x, radius in zip(X, radii, strict=True):
        steps = rng.normal(size=(200, touchable.sum())) / cost[touchable]
        # Corners of the l1 and linf balls too, where their worst attacks are.
        steps[:50] = np.sign(steps[:50]) / cost[touchable]
        steps[50:100] *= rng.random((50, touchable.sum())) < 0.3
        length = np.linalg.norm(steps * cost[touchable], ORDER[norm], axis=1)
        steps = steps[length > 0] / length[length > 0, None]
        attacks = np.tile(x, (len(steps), 1))
        attacks[:, touchable] += min(radius, 1e6) * (1 - 1e-9) * steps
        assert (predictions(classifier, attacks) == predictions(classifier, x[None])).all()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("norm", NORMS)
def test_an_attack_just_outside_changes_it(norm, seed):
    classifier, X, cost, _ = case_of(seed)
    radii = certified_radius(classifier, X, norm, cost)
    for x, radius, k in zip(X, radii, predictions(classifier, X), strict=True):
        rivals = [j for j in range(len(classifier.coef_)) if j != k]
        attacks = [
            x
            + (radius * (1 + 1e-6) + 1e-9)
            * steepest_direction(classifier.coef_[j] - classifier.coef_[k], norm, cost)
            for j in rivals
        ]
        assert (predictions(classifier, np.array(attacks)) != k).any()


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("seed", range(10))
def test_steepest_direction_attains_the_dual_norm(norm, seed):
    rng = np.random.default_rng(seed)
    slope, cost = rng.normal(size=4), rng.exponential(size=4) + 0.1
    cost[2] = np.inf
    step = steepest_direction(slope, norm, cost)
    finite = np.isfinite(cost)
    dual = {"l1": np.inf, "l2": 2, "linf": 1}[norm]
    assert step[2] == 0
    assert np.linalg.norm(step[finite] * cost[finite], ORDER[norm]) == pytest.approx(1)
    expected = np.linalg.norm(slope[finite] / cost[finite], dual)
    assert slope @ step == pytest.approx(expected)


def test_two_classes_are_the_distance_to_the_hyperplane():
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    machine = LinearSVC().fit(X, y)
    distance = np.abs(machine.decision_function(X)) / np.linalg.norm(machine.coef_)
    np.testing.assert_allclose(certified_radius(machine, X), distance)


def test_the_estimators_method_uses_its_own_norm_and_costs():
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 3
    X += y[:, None]
    cost = np.array([1.0, 2.0, np.inf])
    classifier = RobustLinearSVC(0.02, norm="l1", feature_cost=cost).fit(X, y)
    expected = certified_radius(classifier, X, "l1", cost)
    np.testing.assert_array_equal(classifier.certified_radius(X), expected)


def test_a_pipeline_is_measured_where_its_last_step_looks():
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 3
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    inner = certified_radius(pipeline[-1], pipeline[0].transform(X))
    np.testing.assert_array_equal(certified_radius(pipeline, X), inner)
    np.testing.assert_allclose(
        certified_radius(pipeline[-1], sparse.csr_array(X)),
        certified_radius(pipeline[-1], X),
    )


def test_walls_far_from_a_row_do_not_change_its_radius():
    classifier = RobustLinearSVC(norm="l2").fit(IRIS, SPECIES)
    for row in IRIS[[0, 40]]:
        found = bounded_radius(
            classifier, [row], WassersteinBall(0.0, support=(-99.0, 99.0))
        )
        np.testing.assert_allclose(found, certified_radius(classifier, [row]))


def test_what_cannot_change_is_infinitely_far():
    X = np.zeros((2, 2))
    constant = FixedScores(np.zeros((3, 2)), np.array([0.0, 1.0, 1.0]))
    assert np.isinf(certified_radius(constant, X)).all()
    moving = FixedScores(np.eye(2), np.zeros(2))
    assert np.isinf(certified_radius(moving, X, "l2", [np.inf, np.inf])).all()
    assert (certified_radius(moving, X) == 0).all()


def test_errors():
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 3
    classifier = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="norm must be one of"):
        certified_radius(classifier, X, "l3")
    with pytest.raises(ValueError, match="feature_cost has shape"):
        certified_radius(classifier, X, "l2", [1.0])
    with pytest.raises(ValueError, match="X has 2 features"):
        certified_radius(classifier, X[:, :2])
    with pytest.raises(TypeError, match="classifier must be linear"):
        certified_radius(KNeighborsClassifier().fit(X, y), X)
    with pytest.raises(NotFittedError):
        certified_radius(LogisticRegression(), X)


class OfKernel(BaseEstimator):
    """Scores linear in twice the features, which are inputs of a third of the way."""

    coef = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])

    def linear_form(self, X):
        return 2 * X, LinearScores(self.coef, np.zeros(3), np.arange(3))

    def input_distance(self, reach, norm):
        assert norm == "linf"
        return (reach / 3).tolist()


def test_a_kernel_models_radius_is_that_of_its_features_in_inputs():
    X = np.array([[1.0, 0.25], [0.5, 2.0]])
    found = certified_radius(OfKernel(), X, "linf")
    # Scores 2, 1, 0 and 1, 8, 0: leads over slopes of lengths 5 ** 0.5, 1 and 2.
    expected = np.array([min(1 / 5**0.5, 2.0), min(7 / 5**0.5, 8 / 2)]) / 3
    np.testing.assert_allclose(found, expected)
    assert isinstance(found, np.ndarray)
    with pytest.raises(ValueError, match="feature_cost must be None for a kernel model"):
        certified_radius(OfKernel(), X, "linf", [1.0, 1.0])


NOT_CALM = [
    ({"kernel": "poly", "degree": 2}, IRIS),
    ({"kernel": lambda left, right: left @ right.T}, IRIS),
    ({"kernel": "precomputed"}, IRIS @ IRIS.T),
]


def attacks_on(x, radius, norm, rng):
    """Movements of a given length: random ones, corners, single features."""
    steps = rng.normal(size=(120, len(x)))
    steps[:40] = np.sign(steps[:40])
    steps[40:80] *= np.arange(len(x)) == rng.integers(0, len(x), (40, 1))
    length = np.linalg.norm(steps, ORDER[norm], axis=1, keepdims=True)
    return x + radius * steps / length


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("parameters", CALM_KERNELS)
def test_no_attack_inside_changes_a_prediction_of_a_kernel_model(parameters, norm):
    model = RobustSVC(0.02, tol=1e-4, **parameters).fit(IRIS, SPECIES)
    rng = np.random.default_rng(0)
    radii = certified_radius(model, IRIS, norm)
    assert (radii > 0).all()
    if norm == "l2":
        np.testing.assert_array_equal(model.certified_radius(IRIS), radii)
    for x, radius, label in zip(IRIS, radii, model.predict(IRIS), strict=True):
        attacks = attacks_on(x, min(radius, 1e3) * (1 - 1e-6), norm, rng)
        assert (model.predict(attacks) == label).all()


def test_a_linear_kernel_has_the_exact_radius():
    model = RobustSVC(0.02, kernel="linear", tol=1e-4).fit(IRIS, SPECIES)
    scores = model.decision_function(IRIS)
    label = scores.argmax(axis=1)
    coef = model.dual_coef_ @ IRIS
    rng = np.random.default_rng(1)
    for x, radius, k in zip(IRIS, model.certified_radius(IRIS), label, strict=True):
        rivals = coef[np.arange(3) != k] - coef[k]
        rivals /= np.linalg.norm(rivals, axis=1, keepdims=True)
        assert (model.predict(x + radius * (1 + 1e-6) * rivals) != k).any()
        assert (model.predict(attacks_on(x, radius * (1 - 1e-6), "l2", rng)) == k).all()


@pytest.mark.parametrize(("parameters", "rows"), NOT_CALM)
def test_kernels_that_are_not_calm_have_no_radius_but_a_worst_case(parameters, rows):
    model = RobustSVC(0.02, tol=1e-4, **parameters).fit(rows, SPECIES)
    with pytest.raises(ValueError, match="kernel must be calm"):
        model.certified_radius(rows)
    worst = model.worst_case_distribution(rows, SPECIES, tail_mass=1e-7)
    assert worst.risk == pytest.approx(model.worst_case_risk(rows, SPECIES), rel=1e-3)


def test_a_pipeline_is_measured_where_the_kernel_looks():
    raw, labels = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), RobustSVC(0.02, tol=1e-4)).fit(raw, labels)
    scaled = pipeline[0].transform(raw)
    expected = pipeline[1].certified_radius(scaled)
    np.testing.assert_array_equal(certified_radius(pipeline, raw), expected)


def test_errors_of_kernel_models():
    model = RobustSVC(0.02, tol=1e-4)
    with pytest.raises(NotFittedError):
        model.certified_radius(IRIS)
    model.fit(IRIS, SPECIES)
    with pytest.raises(ValueError, match="feature_cost must be None for a kernel model"):
        certified_radius(model, IRIS, feature_cost=np.ones(4))
    with pytest.raises(ValueError, match="norm must be one of 'l1', 'l2', 'linf'"):
        model.input_distance(0.1, "l3")
    with pytest.raises(ValueError, match="distance must be >= 0"):
        model.input_distance(-0.1)
