"""The standard model is the robust linear classifier on standardised features."""

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.robustness.labels import default_classifier as standard_model
from wdrsvm.robustness.labels.default_classifier import StandardModel
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
    ball = WassersteinBall(0.05, 2.0)
    weight = WEIGHT / WEIGHT.sum()
    expected = RobustProblem.of(scaled, Y, weight, ball, 3, label_trust=trust)
    for factor in (0.0, 0.1, 1.0):
        scores = factor * COEF, factor * INTERCEPT
        assert problem.risk(*scores).value == pytest.approx(expected.risk(*scores).value)
    assert options["settings"].tol == 1e-4
    decision = model.decision_function(convert(X))
    np.testing.assert_allclose(decision, scaled @ COEF.T + INTERCEPT)


def test_classes_are_as_many_as_codes():
    model = StandardModel().fit(X, Y, WEIGHT)
    assert model.coef.shape == (3, 2)
    assert model.intercept.shape == (3,)
