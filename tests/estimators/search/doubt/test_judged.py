"""Labels judged out of fold: by the models of the noise, whatever the weights."""

import numpy as np
import pytest
from scipy.special import log_softmax

from wdrsvm import audit_labels
from wdrsvm.estimators.search.doubt.judged import judged_labels
from wdrsvm.estimators.search.doubt.opinions import Opinion, Told

rng = np.random.default_rng(0)
TRUTH = np.arange(60) % 3
LABELS = np.where(np.arange(60) < 6, (TRUTH + 1) % 3, TRUTH)
SCORES = 3 * np.eye(3)[TRUTH] + rng.normal(size=(60, 3))
ROWS = np.arange(60)
POINT = np.ones(1)


def told(scores=SCORES, rows=ROWS, weight=None):
    weight = np.ones(60) if weight is None else weight
    return Told([[Opinion(scores[rows], LABELS[rows])]], [rows], weight, ROWS)


def test_the_judge_is_the_audit_of_the_same_probabilities():
    found = judged_labels(told(), LABELS, POINT, None)
    probability = np.exp(log_softmax(SCORES, axis=1))
    audit = audit_labels(None, LABELS, pred_probs=probability)
    assert found.wrong[audit.row] == pytest.approx(audit.wrong_probability, abs=1e-6)
    # The audit does not tell very small probabilities apart.
    top = audit.row[:40]
    assert audit.wrong_probability[40] > 1e-5
    assert np.array_equal(found.other[top], audit.suggested[:40])
    assert found.log_odds[top] == pytest.approx(audit.gain[:40], abs=1e-4)
    assert set(np.argsort(-found.wrong)[:6]) == set(range(6))


def test_the_scores_of_points_are_added_with_their_weights():
    half = Opinion(SCORES / 2, LABELS)
    twice = Told([[half, None, half]], [ROWS], np.ones(60), ROWS)
    found = judged_labels(twice, LABELS, np.array([1.5, 0.0, 0.5]), None)
    alone = judged_labels(told(), LABELS, POINT, None)
    assert found.wrong == pytest.approx(alone.wrong)


def test_rows_in_no_fold_and_verified_labels_are_not_judged():
    trust = np.where(ROWS == 1, np.inf, 1.0)
    found = judged_labels(told(rows=ROWS[:50]), LABELS, POINT, trust)
    closed = [1, *range(50, 60)]
    assert (found.wrong[closed] == 0).all()
    assert (found.log_odds[closed] == -np.inf).all()
    assert (np.delete(found.wrong, closed) > 0).all()
    # They are no evidence about the noise either.
    less = judged_labels(
        told(weight=np.where(np.isin(ROWS, closed), 0.0, 1.0)), LABELS, POINT, None
    )
    assert found.wrong[:1] == pytest.approx(less.wrong[:1])


def test_nothing_is_open():
    found = judged_labels(told(), LABELS, POINT, np.full(60, np.inf))
    assert (found.wrong == 0).all()
