"""Baselines of rows, with and without the training rows."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import scale

from wdrsvm import RobustLinearSVC, WassersteinBall, worst_case_error
from wdrsvm.report.model.baselines import Baselines, largest_class
from wdrsvm.report.model.promise import DEVIATIONS, Movement, promise_of

X, y = load_iris(return_X_y=True)
X = scale(X)
CALM, MOVED = (Movement(WassersteinBall(radius), DEVIATIONS) for radius in (0.0, 0.1))


def rates(baselines, movement):
    return promise_of(RobustLinearSVC().fit(X, y), X, y, baselines, movement).logistic


def test_no_row_is_judged_by_a_fit_that_saw_it():
    rivals = Baselines.cross_validated(X, y)
    splitter = StratifiedKFold(5, shuffle=True, random_state=0)
    logistic = LogisticRegression(max_iter=1000)
    expected = cross_val_predict(logistic, X, y, cv=splitter) != y
    found = rates(rivals, CALM)
    assert found.error == expected.mean()
    assert found.worst_case_error == pytest.approx(expected.mean())
    assert rivals.about_logistic == "LogisticRegression cross-validated on these rows"


def test_the_folds_share_one_budget():
    """The adversary spends its budget where it is cheapest, over all folds together."""
    rivals = Baselines.cross_validated(X, y)
    apart = [
        worst_case_error(scores, X[rows], y[rows], MOVED.ball) * len(rows)
        for rows, scores in rivals.folds
    ]
    assert rates(rivals, MOVED).worst_case_error >= sum(apart) / len(y)


def test_a_class_of_one_row_leaves_the_constant_answer():
    few = np.r_[0:10, 60:70, 120]
    rivals = Baselines.cross_validated(X[few], y[few])
    assert (rivals.folds, rivals.logistic) == ((), None)
    assert rivals.largest_class == 0


def test_the_baselines_of_a_model_are_taken_first():
    model = RobustLinearSVC().fit(X, y)
    assert Baselines.of_model(model, y, X).folds
    assert not Baselines.of_model(model, y).folds
    model.baselines_ = Baselines.learned(X, y).plain()
    kept = Baselines.of_model(model, y, X)
    assert not kept.folds
    assert kept.about_logistic == "LogisticRegression on the same rows"


@pytest.mark.parametrize("kind", [object, str])
def test_the_largest_class_is_a_plain_value(kind):
    found = largest_class(np.array(["b", "a", "b"], dtype=kind))
    assert found == "b"
    assert type(found) is str
