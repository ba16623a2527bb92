"""Ridge points are scikit-learn's classifiers."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from wdrsvm import RobustLogisticRegression
from wdrsvm.estimators.search.doubt.ridge import (
    MAX_ITER,
    STRENGTHS,
    TOTAL_WEIGHT,
    ridge_points,
)
from wdrsvm.estimators.search.judges import GivenRows

from ...cases import CULTIVAR, WINE


def test_the_points_are_logistic_regressions_of_falling_penalties():
    found = ridge_points(RobustLogisticRegression(), GivenRows(WINE, CULTIVAR, None, None))
    assert [each.C for each in found] == list(STRENGTHS) == sorted(STRENGTHS)
    strength = STRENGTHS[3] * TOTAL_WEIGHT / len(CULTIVAR)
    plain = LogisticRegression(C=strength, max_iter=MAX_ITER).fit(WINE, CULTIVAR)
    assert found[3].coef_ == pytest.approx(plain.coef_, abs=1e-3)


def test_weights_have_no_scale_and_parameters_are_passed_on():
    model = RobustLogisticRegression(fit_intercept=False, class_weight="balanced")
    weight = np.linspace(1, 2, len(CULTIVAR))
    one, many = (
        ridge_points(model, GivenRows(WINE, CULTIVAR, scale * weight, None))[2]
        for scale in (1.0, 4.0)
    )
    assert np.array_equal(one.coef_, many.coef_)
    assert (one.intercept_ == 0).all()
    assert one.class_weight == "balanced"


def test_one_class_teaches_nothing():
    rows = GivenRows(WINE[:5], CULTIVAR[:5], None, None)
    assert ridge_points(RobustLogisticRegression(), rows) == [None] * len(STRENGTHS)
