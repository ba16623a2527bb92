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


def test_weights_have_no_scale():
    model = RobustLogisticRegression(fit_intercept=False)
    weight = np.linspace(1, 2, len(CULTIVAR))
    one, many = (
        ridge_points(model, GivenRows(WINE, CULTIVAR, scale * weight, None))[2]
        for scale in (1.0, 4.0)
    )
    assert one.coef_ == pytest.approx(many.coef_, rel=1e-9)
    assert (one.intercept_ == 0).all()


def test_repeated_rows_are_rows_of_larger_weight():
    times = np.arange(len(CULTIVAR)) % 3
    again = GivenRows(WINE.repeat(times, axis=0), CULTIVAR.repeat(times), None, None)
    weighed = GivenRows(WINE, CULTIVAR, times.astype(float), None)
    one, other = (ridge_points(RobustLogisticRegression(), r)[6] for r in (again, weighed))
    assert np.array_equal(one.coef_, other.coef_)


def test_classes_have_their_weights():
    model = RobustLogisticRegression(class_weight={0: 1.0, 1: 5.0, 2: 2.0})
    found = ridge_points(model, GivenRows(WINE, CULTIVAR, None, None))[3]
    weight = np.array([1.0, 5.0, 2.0])[CULTIVAR]
    plain = LogisticRegression(C=STRENGTHS[3], max_iter=MAX_ITER).fit(
        WINE, CULTIVAR, sample_weight=TOTAL_WEIGHT * weight / weight.sum()
    )
    assert found.coef_ == pytest.approx(plain.coef_, abs=1e-3)


def test_there_are_none_where_a_class_has_no_weight():
    rows = GivenRows(WINE, CULTIVAR, (CULTIVAR > 0).astype(float), None)
    assert ridge_points(RobustLogisticRegression(), rows) == [None] * len(STRENGTHS)
