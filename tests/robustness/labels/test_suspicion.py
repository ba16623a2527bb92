"""How many labels to check, and how many are wrong."""

import numpy as np
import pytest

from wdrsvm.robustness.labels import noise_model
from wdrsvm.robustness.labels.noise_model import Opinions
from wdrsvm.robustness.labels.suspicion import (
    _groups,
    n_to_check,
    noise_models,
    share_interval,
)


def drawn(share, seed=0, n_rows=400):
    """Labels of three clear classes, a share of which is wrong."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_rows) % 3
    scores = rng.normal(size=(n_rows, 3)) + 6 * np.eye(3)[truth]
    log_probability = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    wrong = rng.random(n_rows) < share
    y = np.where(wrong, (truth + rng.integers(1, 3, n_rows)) % 3, truth)
    return Opinions(log_probability, y, np.ones(n_rows)), wrong


def test_the_cut_off_has_the_largest_expected_f1():
    """By hand: after 1, 2, 3 labels 2/2.8, 3.6/3.8, 3.6/4.8 with the sum 1.8."""
    assert n_to_check(np.array([1.0, 0.8, 0.0])) == 2
    assert n_to_check(np.array([0.9, 0.45, 0.45, 0.45])) == 4
    assert n_to_check(np.array([0.2, 0.2, 0.05])) == 0
    assert n_to_check(np.array([0.4, 0.3])) == 2


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_shares_and_their_intervals(share):
    """Most intervals hold the share of labels that are wrong."""
    n_held = 0
    for seed in range(10):
        opinions, wrong = drawn(share, seed)
        models = noise_models(opinions)
        found = models.wrong_share(opinions)
        assert found == pytest.approx(wrong.mean(), abs=0.04)
        low, high = share_interval(opinions, models, 0)
        assert low < found < high < found + 0.12
        n_held += low <= wrong.mean() <= high
    assert n_held >= 7


def test_weights_count_like_repeated_rows():
    opinions, _ = drawn(0.2, n_rows=90)
    weight = 1.0 + (np.arange(90) % 2)
    twice = opinions.take(np.repeat(np.arange(90), weight.astype(int)))
    weighted = opinions._replace(weight=weight)
    expected = noise_models(twice).wrong_share(twice)
    assert noise_models(weighted).wrong_share(weighted) == pytest.approx(expected, abs=2e-3)


def test_the_model_by_class_begins_where_it_is_told(monkeypatch):
    """At its end, the model by class has one alternation to do; from afar it has more."""
    alternations = []

    def counted(*given):
        alternations.append(given)
        return next_confusion(*given)

    next_confusion = noise_model.next_confusion
    monkeypatch.setattr(noise_model, "next_confusion", counted)
    opinions, _ = drawn(0.2, n_rows=200)
    models = noise_models(opinions)
    assert len(alternations) > 1
    alternations.clear()
    again = noise_models(opinions, models)
    assert len(alternations) == 1
    for first, second in zip(models, again, strict=True):
        np.testing.assert_allclose(
            second.confusion, first.confusion, atol=noise_model.SETTINGS.tol
        )


def test_groups_spread_the_classes():
    y = np.repeat([0, 1, 2], [50, 30, 20])
    group = _groups(y, 10, 0)
    for c, size in enumerate((5, 3, 2)):
        np.testing.assert_array_equal(np.bincount(group[y == c]), size)
    assert (group != _groups(y, 10, 1)).any()


def test_an_interval_is_that_of_a_jackknife():
    """By hand: the shares without each group, their spread, and Student's quantile."""
    opinions, _ = drawn(0.2, n_rows=200)
    models = noise_models(opinions)
    group = _groups(opinions.y, 10, 4)
    shares = []
    for g in range(10):
        kept = opinions.take(np.flatnonzero(group != g))
        shares.append(noise_models(kept, models).wrong_share(kept))
    width = 1.833 * np.sqrt(9 * np.var(shares))
    centre = models.wrong_share(opinions)
    found = share_interval(opinions, models, 4)
    np.testing.assert_allclose(found, (centre - width, centre + width), rtol=1e-3)
