"""Mini-batches: near the optimum without tuning, deterministic, in bounded memory."""

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import WassersteinBall
from wdrsvm.problem import LOSSES, NORMS
from wdrsvm.solvers import SolverSettings, SolverStatus, Start, solve
from wdrsvm.solvers.subgradient.stochastic import StochasticSettings, stochastic

from ...agreement.instances import random_problem
from .cases import BALL, X, problem_of, y


class TestSolver:
    @pytest.mark.parametrize("norm", NORMS)
    @pytest.mark.parametrize(("radius", "label_cost"), [(0.05, 2.0), (0.01, np.inf)])
    def test_near_the_optimum(self, norm, radius, label_cost):
        problem = problem_of(X, y, WassersteinBall(radius, label_cost, norm))
        optimum = solve(problem, settings=SolverSettings(tol=1e-4)).certificate
        found = stochastic(problem, SolverSettings()).certificate
        assert found.objective <= 1.02 * optimum.objective
        assert found.objective >= optimum.dual_bound - 1e-12
        assert found.dual_bound <= optimum.objective + 1e-12

    @pytest.mark.parametrize("seed", range(12))
    def test_bounds_hold_on_odd_problems(self, seed):
        problem = random_problem(seed)
        optimum = solve(problem, "interior-point", SolverSettings(tol=1e-7)).certificate
        found = stochastic(problem, SolverSettings(max_iter=10)).certificate
        assert found.dual_bound <= optimum.objective + 1e-9
        assert found.objective >= optimum.dual_bound - 1e-9

    def test_it_stops_when_held_out_rows_say_so(self):
        result = stochastic(problem_of(X, y, BALL), StochasticSettings(patience=2))
        assert result.status is SolverStatus.STALLED
        assert 2 < result.n_iter < 100
        assert len(result.history) == result.n_iter + 1

    def test_the_limit_of_epochs(self):
        result = stochastic(problem_of(X, y, BALL), SolverSettings(max_iter=2))
        assert result.status is SolverStatus.MAX_ITER
        assert result.n_iter == 2

    def test_deterministic_by_seed(self):
        problem = problem_of(X, y, BALL)
        first, second, other = (
            stochastic(problem, SolverSettings(max_iter=2, seed=seed)) for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(first.coef, second.coef)
        assert not np.array_equal(first.coef, other.coef)

    def test_sparse_rows(self):
        settings = SolverSettings(max_iter=2)
        dense = stochastic(problem_of(X, y, BALL), settings)
        thin = stochastic(problem_of(sparse.csr_array(X), y, BALL), settings)
        np.testing.assert_allclose(thin.coef, dense.coef, rtol=1e-9, atol=1e-12)

    def test_a_start_is_used(self):
        problem = problem_of(X, y, BALL)
        exact = solve(problem, settings=SolverSettings(tol=1e-4))
        start = Start(exact.coef, exact.intercept, exact.certificate.lam)
        result = stochastic(problem, SolverSettings(max_iter=1), start)
        assert result.certificate.objective <= 1.02 * exact.certificate.objective

    def test_other_losses_are_refused(self):
        with pytest.raises(ValueError, match="use one of 'auto', 'newton', 'first-order'"):
            solve(problem_of(X, y, BALL, loss=LOSSES["logistic"]), "stochastic")

    @pytest.mark.parametrize(
        ("argument", "match"),
        [
            ({"batch_size": 0}, "batch_size must be >= 1"),
            ({"validation_share": 1.0}, "validation_share must be >= 0 and < 1"),
        ],
    )
    def test_wrong_settings_are_refused(self, argument, match):
        with pytest.raises(ValueError, match=match):
            StochasticSettings(**argument)
