"""Opinions of models that never saw a label, by hand."""

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wdrsvm.robustness.labels import out_of_fold
from wdrsvm.robustness.labels.out_of_fold import (
    Fold,
    LabelledRows,
    _calibrated,
    _opinion,
    all_scores,
    checked_judge,
    mean_opinion,
    repeated_folds,
    takes,
)

rng = np.random.default_rng(0)
Y = np.arange(12) % 3
X = rng.normal(size=(12, 2)) + 2 * np.eye(3)[Y][:, :2]
WEIGHT, TRUST = rng.uniform(0.5, 1.5, 12), rng.uniform(0.5, 1.5, 12)
ROWS = LabelledRows(X, Y, WEIGHT, None)
FOLDS = [Fold(np.arange(0, 6), np.arange(6, 12)), Fold(np.arange(6, 12), np.arange(0, 6))]


class Remembering:
    """Means of classes as a model; remembers what it was fitted with."""

    def fit(self, X, y, **options):
        self.given = (X, y, options)
        weight = options.get("sample_weight", options.get("last__sample_weight"))
        self.means = np.stack(
            [np.average(X[y == c], axis=0, weights=weight[y == c]) for c in range(3)]
        )
        return self

    def decision_function(self, X):
        return X @ self.means.T


class Pipeline(Remembering):
    steps = (("first", None), ("second", None), ("last", Remembering()))


def test_a_model_is_copied_and_given_the_rows_columns():
    model, some = Remembering(), np.array([0, 4, 5, 7, 2])
    fitted = ROWS.fitted(model, some)
    assert not hasattr(model, "given")
    given, labels, options = fitted.given
    np.testing.assert_array_equal(given, X[some])
    np.testing.assert_array_equal(labels, Y[some])
    assert list(options) == ["sample_weight"]
    np.testing.assert_array_equal(options["sample_weight"], WEIGHT[some])
    trusting = LabelledRows(X, Y, WEIGHT, TRUST)
    options = trusting.fitted(model, some).given[2]
    assert list(options) == ["sample_weight", "label_trust"]
    np.testing.assert_array_equal(options["label_trust"], TRUST[some])
    options = trusting.fitted(Pipeline(), some).given[2]
    assert list(options) == ["last__sample_weight", "last__label_trust"]
    np.testing.assert_array_equal(options["last__label_trust"], TRUST[some])


@pytest.mark.parametrize("n_splits", [2, 3, 9])
def test_divisions_are_stratified_shuffled_and_seeded(n_splits):
    divisions = repeated_folds(Y, n_splits, 2, 5)
    seeds = np.random.SeedSequence(5).generate_state(2)
    assert len(divisions) == 2
    for folds, seed in zip(divisions, seeds, strict=True):
        splitter = StratifiedKFold(min(n_splits, 4), shuffle=True, random_state=int(seed))
        for fold, (learnt, judged) in zip(folds, splitter.split(X, Y), strict=True):
            np.testing.assert_array_equal(fold.learnt, learnt)
            np.testing.assert_array_equal(fold.judged, judged)


def test_a_class_needs_two_rows():
    assert len(repeated_folds(np.array([0, 0, 1, 1, 1]), 5, 1, 0)[0]) == 2
    with pytest.raises(ValueError, match="at least 2 rows of each class"):
        repeated_folds(np.array([0, 1, 1, 1]), 5, 1, 0)


def opinion_by_hand():
    scores = np.empty((12, 3))
    for fold in FOLDS:
        scores[fold.judged] = ROWS.fitted(Remembering(), fold.learnt).decision_function(
            X[fold.judged]
        )
    level, calibrated = scores / scores.std(), np.empty((12, 3))
    for learnt, judged in FOLDS:
        logistic = LogisticRegression(max_iter=1000)
        logistic.fit(level[learnt], Y[learnt], WEIGHT[learnt])
        calibrated[judged] = logistic.predict_log_proba(level[judged])
    return scores, calibrated


def test_an_opinion_is_calibrated_out_of_fold():
    scores, calibrated = opinion_by_hand()
    found = _opinion(Remembering(), ROWS, FOLDS)
    np.testing.assert_allclose(found.scores, scores)
    np.testing.assert_allclose(found.log_probability, calibrated, atol=1e-6)
    trusting = LabelledRows(X, Y, WEIGHT, TRUST)
    again = _opinion(Remembering(), trusting, FOLDS)
    np.testing.assert_allclose(again.log_probability, calibrated, atol=1e-6)


def test_the_calibration_has_time_to_converge(monkeypatch):
    asked = []
    monkeypatch.setattr(
        out_of_fold,
        "LogisticRegression",
        lambda **options: asked.append(options) or LogisticRegression(**options),
    )
    _opinion(Remembering(), ROWS, FOLDS)
    assert asked == [{"max_iter": 1000}] * 2


class Constant(Remembering):
    def decision_function(self, X):
        return np.full((len(X), 3), 4.0)


def test_a_constant_model_has_an_opinion_too():
    found = _opinion(Constant(), ROWS, FOLDS)
    assert (found.scores == 4.0).all()
    share = np.array([np.bincount(Y[fold.learnt], WEIGHT[fold.learnt]) for fold in FOLDS])
    expected = log_softmax(np.log(share), axis=1)[[0] * 6 + [1] * 6]
    order = np.r_[FOLDS[0].judged, FOLDS[1].judged]
    np.testing.assert_allclose(found.log_probability[order], expected, atol=1e-3)


def test_opinions_are_averaged_over_the_divisions():
    other = [FOLDS[0], Fold(np.arange(3, 12), np.arange(0, 6))]
    one, two = (_opinion(Remembering(), ROWS, folds) for folds in (FOLDS, other))
    found = mean_opinion(Remembering(), ROWS, [FOLDS, other])
    np.testing.assert_allclose(found.scores, (one.scores + two.scores) / 2)
    mean = (one.log_probability + two.log_probability) / 2
    np.testing.assert_allclose(found.log_probability, mean)


class Decided:
    def __init__(self, decision):
        self.decision = decision

    def decision_function(self, X):
        return self.decision


def test_one_decision_is_two_scores():
    found = all_scores(Decided([1, -3]), X)
    assert found.tolist() == [[-0.5, 0.5], [1.5, -1.5]]
    whole = all_scores(Decided([[1, 2], [3, 4]]), X)
    assert whole.dtype == np.float64
    assert whole.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(TypeError, match="or predict_proba, but dict has neither"):
        all_scores({}, X)


class Certain(Remembering):
    """A model with probabilities, of which one is 0."""

    def predict_proba(self, X):
        return np.tile([0.75, 0.25, 0.0], (len(X), 1))


def test_probabilities_are_taken_as_they_are():
    found = _opinion(Certain(), ROWS, FOLDS)
    np.testing.assert_allclose(found.scores, opinion_by_hand()[0])
    expected = np.tile(np.log([0.75, 0.25, 1e-6]), (12, 1))
    np.testing.assert_allclose(found.log_probability, expected)

    class Unscored(Certain):
        decision_function = property()

    assert not hasattr(Unscored(), "decision_function")
    np.testing.assert_allclose(all_scores(Unscored(), X), expected)


NEIGHBOURS = KNeighborsClassifier(2)


def test_weights_go_to_models_that_take_them():
    logistic = LogisticRegression()
    search = GridSearchCV(logistic, {"C": [1.0]})
    assert all(takes(each, "sample_weight") for each in (logistic, search))
    scaler = StandardScaler()
    assert takes(make_pipeline(scaler, logistic), "sample_weight")
    for each in (NEIGHBOURS, make_pipeline(scaler, NEIGHBOURS)):
        assert not takes(each, "sample_weight")
        assert ROWS.fitted(each, np.arange(12)).predict(X).shape == (12,)


def test_what_cannot_judge_labels_is_refused():
    assert checked_judge(X, NEIGHBOURS, sample_weight=None) is NEIGHBOURS
    with pytest.raises(ValueError, match="X must have the features if pred_probs is None"):
        checked_judge(None, NEIGHBOURS)
    with pytest.raises(TypeError, match=r"estimator must be a classifier with fit.*'tree'"):
        checked_judge(X, "tree")
    with pytest.raises(TypeError, match="fit of KNeighborsClassifier does not take it"):
        checked_judge(X, NEIGHBOURS, sample_weight=WEIGHT)
    with pytest.raises(TypeError, match="label_trust must be None"):
        checked_judge(X, LogisticRegression(), sample_weight=WEIGHT, label_trust=TRUST)


def test_scores_without_spread_are_calibrated_too():
    """The unit of scores does not matter, and equal scores have none."""
    scores = np.random.default_rng(0).normal(size=(12, 3))
    found = [_calibrated(unit * scores, ROWS, FOLDS) for unit in (1.0, 1e6)]
    np.testing.assert_allclose(*found, rtol=1e-6)
    constant = _calibrated(np.full((12, 3), 5.0), ROWS, FOLDS)
    assert np.isfinite(constant).all()
    np.testing.assert_allclose(np.exp(constant).sum(axis=1), 1.0)
