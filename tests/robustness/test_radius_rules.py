"""Rules for the radius against simulation."""

import numpy as np
import pytest
from scipy.stats import wasserstein_distance
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from wdrsvm import (
    RobustLinearSVC,
    WassersteinBall,
    bootstrap_radius,
    guaranteed_radius,
    radius_max,
    worst_case_risk,
)


def gaussians(n_rows, rng, n_features=3):
    y = np.arange(n_rows) % 3
    return rng.normal(size=(n_rows, n_features)) + 2 * np.eye(3)[y][:, :n_features], y


@pytest.mark.parametrize("n_samples", [20, 200])
def test_the_guarantee_covers_the_distance_to_the_truth(n_samples):
    """One feature: W between a sample and uniform truth, labels right by construction."""
    rng = np.random.default_rng(0)
    truth = (np.arange(20_000) + 0.5) / 20_000
    distances = [wasserstein_distance(rng.random(n_samples), truth) for _ in range(200)]
    radius = guaranteed_radius(
        n_samples, ([0.0], [1.0]), n_classes=1, label_cost=0.0, confidence=0.9
    )
    assert np.quantile(distances, 0.9) <= radius


def test_the_mean_distance_is_below_its_bound():
    """confidence near 0 leaves the bound of the mean alone."""
    rng = np.random.default_rng(1)
    for n_samples in (10, 100, 1000):
        truth = (np.arange(20_000) + 0.5) / 20_000
        mean = np.mean(
            [wasserstein_distance(rng.random(n_samples), truth) for _ in range(50)]
        )
        bound = guaranteed_radius(
            n_samples, ([0.0], [1.0]), n_classes=1, label_cost=0.0, confidence=1e-12
        )
        assert mean <= bound


def test_the_guarantee_shrinks_with_rows_and_grows_with_everything_else():
    def radius(n=1000, width=1.0, features=2, **options):
        box = (np.zeros(features), np.full(features, width))
        return guaranteed_radius(n, box, n_classes=3, **options)

    assert radius(n=100_000) < radius()
    assert radius(width=2.0) > radius()
    assert radius(features=5) > radius()
    assert radius(label_cost=5.0) > radius()
    assert radius(confidence=0.999) > radius()
    assert radius(feature_cost=[2.0, 2.0]) == pytest.approx(radius(width=2.0))
    assert radius(norm="linf") < radius() < radius(norm="l1")


def test_a_constant_feature_costs_nothing():
    wide = guaranteed_radius(100, ([0.0, 1.0], [1.0, 1.0]), n_classes=2)
    assert wide == guaranteed_radius(100, ([0.0], [1.0]), n_classes=2)


def test_the_rate_is_that_of_the_dimension():
    box = (np.zeros(4), np.ones(4))
    few, many = (guaranteed_radius(n, box, n_classes=2) for n in (10**6, 10**10))
    assert many / few == pytest.approx(10 ** (-4 / 4), rel=0.3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 1.0}, "confidence must be a number in"),
        ({"n_samples": 0}, "n_samples must be at least 1"),
        ({"label_cost": np.inf}, "label_cost must be finite"),
        ({"support": ([0.0], [np.inf])}, "support and feature_cost must be finite"),
        ({"support": ([1.0], [0.0])}, "the lower end first"),
        ({"feature_cost": [np.inf]}, "support and feature_cost must be finite"),
    ],
)
def test_bad_arguments_of_the_guarantee(options, message):
    given = {"n_samples": 10, "support": ([0.0], [1.0]), "n_classes": 2} | options
    with pytest.raises(ValueError, match=message):
        guaranteed_radius(given.pop("n_samples"), given.pop("support"), **given)


@pytest.mark.filterwarnings("ignore::wdrsvm.RadiusWarning")
def test_the_chosen_radius_covers_new_data():
    """The certificate at the chosen radius holds on fresh rows about as often as asked."""
    rng = np.random.default_rng(0)
    fresh = gaussians(3000, rng)
    held = []
    for _ in range(4):
        X, y = gaussians(40, rng)
        choice = bootstrap_radius(X, y, n_resamples=5, n_radii=4)
        model = RobustLinearSVC(choice.radius, tol=1e-4).fit(X, y)
        risk = worst_case_risk(model, *fresh, WassersteinBall(0.0))
        held.append(risk <= model.objective_)
    assert np.mean(held) >= 0.7


def test_more_coverage_asks_for_a_larger_radius():
    X, y = load_iris(return_X_y=True)
    X, y = scale(X)[::2], y[::2]
    little, much = (
        bootstrap_radius(X, y, coverage=share, n_resamples=5, n_radii=4)
        for share in (0.3, 1.0)
    )
    assert little.radius <= much.radius <= radius_max(X, y) * (1 + 1e-9)
    assert much.coverage[-1] == 1
    assert len(much.radii) == len(much.coverage)
    assert (np.diff(much.radii) > 0).all()
    again = bootstrap_radius(X, y, coverage=1.0, n_resamples=5, n_radii=4)
    assert again.radius == much.radius


def test_bad_coverage():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"coverage must be a number in \(0, 1\]"):
        bootstrap_radius(X, y, coverage=1.5)
