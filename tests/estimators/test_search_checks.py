"""The cross-validated estimators are scikit-learn's, without exceptions."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from wdrsvm import (
    RobustLinearSVCCV,
    RobustLogisticRegression,
    RobustLogisticRegressionCV,
    RobustOneVsRestSVC,
    RobustSVC,
    RobustSVCCV,
)

SMALL = {"radii": [0.001, 0.01], "label_costs": (2.0,), "cv": 2}


SEARCHES = (RobustLinearSVCCV, RobustLogisticRegressionCV, RobustSVCCV)


@parametrize_with_checks([search(**SMALL) for search in SEARCHES])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([search() for search in SEARCHES])
def test_scikit_learn_checks_of_the_default_searches(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([RobustLogisticRegression(), RobustSVC(), RobustOneVsRestSVC()])
def test_scikit_learn_checks_of_the_defaults(estimator, check):
    check(estimator)
