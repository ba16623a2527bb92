"""RobustLinearSVC(smoothing=...): between the paper's loss and the logistic one."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from wdrsvm import RobustLinearSVC

X, y = load_iris(return_X_y=True)
X = scale(X)


@parametrize_with_checks([RobustLinearSVC(smoothing=0.1)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("label_cost", [2.0, np.inf])
def test_objective_falls_to_that_of_the_plain_loss(label_cost):
    """The softened maximum is at most smoothing * log(n_classes) too large."""
    plain = RobustLinearSVC(0.02, label_cost).fit(X, y).objective_
    found = [
        RobustLinearSVC(0.02, label_cost, smoothing=smoothing).fit(X, y).objective_
        for smoothing in (0.3, 0.1, 0.01, 1e-3)
    ]
    assert found == sorted(found, reverse=True)
    for objective, smoothing in zip(found, (0.3, 0.1, 0.01, 1e-3), strict=True):
        assert plain - 1e-6 <= objective <= plain + smoothing * np.log(3) + 1e-6


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_with_trusted_labels_it_is_the_regularised_problem(norm, smoothing):
    """The multiplier drops out: objective = mean loss + radius * largest distance."""
    fitted = RobustLinearSVC(0.05, np.inf, norm=norm, smoothing=smoothing).fit(X, y)
    losses = fitted._loss().of_labels(fitted.decision_function(X))
    dual = {"l1": np.inf, "l2": 2, "linf": 1}[norm]
    gaps = fitted.coef_[:, None] - fitted.coef_[None]
    distance = np.linalg.norm(gaps, dual, axis=2).max()
    mean = losses[np.arange(len(y)), y].mean()
    assert fitted.objective_ == pytest.approx(mean + 0.05 * distance, rel=1e-9)
    dear = RobustLinearSVC(0.05, 1e4, norm=norm, smoothing=smoothing).fit(X, y)
    assert dear.objective_ == pytest.approx(fitted.objective_, rel=2e-6)


def test_objective_is_its_own_worst_case_risk():
    fitted = RobustLinearSVC(0.02, 2.0, smoothing=0.2).fit(X, y)
    assert fitted.worst_case_risk(X, y) == pytest.approx(fitted.objective_)
    assert fitted.solver_ == "newton"


def test_smoothing_ranks_classes_where_the_plain_loss_gives_up():
    """Where no class has half of the probability the plain optimum is constant."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 3000)
    chance = np.column_stack([0.36 + 0.1 * x, 0.34 - 0 * x, 0.30 - 0.1 * x])
    labels = (rng.random(3000)[:, None] > chance.cumsum(axis=1)).sum(axis=1)
    smooth = RobustLinearSVC(1e-3, np.inf, smoothing=1.0).fit(x[:, None], labels)
    assert smooth.coef_[0, 0] - smooth.coef_[2, 0] > 0.1
    assert smooth.objective_ < smooth._loss().of_equal_scores(3) - 1e-3


def test_a_stream_follows_the_smooth_loss():
    stream = RobustLinearSVC(0.02, 2.0, smoothing=0.2, random_state=0)
    for _ in range(60):
        stream.partial_fit(X, y, classes=[0, 1, 2])
    fit = RobustLinearSVC(0.02, 2.0, smoothing=0.2).fit(X, y)
    assert fit.dual_bound_ <= stream.objective_ <= 1.2 * fit.objective_
