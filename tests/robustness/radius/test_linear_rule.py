"""The radius for linear classifiers: its formula, and its promise in simulations."""

import numpy as np
import pytest

from wdrsvm import (
    RobustLinearSVC,
    WassersteinBall,
    guaranteed_radius,
    worst_case_risk,
)


def by_hand(norm, distance, n_features, n_classes, n, confidence, intercept=True):
    """The module's text, term by term."""
    offset = distance if intercept else 0.0
    largest = distance + offset
    longest = min(np.sqrt(n_features), np.sqrt(2 * np.log(2 * n_features)))
    rough = distance * (longest if norm == "linf" else 1)
    c = n_classes
    if c == 2:
        complexity = rough + offset + largest / 2
    else:
        factor = {"l1": c, "l2": np.sqrt(2 * c * (c - 1)), "linf": 2 * (c - 1)}[norm]
        complexity = factor * rough + c * offset + largest
    tail = 2 * largest * np.sqrt(np.log(1 / (1 - confidence)) / (2 * n))
    return 2 * complexity / np.sqrt(n) + tail


@pytest.mark.parametrize(("norm", "distance"), [("l1", 3.5), ("l2", 2.5), ("linf", 2.0)])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_the_radius_is_its_formula(norm, distance, n_classes):
    box, cost = ([0.0, 1.0, 5.0], [3.0, 3.0, 5.0]), [1.0, 2.0, 9.0]
    for n in (1, 50, 10**5):
        found = guaranteed_radius(
            n,
            box,
            n_classes=n_classes,
            norm=norm,
            feature_cost=cost,
            confidence=0.8,
            label_cost=np.inf,
            rule="linear",
        )
        assert found == pytest.approx(by_hand(norm, distance, 2, n_classes, n, 0.8))
        assert type(found) is float


def test_without_an_intercept_distance_is_from_zero():
    box = ([-4.0, 1.0], [3.0, 3.0])
    options = {"n_classes": 3, "rule": "linear", "fit_intercept": False}
    found = guaranteed_radius(100, box, **options)
    assert found == pytest.approx(by_hand("l2", 5.0, 2, 3, 100, 0.95, intercept=False))
    assert guaranteed_radius(10, ([0.0], [0.0]), **options | {"norm": "linf"}) == 0


def test_many_features_and_rows_shrink_it_alike():
    box = (np.zeros(30), np.ones(30))
    options = {"n_classes": 4, "norm": "l2"}
    radii = [guaranteed_radius(n, box, rule="linear", **options) for n in (100, 400)]
    assert radii[0] == pytest.approx(2 * radii[1])
    assert radii[1] < guaranteed_radius(400, box, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "best"}, "rule must be 'distribution' or 'linear', got 'best'"),
        ({"rule": None}, "rule must be"),
        ({"rule": "linear", "confidence": 1.0}, "confidence must be"),
        ({"rule": "linear", "fit_intercept": "no"}, "fit_intercept must be True or False"),
        ({"rule": "linear", "feature_cost": [np.inf]}, "must be finite for every feature"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        guaranteed_radius(10, ([0.0], [1.0]), n_classes=2, **options)


def needed(x, y, law, level=0.1):
    """The radius that all classifiers on [0, 1] need in one draw, up to a grid.

    Two classes, one feature: h = max(-s, sign * (x - cut)) with one direction and cut,
    for the law's and the draw's weights on a grid of features.
    """
    grid = np.linspace(0, 1, len(law[0]))
    drawn = np.array([np.bincount(x[y == c], minlength=len(grid)) for c in (0, 1)]) / len(x)
    worst = 0.0
    for cut in np.arange(0, 1 + level, level):
        for side in (-1, 1):
            margin = side * np.array([grid - cut, cut - grid])
            for s in np.arange(0, 1 + level, level):
                gap = ((law - drawn) * np.maximum(-s, margin)).sum()
                worst = max(worst, gap)
    return worst


def test_the_radius_covers_every_classifier_of_one_feature():
    rng = np.random.default_rng(0)
    law = np.array([np.linspace(2, 0, 21), np.linspace(0, 2, 21)])
    law /= law.sum()
    n, draws = 60, []
    for _ in range(100):
        place = rng.choice(42, n, p=law.ravel())
        draws.append(needed(place % 21, place // 21, law))
    radius = guaranteed_radius(n, ([0.0], [1.0]), n_classes=2, rule="linear")
    share = np.quantile(draws, 0.95) / radius
    # It holds, and is not wasteful beyond reason.
    assert 0.05 < share < 1


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_the_promise_of_fitted_classifiers_holds(norm):
    """Classifiers that are trained to look good on few rows, judged on many."""
    rng = np.random.default_rng(1)
    box = (-np.ones(4), np.ones(4))

    def rows(n):
        y = np.arange(n) % 3
        return np.clip(0.4 * rng.normal(size=(n, 4)) + 0.3 * np.eye(3, 4)[y], -1, 1), y

    many, truth = rows(20_000), []
    radius = guaranteed_radius(60, box, n_classes=3, norm=norm, rule="linear")
    ball = WassersteinBall(radius, np.inf, norm)
    calm = WassersteinBall(0.0)
    for _ in range(10):
        X, y = rows(60)
        model = RobustLinearSVC(0.01, np.inf, norm=norm, tol=1e-3).fit(X, y)
        truth.append(
            worst_case_risk(model, *many, calm) <= worst_case_risk(model, X, y, ball)
        )
    assert all(truth)


@pytest.mark.parametrize("n_features", [1, 7, 30])
def test_many_features_are_rougher_in_the_largest_norm(n_features):
    box = (np.zeros(n_features), np.full(n_features, 2.0))
    found = guaranteed_radius(40, box, n_classes=3, norm="linf", rule="linear")
    assert found == pytest.approx(by_hand("linf", 1.0, n_features, 3, 40, 0.95))
