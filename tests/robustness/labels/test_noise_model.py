"""Noise models: slopes, limits, and what they find in labels that they have drawn."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import log_softmax

from wdrsvm.robustness.labels.noise_model import (
    SETTINGS,
    Opinions,
    _cost,
    _slope_of_share,
    uniform_confusion,
    with_noise_by_class,
    with_uniform_noise,
    without_noise,
)

BY_CLASS = np.array([[0.6, 0.4, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


def drawn(confusion, seed=0, n_rows=900, sharpness=4.0):
    """Opinions whose true labels follow the probabilities, and noisy labels."""
    rng = np.random.default_rng(seed)
    log_probability = log_softmax(sharpness * rng.normal(size=(n_rows, 3)), axis=1)
    truth = np.array([rng.choice(3, p=p) for p in np.exp(log_probability)])
    y = np.array([rng.choice(3, p=confusion[c]) for c in truth])
    return Opinions(log_probability, y, np.ones(n_rows)), truth


def test_slopes_agree_with_differences():
    opinions, _ = drawn(BY_CLASS, n_rows=60)
    opinions = opinions._replace(weight=np.linspace(0.5, 1.5, 60))
    point = np.array([0.3, 0.2, -0.4, 0.1])
    for confusion in (BY_CLASS, uniform_confusion(0.3, 3)):

        def value(x, T=confusion):
            return _cost(x, opinions, T, SETTINGS)[0]

        slope = _cost(point, opinions, confusion, SETTINGS)[1]
        np.testing.assert_allclose(approx_fprime(point, value), slope, rtol=1e-4, atol=1e-4)

    def by_share(share):
        return _cost(point, opinions, uniform_confusion(share[0], 3), SETTINGS)[0]

    found = _slope_of_share(point, opinions, 0.25)
    np.testing.assert_allclose(approx_fprime([0.25], by_share), found, rtol=1e-4)


@pytest.mark.parametrize("share", [0.1, 0.35])
def test_uniform_noise_is_found(share):
    opinions, _ = drawn(uniform_confusion(share, 3))
    model = with_uniform_noise(opinions)
    np.testing.assert_allclose(model.confusion, uniform_confusion(share, 3), atol=0.05)
    assert 0.8 < model.sharpness < 1.6
    assert model.log_likelihood > without_noise(opinions).log_likelihood


def test_noise_by_class_is_found():
    opinions, truth = drawn(BY_CLASS)
    uniform = with_uniform_noise(opinions)
    model = with_noise_by_class(opinions, uniform)
    np.testing.assert_allclose(model.confusion, BY_CLASS, atol=0.1)
    np.testing.assert_allclose(model.confusion.sum(axis=1), 1.0)
    assert model.log_likelihood > uniform.log_likelihood
    wrong = opinions.y != truth
    doubt = 1 - model.posterior(opinions)[np.arange(len(truth)), opinions.y]
    assert doubt[wrong].mean() > 2.5 * doubt[~wrong].mean()
    again = with_noise_by_class(opinions, uniform, model)
    np.testing.assert_allclose(again.confusion, model.confusion, atol=2e-2)


def test_posteriors_are_those_of_bayes():
    opinions, _ = drawn(BY_CLASS, n_rows=20)
    model = with_noise_by_class(opinions, with_uniform_noise(opinions))
    true = model.true_probability(opinions.log_probability)
    given = model.given_probability(opinions.log_probability)
    for n, k in enumerate(opinions.y):
        expected = [true[n, c] * model.confusion[c, k] / given[n, k] for c in range(3)]
        np.testing.assert_allclose(model.posterior(opinions)[n], expected)
    seen = given[np.arange(20), opinions.y]
    assert model.log_likelihood == pytest.approx(np.log(seen).sum())


def test_labels_without_noise_are_believed():
    opinions, _ = drawn(np.eye(3))
    assert with_uniform_noise(opinions).confusion[0, 1] < 0.02
    model = without_noise(opinions)
    np.testing.assert_array_equal(model.confusion, np.eye(3))
    assert model.sharpness == pytest.approx(1.0, abs=0.15)
