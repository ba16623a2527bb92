"""One look at the rows: value and slopes."""

import numpy as np
import pytest

from wdrsvm.solvers.subgradient.active_pieces import ActiveRows, ParameterVector
from wdrsvm.solvers.subgradient.kernels import count_pieces

from ...agreement.instances import random_problem
from .cases import SEEDS, clusters


def random_point(problem, seed):
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(problem.n_classes, problem.n_features))
    intercept = rng.normal(size=problem.n_classes) * problem.fit_intercept
    return ParameterVector(coef, intercept, problem.modulus(coef) + rng.random())


@pytest.mark.tiny
def test_multipliers_count_how_often_a_piece_was_active():
    """Row 0 keeps its label and loses to class 1; row 1 is flipped to 2, where 0 wins."""
    pieces, y = np.array([[0, 1], [2, 0]]), np.array([0, 1])
    counts = np.zeros((3, 2, 3))
    count_pieces(pieces, y, 0.5, counts)
    count_pieces(pieces, y, 0.25, counts)
    expected = np.zeros((3, 2, 3))
    expected[0, 0, 1] = expected[1, 1, 2] = expected[2, 1, 0] = 0.75
    np.testing.assert_array_equal(counts, expected)


class TestOneLook:
    @pytest.mark.tiny
    @pytest.mark.parametrize("seed", SEEDS)
    def test_the_subgradient_is_the_problems(self, seed):
        problem = random_problem(seed, radius=0.1)
        point = random_point(problem, seed)
        slope = ActiveRows(problem).look(point).slope
        expected = problem.subgradient(*point)
        np.testing.assert_allclose(slope.coef, expected.coef, atol=1e-12)
        assert slope.lam == pytest.approx(expected.lam)
        if problem.fit_intercept:
            np.testing.assert_allclose(slope.intercept, expected.intercept, atol=1e-12)

    @pytest.mark.parametrize("seed", SEEDS)
    def test_finite_differences(self, seed):
        problem = random_problem(seed, radius=0.1)
        point = random_point(problem, seed)
        rows, step = ActiveRows(problem), 1e-7
        slope = rows.look(point).slope
        rng = np.random.default_rng(seed + 100)
        toward = ParameterVector(
            rng.normal(size=point.coef.shape),
            rng.normal(size=point.intercept.shape) * problem.fit_intercept,
            float(rng.normal()),
        )
        ahead, behind = (rows.look(point.plus(s, toward)).value for s in (step, -step))
        along = np.vdot(slope.coef, toward.coef) + slope.intercept @ toward.intercept
        along += slope.lam * toward.lam
        assert (ahead - behind) / (2 * step) == pytest.approx(along, rel=1e-4, abs=1e-5)

    @pytest.mark.parametrize("seed", SEEDS)
    def test_the_value_is_at_least_the_risk(self, seed):
        problem = random_problem(seed, radius=0.1)
        point = random_point(problem, seed)
        risk = problem.risk(point.coef, point.intercept)
        assert ActiveRows(problem).look(point).value >= risk.value - 1e-12
        best = ActiveRows(problem).look(point._replace(lam=risk.lam))
        assert best.value == pytest.approx(risk.value)

    def test_flips_lower_the_slope_in_lam(self):
        """The sign that the paper misprints: buying a flip costs kappa."""
        problem = clusters(label_cost=0.5)
        free = ActiveRows(problem).look(ParameterVector(np.eye(3, 4), np.zeros(3), 0.0))
        dear = ActiveRows(problem).look(ParameterVector(np.eye(3, 4), np.zeros(3), 1e3))
        assert free.slope.lam < 0
        assert dear.slope.lam == problem.radius
