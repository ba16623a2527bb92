"""The standard model is the robust logistic regression on standardised features."""

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import WassersteinBall, radius_max
from wdrsvm.problem import LOSSES, RobustProblem
from wdrsvm.robustness.labels import default_classifier as standard_model
from wdrsvm.robustness.labels.default_classifier import StandardModel, largest_radius
from wdrsvm.solvers import SolverResult, SolverStatus

rng = np.random.default_rng(0)
Y = np.arange(12) % 3
X = 10 * rng.normal(size=(12, 2)) + 5
WEIGHT = rng.uniform(0.5, 1.5, 12)
TRUST = rng.uniform(0.5, 1.5, 12)
COEF, INTERCEPT = rng.normal(size=(3, 2)), rng.normal(size=3)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("trust", [None, TRUST], ids=["", "trust"])
def test_the_problem_is_that_of_standardised_rows(monkeypatch, convert, trust):
    """Any scores have the risk they should, which only the right problem has."""
    asked = []

    def told(problem, **options):
        asked.append((problem, options))
        return SolverResult(COEF, INTERCEPT, None, None, SolverStatus.CONVERGED, 0, "told")

    monkeypatch.setattr(standard_model, "solve", told)
    given = () if trust is None else (trust,)
    model = StandardModel().fit(convert(X), Y, WEIGHT, *given)
    ((problem, options),) = asked
    mean = X.mean(axis=0) if convert is np.asarray else 0.0
    scaled = (X - mean) / X.std(axis=0)
    weight = WEIGHT / WEIGHT.sum()
    ball = WassersteinBall(0.0)
    plain = RobustProblem.of(scaled, Y, weight, ball, 3, loss=LOSSES["logistic"])
    expected = plain.with_radius(0.15 * largest_radius(plain))
    for factor in (0.0, 0.1, 1.0):
        scores = factor * COEF, factor * INTERCEPT
        risk = expected.risk(*scores).value
        assert problem.risk(*scores).value == pytest.approx(risk)
    assert options["settings"].tol == 1e-2
    decision = model.decision_function(convert(X))
    np.testing.assert_allclose(decision, scaled @ COEF.T + INTERCEPT)
    odds = np.exp(decision)
    expected = odds / odds.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(convert(X)), expected)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_largest_radius_needs_no_solver(n_classes):
    random = np.random.default_rng(n_classes)
    rows, y = random.normal(size=(60, 5)), np.arange(60) % n_classes
    rows[:, :2] += y[:, None]
    ball = WassersteinBall(0.0)
    weight = np.full(60, 1 / 60)
    problem = RobustProblem.of(rows, y, weight, ball, n_classes, loss=LOSSES["logistic"])
    slow = radius_max(rows, y, label_cost=np.inf, loss="logistic", tol=1e-7)
    assert largest_radius(problem) == pytest.approx(slow, rel=1e-2)


def test_classes_are_as_many_as_codes():
    model = StandardModel().fit(X, Y, WEIGHT)
    assert model.coef.shape == (3, 2)
    assert model.intercept.shape == (3,)
