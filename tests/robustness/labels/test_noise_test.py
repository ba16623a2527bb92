"""The kind of noise is recognised, p-values are honest, and costs follow the confusion."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from wdrsvm import RobustLogisticRegression, label_noise_test
from wdrsvm.robustness.labels import noise_test
from wdrsvm.robustness.labels.noise_model import NoiseModel, Opinions
from wdrsvm.robustness.labels.noise_test import (
    _checked_level,
    _directions,
    _drawn,
    _main_directions,
    _p_value,
    _pairs_that_stand_out,
    _rows_that_stand_out,
    _wrong_share,
)


def blobs(n_rows=240, seed=0, distance=4.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3
    return rng.normal(size=(n_rows, 4)) + distance * np.eye(4)[y], y


def noisy(kind, seed=0):
    X, y = blobs(seed=seed)
    rng = np.random.default_rng([seed, 1])
    other = (y + rng.integers(1, 3, len(y))) % 3
    rate = {"none": 0.0, "uniform": 0.25, "by row": 0.5 * (X[:, 3] > 0)}
    if kind == "by class":
        return X, np.where((y == 0) & (rng.random(len(y)) < 0.4), 1, y)
    return X, np.where(rng.random(len(y)) < rate[kind], other, y)


@pytest.mark.parametrize("kind", ["none", "uniform", "by class", "by row"])
def test_the_kind_is_recognised(kind):
    X, labels = noisy(kind)
    found = label_noise_test(X, labels, LogisticRegression(), n_draws=39)
    assert found.kind == kind
    share = (labels != blobs()[1]).mean()
    assert found.wrong_share == pytest.approx(share, abs=0.05)
    np.testing.assert_allclose(found.confusion.sum(axis=1), 1.0)
    assert found.sentence().endswith(".")


def test_no_noise_is_rarely_seen_where_there_is_none():
    """Labels drawn from the opinions themselves: p-values are nearly uniform."""
    rng = np.random.default_rng(0)
    p_values = []
    for _ in range(12):
        scores = 2 * rng.normal(size=(150, 3))
        probs = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        found = label_noise_test(None, _drawn(probs, rng), pred_probs=probs, n_draws=19)
        p_values.append([found.p_none, found.p_by_class])
    assert (np.array(p_values) <= 0.1).mean(axis=0).max() <= 0.34
    assert np.mean(p_values) > 0.3


def test_squared_correlations_have_the_mean_one_under_the_model():
    """Of one row, over all labels with their probabilities: one per direction."""
    confusion = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.1, 0.7]])
    model = NoiseModel(1.0, np.zeros(3), confusion, 0.0)
    log_probability = np.log([[0.2, 0.5, 0.3]])
    directions = np.array([[0.5, -2.0]])
    found = [
        _rows_that_stand_out(
            Opinions(log_probability, np.array([label]), np.ones(1)), model, directions
        )
        for label in range(3)
    ]
    assert model.given_probability(log_probability)[0] @ found == pytest.approx(2.0)


def test_doubts_of_two_rows_are_independent_under_the_model():
    """The doubt in a label has the mean zero: rows add up, and do not pull together."""
    confusion = np.array([[0.7, 0.3], [0.2, 0.8]])
    model = NoiseModel(1.0, np.zeros(2), confusion, 0.0)
    log_probability = np.log([[0.2, 0.8], [0.6, 0.4]])
    given = model.given_probability(log_probability)
    mean = 0.0
    for labels in np.ndindex(2, 2):
        opinions = Opinions(log_probability, np.array(labels), np.ones(2))
        found = _rows_that_stand_out(opinions, model, np.ones((2, 1)))
        mean += given[[0, 1], labels].prod() * found
    assert mean == pytest.approx(1.0)


def test_costs_are_log_odds_of_the_confusion_and_serve_estimators():
    X, labels = noisy("by class")
    names = np.array(["ash", "elm", "oak"])
    found = label_noise_test(X, names[labels], n_draws=19)
    assert found.classes.tolist() == names.tolist()
    cost, T = found.label_cost, found.confusion
    assert T[0, 1] == pytest.approx(0.4, abs=0.12)
    # An ash that was called an elm is the cheapest mistake to suspect.
    assert cost[1, 0] == pytest.approx(np.log(T[1, 1] / T[0, 1]))
    assert cost[1, 0] == cost[~np.eye(3, dtype=bool)].min()
    assert (np.diag(cost) == 0).all()
    model = RobustLogisticRegression(0.1, cost, label_noise="random", disbelief="repair")
    repaired = model.fit(X, names[labels]).suggested_labels_
    assert (repaired == names[blobs()[1]]).mean() > (labels == blobs()[1]).mean()


def test_draws_follow_the_probabilities():
    rng = np.random.default_rng(0)
    probability = np.tile([0.2, 0.0, 0.8], (4000, 1))
    shares = np.bincount(_drawn(probability, rng), minlength=3) / 4000
    np.testing.assert_allclose(shares, [0.2, 0.0, 0.8], atol=0.03)


def test_directions_are_few_and_centred():
    wide = np.random.default_rng(0).normal(size=(30, 20))
    for X in (wide, sparse.csr_array(wide), wide[:, :2], sparse.csr_array(wide[:, :2])):
        found = _main_directions(X)
        assert found.shape == (30, min(5, X.shape[1]))
        np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=1e-12)


def test_equal_seeds_give_equal_answers():
    X, labels = noisy("uniform")
    one, two = (label_noise_test(X, labels, n_draws=19, random_state=3) for _ in range(2))
    assert (one.p_none, one.p_uniform) == (two.p_none, two.p_uniform)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 0.0}, "level must be a number between 0 and 1, got 0.0"),
        ({"level": True}, "level must be a number between 0 and 1, got True"),
        ({"n_draws": 5}, "n_draws must be an integer >= 19, got 5"),
        ({"n_splits": 1}, "n_splits must be an integer >= 2"),
        ({"pred_probs": np.ones((3, 3))}, "pred_probs must have shape"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        label_noise_test(*blobs(), **options)


def test_squared_scores_of_pairs_have_the_mean_one_under_the_model(monkeypatch):
    """Of one row, over all labels with their probabilities: one per pair of classes."""
    confusion = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.1, 0.7]])
    model = NoiseModel(1.0, np.zeros(3), confusion, 0.0)
    monkeypatch.setattr(noise_test, "with_uniform_noise", lambda opinions: model)
    log_probability = np.log([[0.2, 0.5, 0.3]])
    found = [
        _pairs_that_stand_out(Opinions(log_probability, np.array([label]), np.ones(1)))
        for label in range(3)
    ]
    assert model.given_probability(log_probability)[0] @ found == pytest.approx(6.0)


def test_a_p_value_is_the_share_of_draws_that_are_as_extreme():
    """The statistic is the number of labels 1; each is drawn with the probability 1/2."""
    log_probability = np.zeros((2, 2))
    model = NoiseModel(1.0, np.zeros(2), np.eye(2), 0.0)
    for labels, least, most in (((0, 0), 1.0, 1.0), ((1, 1), 0.15, 0.35)):
        opinions = Opinions(log_probability, np.array(labels), np.ones(2))
        rng = np.random.default_rng(0)
        found = _p_value(lambda told: float(told.y.sum()), model, opinions, 199, rng)
        assert least <= found <= most
        assert round(200 * found, 9).is_integer()
    never = _p_value(lambda told: -len(set(told.y)), model, opinions, 19, rng)
    assert 1 / 20 <= never < 1


def test_directions_are_the_clarity_of_rows_and_their_features():
    model = NoiseModel(1.0, np.zeros(2), np.eye(2), 0.0)
    opinions = Opinions(
        np.log([[0.9, 0.1], [0.5, 0.5]]), np.zeros(2, dtype=int), np.ones(2)
    )
    np.testing.assert_allclose(_directions(None, opinions, model), [[0.2], [-0.2]])
    found = _directions(np.array([[0.0, 5.0], [4.0, 1.0]]), opinions, model)
    np.testing.assert_allclose(found, [[0.2, -1.0, 1.0], [-0.2, 1.0, -1.0]])
    half = model.posterior(opinions)
    np.testing.assert_array_equal(half, [[1.0, 0.0], [1.0, 0.0]])
    noisy_model = NoiseModel(1.0, np.zeros(2), np.array([[0.75, 0.25], [0.25, 0.75]]), 0.0)
    # 0.1 * 0.25 / (0.9 * 0.75 + 0.1 * 0.25) and 0.25.
    assert _wrong_share(noisy_model, opinions) == pytest.approx((1 / 28 + 1 / 4) / 2)


def test_a_level_is_between_zero_and_one():
    assert _checked_level(0.05) == 0.05
    for wrong in (0, 0.0, 1, 1.0, -0.1, 1.5, True, "0.05", None, np.nan):
        with pytest.raises(ValueError, match="level must be a number between 0 and 1"):
            _checked_level(wrong)
