"""The scorer in scikit-learn's searches and in ours."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wdrsvm import (
    RobustLinearSVCCV,
    RobustSVC,
    WassersteinBall,
    worst_case_error,
    worst_case_error_scorer,
)

X, y = load_iris(return_X_y=True)
BALL = WassersteinBall(0.1, 0.8, "l1")
WEIGHT = 1.0 + np.arange(150) % 2


def test_it_is_minus_the_error():
    model = RidgeClassifier().fit(X, y)
    scorer = worst_case_error_scorer(BALL)
    assert scorer(model, X, y) == -worst_case_error(model, X, y, BALL)
    trust = np.where(y == 0, 0.01, 1.0)
    given = {"sample_weight": WEIGHT, "label_trust": trust}
    assert scorer(model, X, y, **given) == -worst_case_error(model, X, y, BALL, **given)
    kernel, ball = RobustSVC().fit(X, y), WassersteinBall(0.05)
    found = worst_case_error_scorer(ball, space="inputs")(kernel, X, y)
    assert found == -worst_case_error(kernel, X, y, ball, space="inputs")


def test_searches_of_scikit_learn_choose_by_it():
    model = make_pipeline(StandardScaler(), RidgeClassifier())
    scorer = worst_case_error_scorer(BALL)
    grid = {"ridgeclassifier__alpha": [1e-4, 1.0, 1e4]}
    search = clone(GridSearchCV(model, grid, scoring=scorer, cv=3)).fit(X, y)
    best = search.cv_results_["mean_test_score"].argmax()
    for k, value in enumerate(grid["ridgeclassifier__alpha"]):
        candidate = clone(model).set_params(ridgeclassifier__alpha=value)
        scores = cross_val_score(candidate, X, y, scoring=scorer, cv=3)
        assert search.cv_results_["mean_test_score"][k] == pytest.approx(scores.mean())
    assert search.best_index_ == best
    several = {"accuracy": "accuracy", "worst": scorer}
    table = cross_validate(model, X, y, scoring=several, cv=3)
    assert (table["test_worst"] < 0).all()


def test_our_searches_choose_by_it():
    scorer = worst_case_error_scorer(BALL)
    search = RobustLinearSVCCV(
        radii=[0.01, 0.1, 1.0], label_costs=[np.inf], norm="l1", scoring=scorer, cv=3
    ).fit(X, y, sample_weight=WEIGHT)
    expected = -worst_case_error(search, X, y, BALL, sample_weight=WEIGHT)
    assert search.score(X, y, sample_weight=WEIGHT) == pytest.approx(expected)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert search.best_score_ < 0


def test_it_is_pickled_cloned_and_sent_to_other_processes():
    scorer = pickle.loads(pickle.dumps(worst_case_error_scorer(BALL)))
    model = RidgeClassifier().fit(X, y)
    expected = -worst_case_error(model, X, y, BALL)
    assert scorer(model, X, y) == expected
    assert clone(scorer, safe=False)(model, X, y) == expected
    assert "radius=0.1" in repr(scorer)
    assert repr(scorer) == f"worst_case_error_scorer({scorer.ball!r})"
    assert "space='inputs'" in repr(worst_case_error_scorer(BALL, space="inputs"))


def test_metadata_is_routed_where_it_is_asked_for():
    model = RidgeClassifier()
    with sklearn.config_context(enable_metadata_routing=True):
        model.set_fit_request(sample_weight=False)
        scorer = worst_case_error_scorer(BALL).set_score_request(sample_weight=True)
        given = {"sample_weight": WEIGHT}
        found = cross_val_score(model, X, y, scoring=scorer, cv=3, params=given)
        plain = cross_val_score(model, X, y, scoring=worst_case_error_scorer(BALL), cv=3)
        with pytest.raises(ValueError, match="sample_weight"):
            cross_val_score(
                model, X, y, scoring=worst_case_error_scorer(BALL), params=given
            )
    assert (found != plain).any()
    with pytest.raises(TypeError, match="set_score_request knows"):
        scorer.set_score_request(groups=True)


def test_refusals():
    with pytest.raises(TypeError, match="ball must be a WassersteinBall"):
        worst_case_error_scorer(0.1)
    with pytest.raises(ValueError, match="space must be one of"):
        worst_case_error_scorer(BALL, space="both")
