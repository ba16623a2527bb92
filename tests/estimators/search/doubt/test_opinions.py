"""Evidence: the likelihood of labels that may be replaced, recomputed from its formula."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression

from wdrsvm.estimators.search.doubt.opinions import (
    FACTORS,
    LEAST_LIKELIHOOD,
    PSEUDO_LABELS,
    SHARES,
    Opinion,
    Told,
    opinion_of,
    pooled,
)

from ...cases import IRIS, SPECIES


def test_an_opinion_has_the_scores_of_all_classes():
    fitted = LogisticRegression().fit(IRIS, SPECIES)
    found = opinion_of(fitted, IRIS, SPECIES, np.arange(3))
    assert found.scores == pytest.approx(fitted.decision_function(IRIS), rel=1e-5, abs=1e-5)
    assert found.codes is SPECIES


def test_two_classes_have_one_score():
    y = (SPECIES > 0).astype(int)
    fitted = LogisticRegression().fit(IRIS, y)
    found = opinion_of(fitted, IRIS, y, np.arange(2))
    assert softmax(found.scores, axis=1) == pytest.approx(
        fitted.predict_proba(IRIS), abs=1e-6
    )


def test_a_class_that_was_not_learned_is_excluded():
    known = SPECIES < 2
    fitted = LogisticRegression().fit(IRIS[known], SPECIES[known])
    found = opinion_of(fitted, IRIS, SPECIES, np.arange(3))
    assert softmax(found.scores, axis=1)[:, 2].max() <= LEAST_LIKELIHOOD * 1.01


def opinion(probability, codes=None):
    """Scores are logarithms of the probabilities (rows, C)."""
    scores = np.log(np.asarray(probability, dtype=float))
    return Opinion(scores, np.zeros(len(scores), int) if codes is None else codes)


def of_two(given):
    """Two classes; the given label is always the first."""
    given = np.asarray(given, dtype=float)
    return opinion(np.column_stack([given, 1 - given]))


def likelihoods(given, weight):
    """The best likelihoods over factors and shares, by the formula."""
    best = (-np.inf,)
    for factor in FACTORS:
        p = softmax(factor * np.log(np.column_stack([given, 1 - given])), axis=1)[:, 0]
        for share in SHARES:
            q = (1 - share) * p + share / 2
            best = max(best, (weight @ np.log(q), factor, share, p), key=lambda b: b[0])
    return best[1:]


def test_factor_and_share_have_the_largest_likelihood():
    given, weight = np.array([0.9, 0.95, 0.02, 0.8]), np.array([1.0, 2.0, 1.0, 3.0])
    folds = [[of_two(given[:2])], [of_two(given[2:])]]
    found = pooled(Told(folds, [np.array([0, 1]), np.array([2, 3])], weight, np.arange(4)))
    factor, share, _ = likelihoods(given, weight)
    assert 0 < share < SHARES[-1]
    assert (found.factor[0], found.share[0]) == (factor, share)


def test_without_noise_evidence_is_likelihood_plus_accuracy():
    given = np.array([0.9, 0.6, 0.4])
    found = pooled(Told([[of_two(given)]], [np.arange(3)], np.ones(3), np.arange(3)))
    _, share, p = likelihoods(given, np.ones(3))
    assert share == 0
    assert found.value[0] == pytest.approx(np.log(p) + (given > 0.5), rel=1e-5)
    assert found.taken[0] == 0
    assert found.mean == pytest.approx([found.value[0].mean()])


def confused():
    """Three certain classes; a third of the labels 0 becomes 1."""
    true = np.repeat([0, 1, 2], 30)
    codes = true.copy()
    codes[:10] = 1
    probability = np.full((90, 3), 0.001) + 0.997 * np.eye(3)[true]
    return opinion(probability / probability.sum(axis=1, keepdims=True), codes)


def test_the_confusion_is_the_likeliest_one_under_its_prior():
    """Another method does not find a larger sum of log-likelihood and prior."""
    said = confused()
    found = pooled(Told([[said]], [np.arange(90)], np.ones(90), np.arange(90)))
    right = said.scores.argmax(axis=1) == said.codes
    ours = (found.value[0] - right).sum() - 90 * found.taken[0]
    p = softmax(found.factor[0] * said.scores, axis=1)
    usual = (1 - found.share[0]) * np.eye(3) + found.share[0] / 3

    def lost(x):
        T = softmax(x.reshape(3, 3), axis=1)
        prior = PSEUDO_LABELS * (usual * np.log(T / usual)).sum()
        return -np.log((p @ T)[np.arange(90), said.codes]).sum() - prior

    best = minimize(lost, np.log(usual).ravel())
    assert ours == pytest.approx(-best.fun, abs=0.02)
    uniform = np.log((p @ usual)[np.arange(90), said.codes]).sum()
    assert ours > uniform + 5


def test_rows_in_several_folds_have_mean_opinions_and_rows_in_none_no_weight():
    folds = [[of_two([0.9, 0.6])], [of_two([0.7])]]
    found = pooled(Told(folds, [np.array([0, 2]), np.array([0])], np.ones(3), np.arange(3)))
    assert found.weight.tolist() == [1.0, 0.0, 1.0]
    assert found.share[0] == 0
    given = np.array([[0.9, 0.7, 0.6], [0.1, 0.3, 0.4]]) ** found.factor[0]
    one, again, third = np.log(given[0] / given.sum(axis=0)) + 1
    assert found.value[0] == pytest.approx([(one + again) / 2, 0.0, third], rel=1e-5)


def test_weights_have_no_scale():
    said, rows = confused(), [np.arange(90)]
    one, many = (pooled(Told([[said]], rows, np.full(90, w), rows[0])) for w in (1.0, 7.0))
    assert many.mean == pytest.approx(one.mean)


def test_repeated_rows_are_rows_of_larger_weight():
    said = confused()
    times = np.arange(90) % 3
    twice = Opinion(said.scores.repeat(times, axis=0), said.codes.repeat(times))
    merged = np.arange(90).repeat(times)
    again = pooled(Told([[twice]], [np.arange(len(merged))], np.ones(len(merged)), merged))
    once = pooled(Told([[said]], [np.arange(90)], times.astype(float), np.arange(90)))
    assert again.n_rows == once.n_rows == 60
    assert again.mean == pytest.approx(once.mean)


def test_points_that_are_left_out_have_no_evidence():
    folds = [[of_two([0.9]), of_two([0.9])], [of_two([0.8]), None]]
    found = pooled(Told(folds, [np.array([0]), np.array([1])], np.ones(2), np.arange(2)))
    assert np.isfinite(found.mean[0])
    assert found.mean[1] == -np.inf


def test_a_mean_classifier_has_weighted_sums_of_scores_in_every_fold():
    scores = np.random.default_rng(0).normal(size=(2, 3, 3, 2))
    codes = np.array([0, 1, 0])
    folds = [[Opinion(each, codes) for each in fold] for fold in scores]
    # Row 0 is in both folds, row 4 in none.
    told = Told(folds, [np.array([0, 1, 2]), np.array([3, 0, 5])], np.ones(6), np.arange(6))
    found = told.log_probability(np.array([0.5, 0.0, 2.0]))
    one, two = log_softmax(0.5 * scores[:, 0] + 2.0 * scores[:, 2], axis=-1)
    assert told.visits.tolist() == [2, 1, 1, 1, 0, 1]
    assert found[[1, 2, 3, 5]] == pytest.approx(np.array([one[1], one[2], two[0], two[2]]))
    assert found[0] == pytest.approx((one[0] + two[1]) / 2)
    assert found[4].tolist() == [0, 0]


def test_points_that_were_left_out_are_not_in_the_mean():
    said = of_two([0.9, 0.2])
    told = Told([[said, None]], [np.arange(2)], np.ones(2), np.arange(2))
    for weight in (0.0, np.nan):
        found = told.log_probability(np.array([1.0, weight]))
        assert found == pytest.approx(said.scores)
