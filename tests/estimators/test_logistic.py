"""RobustLogisticRegression: a scikit-learn citizen, probabilities, limits of the ball."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from wdrsvm import (
    RobustLinearSVC,
    RobustLogisticRegression,
    WassersteinBall,
    worst_case_risk,
)

X, y = load_iris(return_X_y=True)
X = scale(X)
NOISY_X, NOISY_Y = make_classification(
    300, 5, n_informative=4, n_redundant=0, n_classes=3, flip_y=0.2, random_state=0
)


@parametrize_with_checks(
    [RobustLogisticRegression(), RobustLogisticRegression(label_cost=2.0, norm="l1")]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_signature_is_the_contract():
    parameters = inspect.signature(RobustLogisticRegression).parameters
    expected = {
        "radius": 0.05,
        "label_cost": np.inf,
        "norm": "l2",
        "label_noise": "adversarial",
        "disbelief": "trim",
        "max_disbelief": 0.4,
        "feature_cost": None,
        "support": None,
        "categorical": None,
        "fit_intercept": True,
        "class_weight": None,
        "solver": "auto",
        "tol": 1e-6,
        "max_iter": None,
        "warm_start": False,
        "random_state": None,
        "verbose": 0,
    }
    assert {name: p.default for name, p in parameters.items()} == expected


@pytest.mark.parametrize("rows", [slice(None), slice(0, 100)], ids=["three", "two classes"])
def test_probabilities_sum_to_one_and_follow_the_scores(rows):
    classifier = RobustLogisticRegression(0.02).fit(X[rows], y[rows])
    proba = classifier.predict_proba(X)
    assert proba.shape == (len(X), len(classifier.classes_))
    assert (proba > 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(np.log(proba), classifier.predict_log_proba(X), atol=1e-12)
    labels = classifier.classes_[proba.argmax(axis=1)]
    np.testing.assert_array_equal(labels, classifier.predict(X))


def test_the_score_of_two_classes_is_the_log_odds():
    classifier = RobustLogisticRegression(0.02).fit(X[:100], y[:100])
    log_odds = np.diff(classifier.predict_log_proba(X), axis=1)[:, 0]
    np.testing.assert_allclose(log_odds, classifier.decision_function(X), atol=1e-12)
    loss = log_loss(y[:100], classifier.predict_proba(X[:100]))
    steepest = np.linalg.norm(classifier.coef_)
    assert classifier.objective_ == pytest.approx(loss + 0.02 * steepest, rel=1e-9)


def test_log_loss_is_finite_on_separable_data():
    rows = y != 1
    classifier = RobustLogisticRegression(1e-4).fit(X[rows], y[rows])
    assert classifier.score(X[rows], y[rows]) == 1.0
    assert log_loss(y[rows], classifier.predict_proba(X[rows])) < 0.05
    assert np.isfinite(classifier.predict_log_proba(1e3 * X)).all()


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_with_trusted_labels_it_is_the_regularised_problem(norm):
    """The multiplier drops out: objective = log-loss + radius * largest distance."""
    classifier = RobustLogisticRegression(0.1, norm=norm).fit(NOISY_X, NOISY_Y)
    loss = log_loss(NOISY_Y, classifier.predict_proba(NOISY_X))
    dual = {"l1": np.inf, "l2": 2, "linf": 1}[norm]
    gaps = classifier.coef_[:, None] - classifier.coef_[None]
    distance = np.linalg.norm(gaps, dual, axis=2).max()
    assert classifier.lambda_ == pytest.approx(distance)
    assert classifier.objective_ == pytest.approx(loss + 0.1 * distance, rel=1e-9)
    assert classifier.duality_gap_ <= 1e-6 * max(classifier.objective_, 1e-2)


def test_without_an_adversary_it_is_plain_logistic_regression():
    plain = LogisticRegression(C=np.inf, tol=1e-10, max_iter=5000).fit(NOISY_X, NOISY_Y)
    expected = log_loss(NOISY_Y, plain.predict_proba(NOISY_X))
    errors = []
    for radius in (1e-2, 1e-4, 0.0):
        robust = RobustLogisticRegression(radius, tol=1e-8).fit(NOISY_X, NOISY_Y)
        errors.append(
            np.abs(robust.predict_proba(NOISY_X) - plain.predict_proba(NOISY_X)).max()
        )
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-4
    assert robust.objective_ == pytest.approx(expected, abs=1e-7)


def test_risk_grows_with_the_radius_and_falls_with_the_label_cost():
    def objective(radius, cost):
        return RobustLogisticRegression(radius, cost).fit(NOISY_X, NOISY_Y).objective_

    radii = [objective(radius, 2.0) for radius in (0.0, 0.01, 0.1)]
    assert radii == sorted(radii)
    costs = [objective(0.05, cost) for cost in (0.5, 2.0, np.inf)]
    assert costs == sorted(costs, reverse=True)


@pytest.mark.parametrize("label_cost", [1.0, np.inf])
def test_its_objective_is_the_worst_case_log_loss(label_cost):
    classifier = RobustLogisticRegression(0.05, label_cost).fit(NOISY_X, NOISY_Y)
    assert classifier.worst_case_risk(NOISY_X, NOISY_Y) == pytest.approx(
        classifier.objective_
    )
    ball = WassersteinBall(0.05, label_cost)
    risk = worst_case_risk(classifier, NOISY_X, NOISY_Y, ball, loss="logistic")
    assert risk == pytest.approx(classifier.objective_)


def test_no_other_classifier_has_a_lower_worst_case_log_loss():
    ball = WassersteinBall(0.05, 1.0)
    best = RobustLogisticRegression(0.05, 1.0).fit(NOISY_X, NOISY_Y)
    rivals = [
        LogisticRegression(C=0.1).fit(NOISY_X, NOISY_Y),
        RobustLinearSVC(0.05, 1.0).fit(NOISY_X, NOISY_Y),
    ]
    for rival in rivals:
        risk = worst_case_risk(rival, NOISY_X, NOISY_Y, ball, loss="logistic")
        assert risk > best.dual_bound_


def test_sparse_and_dense_features_give_the_same_model():
    dense = RobustLogisticRegression(0.05).fit(NOISY_X, NOISY_Y)
    thin = RobustLogisticRegression(0.05).fit(sparse.csr_array(NOISY_X), NOISY_Y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-7)
    np.testing.assert_allclose(thin.predict_proba(NOISY_X), dense.predict_proba(NOISY_X))


def test_first_order_agrees_with_newton():
    newton = RobustLogisticRegression(0.05, 2.0, solver="newton").fit(X, y)
    other = RobustLogisticRegression(0.05, 2.0, solver="first-order", tol=1e-5).fit(X, y)
    assert (newton.solver_, other.solver_) == ("newton", "first-order")
    assert other.objective_ == pytest.approx(newton.objective_, rel=2e-5)


def test_a_solver_for_kinks_is_refused():
    with pytest.raises(ValueError, match="use one of 'auto', 'newton', 'first-order'"):
        RobustLogisticRegression(solver="interior-point").fit(X, y)


def test_streams_come_close_to_the_fit():
    stream = RobustLogisticRegression(0.05, random_state=0)
    for _ in range(40):
        stream.partial_fit(NOISY_X, NOISY_Y, classes=np.unique(NOISY_Y))
    fit = RobustLogisticRegression(0.05).fit(NOISY_X, NOISY_Y)
    assert fit.objective_ <= stream.objective_ <= 1.02 * fit.objective_


def test_pickling_and_warm_starts_keep_the_model():
    classifier = RobustLogisticRegression(0.05, warm_start=True).fit(X, y)
    copy = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(copy.predict_proba(X), classifier.predict_proba(X))
    before = classifier.objective_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier.fit(X, y)
    assert classifier.objective_ == pytest.approx(before, rel=2e-6)
