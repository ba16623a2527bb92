"""The cross-validated estimators are scikit-learn's, without exceptions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from wdrsvm import RobustLinearSVCCV, RobustLogisticRegressionCV, RobustSVCCV

SMALL = {"radii": [0.001, 0.01], "label_costs": (2.0,), "cv": 2}


SEARCHES = (RobustLinearSVCCV, RobustLogisticRegressionCV, RobustSVCCV)


@parametrize_with_checks([search(**SMALL) for search in SEARCHES])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
