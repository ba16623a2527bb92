"""Noise models: slopes, limits, and what they find in labels that they have drawn."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import log_softmax

from wdrsvm.robustness.labels import noise_model
from wdrsvm.robustness.labels.noise_model import (
    SETTINGS,
    NoiseModel,
    Opinions,
    _cost,
    _slope_of_share,
    next_confusion,
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


def test_other_rows_and_other_labels_keep_the_rest():
    opinions = Opinions(
        np.arange(6.0).reshape(2, 3), np.array([0, 2]), np.array([1.5, 0.5])
    )
    assert opinions.n_classes == 3
    told = opinions.relabelled(np.array([1, 1]))
    assert told.y.tolist() == [1, 1]
    assert told.log_probability is opinions.log_probability
    assert told.weight is opinions.weight
    some = opinions.take(np.array([1, 1]))
    assert some.log_probability.tolist() == [[3.0, 4.0, 5.0]] * 2
    assert (some.y.tolist(), some.weight.tolist()) == ([2, 2], [0.5, 0.5])


def posterior_of(model, opinions):
    """The module's text: log-likelihood plus priors on sharpness, offsets and share."""
    seen = model.given_probability(opinions.log_probability)[np.arange(60), opinions.y]
    away = np.log(model.sharpness / 1.5)
    priors = -0.5 * (5.0 * away**2 + 0.3 * model.offset @ model.offset)
    share = 1 - model.confusion[0, 0]
    if share > 0:
        priors += 20 * (0.2 * np.log(share) + 0.8 * np.log(1 - share))
    return opinions.weight @ np.log(seen) + priors


def neighbours(model, step=0.02):
    yield from (replace(model, sharpness=model.sharpness * (1 + e)) for e in (-step, step))
    for direction in step * np.vstack([np.eye(3), -np.eye(3)]):
        yield replace(model, offset=model.offset + direction)
    share = 1 - model.confusion[0, 0]
    for other in (share - step, share + step) if share > 0 else ():
        yield replace(model, confusion=uniform_confusion(other, 3))


@pytest.mark.parametrize("fitted", [without_noise, with_uniform_noise])
def test_no_other_parameters_are_likelier(fitted):
    opinions, _ = drawn(uniform_confusion(0.3, 3), n_rows=60)
    opinions = opinions._replace(weight=np.linspace(0.5, 1.5, 60))
    model = fitted(opinions)
    best = posterior_of(model, opinions)
    assert all(posterior_of(other, opinions) < best for other in neighbours(model))
    near = fitted(opinions, replace(model, sharpness=2.0 * model.sharpness))
    assert near.sharpness == pytest.approx(model.sharpness, rel=1e-3)
    np.testing.assert_allclose(near.confusion, model.confusion, atol=1e-3)


def test_the_confusion_is_made_of_expected_counts_and_pseudo_labels():
    model = NoiseModel(1.0, np.zeros(3), uniform_confusion(0.3, 3), 0.0)
    opinions, _ = drawn(BY_CLASS, n_rows=7)
    opinions = opinions._replace(weight=np.linspace(0.5, 1.5, 7))
    pseudo = np.arange(1.0, 10.0).reshape(3, 3)
    counts = pseudo.copy()
    for each, label, weight in zip(
        *(model.posterior(opinions), *opinions[1:]), strict=True
    ):
        counts[:, label] += weight * each
    expected = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(next_confusion(model, opinions, pseudo), expected)
    assert pseudo[0, 0] == 1.0


def test_the_confusion_by_class_shrinks_to_the_usual_one():
    """Without rows that say otherwise, a fifth of the labels of each class is wrong."""
    opinions, _ = drawn(np.eye(3), n_rows=90)
    silent = opinions._replace(weight=np.full(90, 1e-9))
    for share, expected in ((0.05, 0.2), (0.4, 0.4)):
        uniform = NoiseModel(1.0, np.zeros(3), uniform_confusion(share, 3), 0.0)
        found = with_noise_by_class(silent, uniform).confusion
        np.testing.assert_allclose(found, uniform_confusion(expected, 3), atol=1e-6)


def test_alternations_end_where_the_confusion_stays(monkeypatch):
    asked = []

    def told(model, opinions, pseudo):
        asked.append(pseudo)
        wrong = 0.5 ** len(asked)
        return (1 - wrong) * np.eye(3) + wrong * np.eye(3)[[1, 2, 0]]

    monkeypatch.setattr(noise_model, "next_confusion", told)
    opinions, _ = drawn(np.eye(3), n_rows=30)
    uniform = with_uniform_noise(opinions)
    for tol, n_asked in ((2.0**-4, 4), (0.9 * 2.0**-4, 5)):
        asked.clear()
        settings = replace(SETTINGS, tol=tol)
        with_noise_by_class(opinions, uniform, settings=settings)
        assert len(asked) == n_asked
    np.testing.assert_allclose(asked[0].sum(axis=1), SETTINGS.class_labels)
    asked.clear()
    with_noise_by_class(opinions, uniform, settings=replace(SETTINGS, tol=0.0, max_iter=7))
    assert len(asked) == 7


def test_sharpness_and_offsets_have_bounds():
    certain = Opinions(np.log([[0.5, 0.5]] * 50), np.zeros(50, dtype=int), np.ones(50))
    free = replace(SETTINGS, sharpness_weight=0.0, offset_weight=0.0)
    model = without_noise(certain, settings=free)
    assert np.abs(model.offset).max() <= 15.0
    assert np.ptp(model.offset) > 10
    clear = certain._replace(log_probability=np.log([[0.51, 0.49]] * 50))
    started = NoiseModel(np.exp(2.9), np.zeros(2), np.eye(2), 0.0)
    found = without_noise(clear, started, replace(free, offset_weight=1e9))
    assert found.sharpness == pytest.approx(np.exp(3.0))


def test_slopes_of_the_models_agree_with_differences(monkeypatch):
    asked = []
    monkeypatch.setattr(
        noise_model,
        "_least",
        lambda cost, point, most: asked.append((cost, point)) or point,
    )
    opinions, _ = drawn(BY_CLASS, n_rows=30)
    without_noise(opinions)
    with_noise_by_class(opinions, with_uniform_noise(opinions))
    assert [len(point) for _, point in asked[:3]] == [4, 5, 4]
    for cost, point in asked[:3]:
        place = point + 0.1 * np.arange(len(point))
        slope = approx_fprime(place, lambda x, cost=cost: cost(x)[0])
        np.testing.assert_allclose(slope, cost(place)[1], rtol=1e-4, atol=1e-4)


def test_labels_are_not_wrong_more_often_than_by_chance():
    """Else classes would only swap their names."""
    opinions, _ = drawn(uniform_confusion(0.95, 3), n_rows=90)
    share = 1 - with_uniform_noise(opinions).confusion[0, 0]
    assert 0.5 < share < 2 / 3
