"""Sentences about error rates."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from wdrsvm import RobustLinearSVC
from wdrsvm.report.model.baselines import Baselines, largest_class
from wdrsvm.report.model.promise import movement_of, promise_of

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("scaler", "cost", "unit"),
    [
        (StandardScaler(), None, "standard deviations"),
        (MaxAbsScaler(), None, "of the largest entries"),
        ("passthrough", "std", "standard deviations"),
        ("passthrough", None, "units"),
    ],
)
def test_the_unit_is_that_of_the_features(scaler, cost, unit):
    model = make_pipeline(scaler, RobustLinearSVC(feature_cost=cost)).fit(X, y)
    assert movement_of(model, 0.1).unit == unit


def test_nothing_is_promised_where_all_may_be_wrong():
    model = make_pipeline(StandardScaler(), RobustLinearSVC()).fit(X, y)
    rows = model[0].transform(X)
    rivals = Baselines.learned(rows, y)
    far = promise_of(model[-1], rows, y, rivals, movement_of(model, 100.0))
    assert far.about_model().endswith("all of them may be: nothing is promised.")
    near = promise_of(model[-1], rows, y, rivals, movement_of(model, 1.0), "test")
    assert near.about_model().startswith("Of the 150 test rows ")
    assert "move by 1 standard deviation on average" in near.about_model()


def test_the_largest_class_is_the_first_of_several():
    assert largest_class(np.array(["b", "a", "b", "a", "c"])) == "a"
