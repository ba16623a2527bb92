"""Evidence: the likelihood of labels that may be replaced, recomputed from its formula."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from wdrsvm import RobustLinearSVC
from wdrsvm.estimators.search.doubt.opinions import (
    FACTORS,
    SHARES,
    Opinion,
    opinion_of,
    pooled,
)

from ...cases import CULTIVAR, IRIS, SPECIES, WINE


def test_an_opinion_is_that_of_the_probabilities():
    fitted = LogisticRegression().fit(IRIS, SPECIES)
    found = opinion_of(fitted, IRIS, SPECIES, np.arange(3))
    probability = fitted.predict_proba(IRIS)
    n = np.arange(len(SPECIES))
    given = found.probability[FACTORS.index(1.0)]
    assert given == pytest.approx(probability[n, SPECIES], abs=1e-12)
    assert found.has_scale
    others = probability.copy()
    others[n, SPECIES] = 0
    assert np.array_equal(found.other, others.argmax(axis=1))
    odds = np.log(others.max(axis=1) / probability[n, SPECIES])
    assert found.log_odds == pytest.approx(odds)


def test_two_classes_have_one_score():
    y = (SPECIES > 0).astype(int)
    fitted = LogisticRegression().fit(IRIS, y)
    found = opinion_of(fitted, IRIS, y, np.arange(2))
    given = fitted.predict_proba(IRIS)[np.arange(len(y)), y]
    assert found.probability[FACTORS.index(1.0)] == pytest.approx(given, abs=1e-12)


def test_scores_without_a_scale_are_tried_at_several():
    fitted = RobustLinearSVC(0.1).fit(WINE, CULTIVAR)
    found = opinion_of(fitted, WINE, CULTIVAR, np.arange(3))
    assert not found.has_scale
    for factor, given in zip(FACTORS, found.probability, strict=True):
        expected = softmax(factor * fitted.decision_function(WINE), axis=1)
        assert given == pytest.approx(expected[np.arange(len(CULTIVAR)), CULTIVAR])


def test_a_class_that_was_not_learned_has_no_probability():
    known = SPECIES < 2
    fitted = LogisticRegression().fit(IRIS[known], SPECIES[known])
    found = opinion_of(fitted, IRIS, SPECIES, np.arange(3))
    assert (found.probability[:, ~known] == 0).all()
    assert (found.log_odds[~known] == np.inf).all()
    assert set(found.other[~known]) <= {0, 1}


def opinion(probability):
    """Of two classes; the given label is predicted if its probability is above a half."""
    given = np.tile(np.asarray(probability, dtype=float), (len(FACTORS), 1))
    odds = np.log(1 / given[0] - 1)
    return Opinion(given, np.ones(len(odds), dtype=int), odds, True)


def test_evidence_of_probabilities_has_the_factor_one_but_doubt_has_any():
    said = opinion([0.9, 0.8])
    said.probability[0] = 0.99
    fair, free = (
        pooled([[said._replace(has_scale=scale)]], [np.arange(2)], np.ones(2), 2)
        for scale in (True, False)
    )
    assert fair.value[0] == pytest.approx(np.log([0.9, 0.8]) + 1)
    assert free.value[0] == pytest.approx(np.log([0.99, 0.99]) + 1)
    assert np.array_equal(fair.wrong, free.wrong)


def test_evidence_is_the_best_likelihood_plus_the_accuracy():
    given, weight = np.array([0.9, 0.95, 0.02, 0.8]), np.array([1.0, 2.0, 1.0, 3.0])
    folds = [[opinion(given[:2])], [opinion(given[2:])]]
    found = pooled(folds, [np.array([0, 1]), np.array([2, 3])], weight, 2)
    likelihood = (1 - SHARES[:, None]) * given + SHARES[:, None] / 2
    best = (np.log(likelihood) @ weight).argmax()
    assert 0 < best < len(SHARES) - 1
    assert found.share.tolist() == [SHARES[best]]
    value = np.log(likelihood[best]) + (given > 0.5)
    assert found.value[0] == pytest.approx(value)
    assert found.mean == pytest.approx([value @ weight / 7])
    wrong = SHARES[best] / 2 * (1 - given) / likelihood[best]
    assert found.wrong[0] == pytest.approx(wrong)


def test_rows_in_several_folds_have_mean_opinions_and_rows_in_none_no_weight():
    folds = [[opinion([0.9, 0.6])], [opinion([0.7])]]
    found = pooled(folds, [np.array([0, 2]), np.array([0])], np.ones(3), 2)
    assert found.share.tolist() == [0.0]
    assert found.weight.tolist() == [1.0, 0.0, 1.0]
    expected = [np.log([0.9, 0.7]).mean() + 1, 0.0, np.log(0.6) + 1]
    assert found.value[0] == pytest.approx(expected)


def test_points_that_are_left_out_have_no_evidence():
    folds = [[opinion([0.9]), opinion([0.9])], [opinion([0.8]), None]]
    found = pooled(folds, [np.array([0]), np.array([1])], np.ones(2), 2)
    assert np.isfinite(found.mean[0])
    assert found.mean[1] == -np.inf
