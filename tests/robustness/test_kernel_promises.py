"""What kernel models promise: worst cases in feature space, radii of inputs."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from wdrsvm import RobustSVC, certified_radius, worst_case_distribution
from wdrsvm.kernels import input_distance, kernel_of

from .cases import ORDER

X, y = load_iris(return_X_y=True)
X, y = scale(X)[::3], y[::3]
CALM = [
    {"kernel": "linear"},
    {"kernel": "rbf", "gamma": 0.5},
    {"kernel": "laplacian", "gamma": 0.3},
    {"kernel": "poly", "degree": 1, "gamma": 2.0},
    {"kernel": "rbf", "gamma": 0.5, "n_components": 15},
    {"kernel": "rbf", "gamma": 0.5, "lipschitz": "triangle"},
]
NOT_CALM = [
    ({"kernel": "poly", "degree": 2}, X),
    ({"kernel": lambda left, right: left @ right.T}, X),
    ({"kernel": "precomputed"}, X @ X.T),
]


def crammer_singer(scores, codes):
    n = np.arange(len(codes))
    raised = scores + 1.0
    raised[n, codes] -= 1.0
    return raised.max(axis=1) - scores[n, codes]


def attacks_on(x, radius, norm, rng):
    """Movements of a given length: random ones, corners, single features."""
    steps = rng.normal(size=(120, len(x)))
    steps[:40] = np.sign(steps[:40])
    steps[40:80] *= np.arange(len(x)) == rng.integers(0, len(x), (40, 1))
    length = np.linalg.norm(steps, ORDER[norm], axis=1, keepdims=True)
    return x + radius * steps / length


@pytest.mark.parametrize("radius", [0.02, 0.3])
@pytest.mark.parametrize("parameters", CALM)
def test_the_distribution_is_in_the_ball_and_nearly_the_worst(parameters, radius):
    model = RobustSVC(radius, 2.0, tol=1e-4, **parameters).fit(X, y)
    features, scores = model.linear_form(X)
    worst = model.worst_case_distribution(X, y, tail_mass=1e-7)
    risk = model.worst_case_risk(X, y)
    losses = crammer_singer(worst.X @ scores.coef.T + scores.intercept, worst.y)
    moved = np.linalg.norm(worst.X - features[worst.source], axis=1)
    cost = worst.weight @ (moved + 2.0 * (worst.y != y[worst.source]))
    assert worst.risk == pytest.approx(worst.weight @ losses)
    assert worst.transport_cost == pytest.approx(cost)
    assert cost <= radius * (1 + 1e-9)
    assert worst.risk <= risk * (1 + 1e-9)
    assert worst.risk >= (1 - 1e-3) * worst.supremum
    if model.lipschitz == "exact":
        assert worst.supremum == pytest.approx(risk)
    np.testing.assert_allclose(np.bincount(worst.source, worst.weight), 1 / len(y))


def test_flips_are_those_of_the_largest_gain_of_decisions():
    model = RobustSVC(0.1, 0.5, tol=1e-4).fit(X, y)
    worst = model.worst_case_distribution(X, y)
    flipped = np.unique(worst.source[worst.kind == "flipped"])
    scores = model.decision_function(X)
    gain = [crammer_singer(scores, np.full(len(y), c)) for c in range(3)]
    gain = np.max(gain, axis=0) - crammer_singer(scores, y)
    assert set(flipped) == set(np.argsort(-gain, kind="stable")[: len(flipped)])


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("parameters", CALM)
def test_no_attack_inside_changes_a_prediction(parameters, norm):
    model = RobustSVC(0.02, tol=1e-4, **parameters).fit(X, y)
    rng = np.random.default_rng(0)
    radii = certified_radius(model, X, norm)
    assert (radii > 0).all()
    if norm == "l2":
        np.testing.assert_array_equal(model.certified_radius(X), radii)
    for x, radius, label in zip(X, radii, model.predict(X), strict=True):
        attacks = attacks_on(x, min(radius, 1e3) * (1 - 1e-6), norm, rng)
        assert (model.predict(attacks) == label).all()


def test_a_linear_kernel_has_the_exact_radius():
    model = RobustSVC(0.02, kernel="linear", tol=1e-4).fit(X, y)
    scores = model.decision_function(X)
    label = scores.argmax(axis=1)
    coef = model.dual_coef_ @ X
    rng = np.random.default_rng(1)
    for x, radius, k in zip(X, model.certified_radius(X), label, strict=True):
        rivals = coef[np.arange(3) != k] - coef[k]
        rivals /= np.linalg.norm(rivals, axis=1, keepdims=True)
        assert (model.predict(x + radius * (1 + 1e-6) * rivals) != k).any()
        assert (model.predict(attacks_on(x, radius * (1 - 1e-6), "l2", rng)) == k).all()


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", "poly"])
def test_input_distance_inverts_the_distance_of_features(kernel):
    rng = np.random.default_rng(2)
    function = kernel_of(kernel, gamma=0.7, degree=1)
    left, right = rng.normal(size=(2, 40, 3))
    own = "l1" if kernel == "laplacian" else "l2"
    square = function.diagonal(left) + function.diagonal(right)
    square = square - 2 * np.diag(function(left, right))
    for norm in ("l1", "l2", "linf"):
        moved = np.linalg.norm(left - right, ORDER[norm], axis=1)
        bound = input_distance(np.sqrt(square), function, 3, norm)
        assert (bound <= moved * (1 + 1e-9)).all()
        if norm == own:
            np.testing.assert_allclose(bound, moved)
    # All features moved alike: what attains the bound under linf.
    alike, nowhere = np.full((1, 3), 0.1), np.zeros((1, 3))
    square = function.diagonal(alike) + function.diagonal(nowhere)
    square = square - 2 * function(alike, nowhere)[0]
    bound = input_distance(np.sqrt(square), function, 3, "linf")
    np.testing.assert_allclose(bound, 0.1)


@pytest.mark.parametrize(("parameters", "rows"), NOT_CALM)
def test_kernels_that_are_not_calm_have_no_radius_but_a_worst_case(parameters, rows):
    model = RobustSVC(0.02, tol=1e-4, **parameters).fit(rows, y)
    with pytest.raises(ValueError, match="kernel must be calm"):
        model.certified_radius(rows)
    worst = model.worst_case_distribution(rows, y, tail_mass=1e-7)
    assert worst.risk == pytest.approx(model.worst_case_risk(rows, y), rel=1e-3)


def test_a_pipeline_is_measured_where_the_kernel_looks():
    raw, labels = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), RobustSVC(0.02, tol=1e-4)).fit(raw, labels)
    scaled = pipeline[0].transform(raw)
    expected = pipeline[1].certified_radius(scaled)
    np.testing.assert_array_equal(certified_radius(pipeline, raw), expected)


def test_directions_of_a_kernel_do_not_bear_the_names_of_inputs():
    frame = pd.DataFrame(X[:, :3], columns=["length", "width", "height"])
    model = RobustSVC(0.02, tol=1e-4).fit(frame, y)
    worst = model.worst_case_distribution(frame, y).to_frame()
    assert worst.columns[4:].tolist() == ["direction0", "direction1", "direction2"]
    pipeline = make_pipeline(StandardScaler(), model).fit(frame, y)
    worst = worst_case_distribution(pipeline, frame, y, model._ball())
    assert worst.feature_names.tolist() == ["direction0", "direction1", "direction2"]


def test_errors():
    model = RobustSVC(0.02, tol=1e-4)
    with pytest.raises(NotFittedError):
        model.certified_radius(X)
    model.fit(X, y)
    with pytest.raises(ValueError, match="feature_cost must be None for a kernel model"):
        certified_radius(model, X, feature_cost=np.ones(4))
    with pytest.raises(ValueError, match="norm must be one of 'l1', 'l2', 'linf'"):
        model.input_distance(0.1, "l3")
    with pytest.raises(ValueError, match="distance must be >= 0"):
        model.input_distance(-0.1)
