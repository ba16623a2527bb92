"""Searches score as they train."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.metrics import accuracy_score, balanced_accuracy_score, make_scorer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wdrsvm import RobustLinearSVC, RobustLinearSVCCV, RobustSVC
from wdrsvm.estimators.search.judges import GivenRows

from ..cases import COSTS, CULTIVAR, RADII, RADII_WITH_A_CONSTANT, WINE, rows

WEIGHT = np.random.default_rng(0).integers(1, 4, len(CULTIVAR)).astype(float)


@pytest.mark.parametrize("scoring", [None, "accuracy"])
def test_scores_weigh_classes_and_rows(scoring):
    options = {"cv": 2, "scoring": scoring}
    factor = np.array([1.0, 5.0, 0.5])
    weighted = RobustLinearSVCCV(
        RADII_WITH_A_CONSTANT, [2.0], class_weight=dict(enumerate(factor)), **options
    )
    table = weighted.fit(WINE, CULTIVAR, sample_weight=WEIGHT).cv_results_[
        "mean_test_score"
    ]
    product = RobustLinearSVCCV(RADII_WITH_A_CONSTANT, [2.0], **options)
    product.fit(WINE, CULTIVAR, sample_weight=WEIGHT * factor[CULTIVAR])
    assert table == pytest.approx(product.cv_results_["mean_test_score"])


def test_a_metric_that_knows_no_weights_still_serves_with_class_weights():
    scoring = make_scorer(lambda given, predicted: np.mean(given == predicted))
    search = RobustLinearSVCCV([0.1], [2.0], cv=2, scoring=scoring, class_weight="balanced")
    assert search.fit(WINE, CULTIVAR).best_score_ > 0.9


def watching(seen, **request):
    """A scorer that remembers the weights it was given."""

    def accuracy(given, predicted, sample_weight=None):
        seen.append(None if sample_weight is None else float(sum(sample_weight)))
        return accuracy_score(given, predicted, sample_weight=sample_weight)

    scorer = make_scorer(accuracy)
    return scorer.set_score_request(**request) if request else scorer


@pytest.mark.parametrize(("asks", "gets"), [(True, True), (False, False)])
@pytest.mark.parametrize("several", [True, False])
def test_routed_weights_reach_the_scorers_that_request_them(asks, gets, several):
    seen = []
    with config_context(enable_metadata_routing=True):
        scorer = watching(seen, sample_weight=asks)
        silent = make_scorer(accuracy_score).set_score_request(sample_weight=False)
        scoring = {"mine": scorer, "other": silent} if several else scorer
        search = RobustLinearSVCCV([0.1], [2.0], cv=2, scoring=scoring)
        search.set_params(refit="mine" if several else True)
        search.fit(WINE, CULTIVAR, sample_weight=WEIGHT)
        assert all((each is not None) == gets for each in seen)
        assert sum(filter(None, seen)) == (pytest.approx(WEIGHT.sum()) if gets else 0)
        if gets:
            search.score(WINE, CULTIVAR, sample_weight=WEIGHT)
            assert seen[-1] == WEIGHT.sum()
        else:
            with pytest.raises(TypeError, match="not routed"):
                search.score(WINE, CULTIVAR, sample_weight=WEIGHT)


def test_weights_that_nobody_was_asked_about_name_the_scorer():
    with (
        config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match=r"make_scorer\(accuracy_score.*set_score_request"),
    ):
        RobustLinearSVCCV([0.1], [2.0], cv=2).fit(WINE, CULTIVAR, sample_weight=WEIGHT)


def test_trust_is_routed_to_the_fit_and_to_scorers_that_request_it():
    trust = np.full(len(CULTIVAR), np.inf)
    seen = []

    def metric(given, predicted, label_trust=None):
        seen.append(label_trust is not None and np.isinf(label_trust).all())
        return accuracy_score(given, predicted)

    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(metric).set_score_request(label_trust=True)
        search = RobustLinearSVCCV([0.1], [0.5], cv=2, scoring=scorer)
        search.set_fit_request(label_trust=True, sample_weight=False)
        fitted = make_pipeline(StandardScaler(), search).fit(
            WINE, CULTIVAR, label_trust=trust
        )[-1]
    assert seen == [True, True]
    assert fitted.objective_ == pytest.approx(
        RobustLinearSVC(0.1, np.inf).fit(WINE, CULTIVAR).objective_, rel=1e-5
    )


def test_any_scorer():
    X, y = rows()
    named = RobustLinearSVCCV(RADII, COSTS, cv=3, scoring="balanced_accuracy").fit(X, y)
    made = RobustLinearSVCCV(
        RADII, COSTS, cv=3, scoring=make_scorer(balanced_accuracy_score)
    ).fit(X, y)

    def own(estimator, X, y):
        return balanced_accuracy_score(y, estimator.predict(X))

    plain = RobustLinearSVCCV(RADII, COSTS, cv=3, scoring=own).fit(X, y)
    column = named.cv_results_["mean_test_score"]
    assert made.cv_results_["mean_test_score"] == pytest.approx(column)
    assert plain.cv_results_["mean_test_score"] == pytest.approx(column)
    expected = balanced_accuracy_score(y, named.predict(X))
    assert named.score(X, y) == pytest.approx(expected)


def test_several_scorers():
    X, y = rows()
    search = RobustLinearSVCCV(
        RADII, COSTS, cv=3, scoring=["accuracy", "balanced_accuracy"], refit="accuracy"
    ).fit(X, y)
    assert {"mean_test_accuracy", "rank_test_balanced_accuracy"} <= set(search.cv_results_)
    assert search.cv_results_["rank_test_accuracy"][search.best_index_] == 1
    with pytest.raises(ValueError, match="refit must name one of the scorers"):
        search.set_params(refit=True).fit(X, y)


def test_weights_reach_training_and_scoring():
    """Rows of weight zero are as if they were not there."""
    X, y = rows()
    weight = np.ones(80)
    weight[::8] = 0
    kept = np.flatnonzero(weight)
    folds = list(StratifiedKFold(3).split(X, y))
    place = np.cumsum(weight > 0) - 1
    inside = [tuple(place[part[weight[part] > 0]] for part in fold) for fold in folds]
    weighted = RobustLinearSVCCV(RADII, COSTS, cv=folds).fit(X, y, sample_weight=weight)
    left = RobustLinearSVCCV(RADII, COSTS, cv=inside).fit(X[kept], y[kept])
    table = left.cv_results_["mean_test_score"]
    assert weighted.cv_results_["mean_test_score"] == pytest.approx(table)
    assert weighted.coef_ == pytest.approx(left.coef_)


def test_trust_reaches_training():
    X, y = rows()
    trust = np.full(80, np.inf)
    trusted = RobustLinearSVCCV(RADII, [0.5], cv=3).fit(X, y, label_trust=trust)
    infinite = RobustLinearSVCCV(RADII, [np.inf], cv=3).fit(X, y)
    assert trusted.objective_ == pytest.approx(infinite.objective_, abs=1e-6)


def test_weights_are_routed_to_who_asks():
    X, y = rows()
    weight = np.random.default_rng(0).integers(1, 4, 80).astype(float)
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(balanced_accuracy_score).set_score_request(sample_weight=True)
        search = RobustLinearSVCCV(RADII, COSTS, cv=3, scoring=scorer)
        search.set_fit_request(sample_weight=True)
        routed = search.fit(X, y, sample_weight=weight)
    plain = RobustLinearSVCCV(
        RADII, COSTS, cv=3, scoring=make_scorer(balanced_accuracy_score)
    ).fit(X, y, sample_weight=weight)
    table = plain.cv_results_["mean_test_score"]
    assert routed.cv_results_["mean_test_score"] == pytest.approx(table)


def test_unknown_metadata_are_an_error():
    X, y = rows()
    with pytest.raises(TypeError, match="unexpected arguments"):
        RobustLinearSVCCV(RADII, COSTS).fit(X, y, colour=y)


@pytest.mark.parametrize(
    ("scoring", "told"),
    [
        ([], "a list of names"),
        (5, "a list of names"),
        ({1: "accuracy"}, "a list of names"),
        (["accuracy", "accuracy"], "each scorer once"),
    ],
)
def test_scorers_that_nobody_can_name_are_refused(scoring, told):
    X, y = rows()
    with pytest.raises(ValueError, match=f"^scoring must .*{told}"):
        RobustLinearSVCCV(RADII, COSTS, scoring=scoring, refit="accuracy").fit(X, y)


def test_a_precomputed_kernel_must_be_square():
    X, y = rows()
    held = GivenRows(X, y, None, None)
    with pytest.raises(
        ValueError, match=r"^X must be a square matrix .* got shape \(80, 4"
    ):
        held.part(RobustSVC(kernel="precomputed"), np.arange(3))
