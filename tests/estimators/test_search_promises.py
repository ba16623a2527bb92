"""Searches choose classifiers that promise something, and score as they train."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_wine
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.utils.estimator_checks import check_class_weight_classifiers

from wdrsvm import (
    RobustLinearSVC,
    RobustLinearSVCCV,
    RobustLogisticRegressionCV,
    RobustSVCCV,
)
from wdrsvm.estimators import _search

X, y = load_wine(return_X_y=True)
X = scale(X)
# At 20 nothing beats a constant classifier, at the others something does.
RADII = [20.0, 0.5, 0.01]
WEIGHT = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)


@pytest.mark.parametrize("options", [{}, {"one_standard_error": True}])
@pytest.mark.parametrize("search", [RobustLinearSVCCV, RobustLogisticRegressionCV])
def test_a_constant_is_never_chosen_while_there_is_another(search, options):
    # Whatever the scores say.
    found = search(RADII, [np.inf], cv=2, scoring=lambda *_: 1.0, **options).fit(X, y)
    assert found.cv_results_["constant"].tolist() == [True, False, False]
    assert found.radius_ == 0.5


def test_among_constants_the_best_score_decides():
    found = RobustLinearSVCCV([20.0, 30.0], [2.0], cv=2)
    with pytest.warns(UserWarning, match="At radius="):
        found.fit(X, y)
    assert found.cv_results_["constant"].all()
    assert found.best_score_ == found.cv_results_["mean_test_score"].max()


def test_random_label_noise_has_constants_too():
    found = RobustLinearSVCCV(RADII, [2.0], cv=2, label_noise="random").fit(X, y)
    assert found.cv_results_["constant"].tolist() == [True, False, False]


def test_default_radii_begin_where_something_is_learned():
    found = RobustLinearSVCCV(3, cv=2).fit(X, y)
    top = np.flatnonzero(found.cv_results_["param_radius"] == found.radii_[0])
    assert not found.cv_results_["constant"][top].all()


def test_folds_are_solved_roughly_and_the_choice_to_tol(monkeypatch):
    seen = []
    run = _search.scored_fold

    def watched(estimator, *rest):
        seen.append(estimator.tol)
        return run(estimator, *rest)

    monkeypatch.setattr(_search, "scored_fold", watched)
    found = RobustLinearSVCCV([0.1], [2.0], cv=2, tol=1e-7).fit(X, y)
    assert seen == [_search.FOLD_TOL] * 2
    assert found.duality_gap_ <= 1e-7 * max(found.objective_, 1e-2)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_progress_is_told_fold_by_fold_in_place_of_the_bar(n_jobs, capsys):
    shown = []
    search = RobustLinearSVCCV([0.1], [2.0], cv=4, n_jobs=n_jobs, stop_early=True)
    search._on_fold = lambda *far: shown.append(far)
    search.set_params(verbose=1).fit(X, y)
    assert shown == [(k, 4) for k in range(5)]
    assert "folds [" not in capsys.readouterr().err


def test_a_search_says_nothing_unless_asked(capsys):
    RobustLinearSVCCV([0.1], [2.0], cv=2).fit(X, y)
    assert capsys.readouterr() == ("", "")


def test_the_default_kernel_search_heeds_class_weights():
    check_class_weight_classifiers("RobustSVCCV", RobustSVCCV())


@pytest.mark.parametrize("scoring", [None, "accuracy"])
def test_scores_weigh_classes_and_rows(scoring):
    options = {"cv": 2, "scoring": scoring}
    factor = np.array([1.0, 5.0, 0.5])
    weighted = RobustLinearSVCCV(
        RADII, [2.0], class_weight=dict(enumerate(factor)), **options
    )
    table = weighted.fit(X, y, sample_weight=WEIGHT).cv_results_["mean_test_score"]
    product = RobustLinearSVCCV(RADII, [2.0], **options)
    product.fit(X, y, sample_weight=WEIGHT * factor[y])
    assert table == pytest.approx(product.cv_results_["mean_test_score"])


def test_a_metric_that_knows_no_weights_still_serves_with_class_weights():
    scoring = make_scorer(lambda given, predicted: np.mean(given == predicted))
    search = RobustLinearSVCCV([0.1], [2.0], cv=2, scoring=scoring, class_weight="balanced")
    assert search.fit(X, y).best_score_ > 0.9


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
        search.fit(X, y, sample_weight=WEIGHT)
        assert all((each is not None) == gets for each in seen)
        assert sum(filter(None, seen)) == (pytest.approx(WEIGHT.sum()) if gets else 0)
        if gets:
            search.score(X, y, sample_weight=WEIGHT)
            assert seen[-1] == WEIGHT.sum()
        else:
            with pytest.raises(TypeError, match="not routed"):
                search.score(X, y, sample_weight=WEIGHT)


def test_weights_that_nobody_was_asked_about_name_the_scorer():
    with (
        config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match=r"make_scorer\(accuracy_score.*set_score_request"),
    ):
        RobustLinearSVCCV([0.1], [2.0], cv=2).fit(X, y, sample_weight=WEIGHT)


def test_trust_is_routed_to_the_fit_and_to_scorers_that_request_it():
    trust = np.full(len(y), np.inf)
    seen = []

    def metric(given, predicted, label_trust=None):
        seen.append(label_trust is not None and np.isinf(label_trust).all())
        return accuracy_score(given, predicted)

    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(metric).set_score_request(label_trust=True)
        search = RobustLinearSVCCV([0.1], [0.5], cv=2, scoring=scorer)
        search.set_fit_request(label_trust=True, sample_weight=False)
        fitted = make_pipeline(StandardScaler(), search).fit(X, y, label_trust=trust)[-1]
    assert seen == [True, True]
    assert fitted.objective_ == pytest.approx(
        RobustLinearSVC(0.1, np.inf).fit(X, y).objective_, rel=1e-5
    )
