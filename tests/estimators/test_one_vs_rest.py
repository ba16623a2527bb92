"""RobustOneVsRestSVC is its binary machines side by side."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from wdrsvm import RobustLinearSVC, RobustOneVsRestSVC, RobustSVC, worst_case_risk

from .cases import IRIS, SPECIES

X, y = load_iris(return_X_y=True)
X = scale(X)


@parametrize_with_checks([RobustOneVsRestSVC(), RobustOneVsRestSVC(kernel="rbf")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("label_cost", [2.0, np.inf])
def test_linear_machines_are_separate_binary_fits(norm, label_cost):
    shape = {"norm": norm, "feature_cost": [1.0, 2.0, 0.5, np.inf]}
    weight = np.random.default_rng(0).exponential(size=len(y))
    machines = RobustOneVsRestSVC(0.02, label_cost, **shape).fit(X, y, weight)
    for code in range(3):
        alone = RobustLinearSVC(0.02, label_cost, **shape).fit(X, y == code, weight)
        assert_allclose(machines.coef_[code], alone.coef_[0])
        assert_allclose(machines.intercept_[code], alone.intercept_[0])
        assert machines.objective_[code] == alone.objective_
        assert_allclose(machines.decision_function(X)[:, code], alone.decision_function(X))


def test_kernel_machines_are_separate_binary_fits():
    machines = RobustOneVsRestSVC(0.02, kernel="rbf", gamma=0.3).fit(X, y)
    for code in range(3):
        alone = RobustSVC(0.02, kernel="rbf", gamma=0.3).fit(X, y == code)
        assert_allclose(machines.decision_function(X)[:, code], alone.decision_function(X))
    assert not hasattr(machines, "coef_")
    gram = rbf_kernel(X, gamma=0.3)
    given = RobustOneVsRestSVC(0.02, kernel="precomputed").fit(gram, y)
    assert_allclose(given.decision_function(gram), machines.decision_function(X), atol=1e-4)


def test_the_largest_score_decides():
    machines = RobustOneVsRestSVC(0.02).fit(X, np.array(["a", "b", "c"])[y])
    largest = machines.decision_function(X).argmax(axis=1)
    assert (machines.predict(X) == np.array(["a", "b", "c"])[largest]).all()


def test_two_classes_need_one_machine():
    rows = y > 0
    machine = RobustOneVsRestSVC(0.02).fit(X[rows], y[rows])
    alone = RobustLinearSVC(0.02).fit(X[rows], y[rows])
    assert machine.coef_.shape == (1, 4)
    assert_allclose(machine.coef_, alone.coef_)
    assert (machine.predict(X) == alone.predict(X)).all()


@pytest.mark.parametrize("label_cost", [0.7, np.inf])
def test_two_scores_are_one_hinge_with_the_same_radius_and_label_cost(label_cost):
    """w = M_1 - M_0 turns the Crammer-Singer problem of two classes into that of hinges."""
    rows = y > 0
    fitted = RobustLinearSVC(0.05, label_cost).fit(X[rows], y[rows])
    sign = np.where(y[rows] == fitted.classes_[1], 1.0, -1.0)
    scores = sign * fitted.decision_function(X[rows])
    steepest = np.linalg.norm(fitted.coef_[0])
    kept = np.maximum(1 - scores, 0.0)
    turned = np.maximum(1 + scores, 0.0)

    def risk(lam):
        flips = turned - lam * label_cost if label_cost < np.inf else -np.inf
        return 0.05 * lam + np.maximum(kept, flips).mean()

    least = min(risk(lam) for lam in steepest + np.r_[0.0, np.linspace(0, 20, 20001)])
    assert fitted.objective_ == pytest.approx(least, abs=1e-4)
    assert fitted.lambda_ >= steepest - 1e-12


def test_class_weights_are_those_of_the_classes_not_of_the_machines():
    factors = {0: 1.0, 1: 2.0, 2: 3.0}
    weighted = RobustOneVsRestSVC(0.02, class_weight=factors).fit(X, y)
    expected = RobustOneVsRestSVC(0.02).fit(X, y, np.array([1.0, 2.0, 3.0])[y])
    assert_allclose(weighted.coef_, expected.coef_)


def test_threads_change_nothing():
    one = RobustOneVsRestSVC(0.02).fit(X, y)
    two = RobustOneVsRestSVC(0.02, n_jobs=2).fit(sparse.csr_array(X), y)
    assert_allclose(two.coef_, one.coef_, atol=1e-7)


def test_worst_case_risk_is_that_of_the_joint_decision():
    machines = RobustOneVsRestSVC(0.02, 2.0).fit(X, y)
    ball = machines.estimators_[0]._ball()
    assert machines.worst_case_risk(X, y) == worst_case_risk(machines, X, y, ball)
    joint = RobustLinearSVC(0.02, 2.0).fit(X, y)
    assert machines.worst_case_risk(X, y) > joint.dual_bound_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"label_cost": np.zeros((3, 3))}, "label_cost must be a number"),
        ({"kernel": "rbf", "norm": "l1"}, "norm must be 'l2'"),
        ({"kernel": "rbf", "feature_cost": [1.0] * 4}, "categorical None"),
        ({"kernel": "cubic"}, "kernel must be"),
        ({"radius": -1.0}, "radius must be"),
    ],
)
def test_what_has_no_meaning_is_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        RobustOneVsRestSVC(**parameters).fit(X, y)


def test_coefficients_of_a_linear_fit_are_gone_after_one_with_a_kernel():
    model = RobustOneVsRestSVC(tol=1e-3).fit(IRIS, SPECIES)
    assert model.coef_.shape == (3, 4)
    model.set_params(kernel="rbf").fit(IRIS, SPECIES)
    assert not hasattr(model, "coef_")
