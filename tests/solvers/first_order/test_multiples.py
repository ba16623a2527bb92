"""The best multiple of a classifier, against values on a fine grid."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from wdrsvm.problem import RobustProblem, WassersteinBall
from wdrsvm.solvers import SolverSettings
from wdrsvm.solvers.first_order.loop import first_order
from wdrsvm.solvers.first_order.multiples import best_multiple
from wdrsvm.solvers.first_order.state import Ascent

pytestmark = pytest.mark.tiny


def value(factor, loss, weight, cost):
    return factor * cost + weight @ np.where(
        loss > 0, np.maximum(0, 1 - factor * (1 - loss)), 0
    )


@pytest.mark.parametrize("seed", range(20))
def test_no_multiple_on_a_grid_is_better(seed):
    rng = np.random.default_rng(seed)
    loss = np.maximum(rng.normal(0.2 if seed % 2 else -0.3, 0.6, 40), 0)
    weight, cost = rng.random(40) / 40, 0.2 * rng.random()
    factor, gain = best_multiple(loss, weight, cost)
    terms = loss, weight, cost
    assert_allclose(value(1.0, *terms) - gain, value(factor, *terms), atol=1e-12)
    grid = [value(s, *terms) for s in np.linspace(1, 15, 1501)]
    assert value(factor, *terms) <= min(grid) + 1e-12


@pytest.mark.parametrize("loss", [[0.0, 0.0], [1.5, 1.0], [0.0, 2.0]])
def test_without_a_gain_a_classifier_stays(loss):
    assert best_multiple(np.array(loss), np.array([0.5, 0.5]), 0.1) == (1.0, 0.0)


def test_a_multiple_ends_a_separable_fit_early(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 6
    X = 3 * np.eye(6)[y] + 0.3 * rng.standard_normal((60, 6))
    ball = WassersteinBall(1e-3)
    problem = RobustProblem.of(X, y, np.full(60, 1 / 60), ball, 6)
    settings = SolverSettings(tol=1e-3)
    found = first_order(problem, settings)
    risk = problem.risk(found.coef, found.intercept)
    assert risk.value == found.certificate.objective
    monkeypatch.setattr(
        "wdrsvm.solvers.first_order.state.best_multiple", lambda *_: (1.0, 0.0)
    )
    assert found.n_iter < first_order(problem, settings).n_iter


def test_the_risk_of_a_multiple_is_computed_anew(monkeypatch):
    promises = []
    confirm = Ascent.confirm

    def noted(self, best):
        if best.coef is self.promised:
            promises.append(best.objective)
        confirm(self, best)

    monkeypatch.setattr(Ascent, "confirm", noted)
    # Rows on which the best point is a multiple.
    rng = np.random.default_rng(1)
    y = np.arange(200) % 8
    X = rng.standard_normal((8, 40))[y] + 0.7 * rng.standard_normal((200, 40))
    ball, weight = WassersteinBall(0.05), np.full(200, 1 / 200)
    problem = RobustProblem.of(X, y, weight, ball, 8)
    found = first_order(problem, SolverSettings(tol=5e-3))
    risk = problem.risk(found.coef, found.intercept)
    assert found.certificate[::2] == risk
    assert promises[-1] == pytest.approx(risk.value, rel=1e-12)
