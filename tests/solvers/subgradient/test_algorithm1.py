"""Algorithm 1: right slopes, honest bounds, and the optimum in the end."""

import numpy as np
import pytest

from wdrsvm.problem import LOSSES, NORMS, RobustProblem
from wdrsvm.solvers import SolverSettings, SolverStatus, Start, solve
from wdrsvm.solvers.subgradient.algorithm1 import (
    STEP_RULES,
    SubgradientSettings,
    subgradient,
)

from ...agreement.instances import random_problem
from .cases import SEEDS, clusters

# Steps that fall like 1/t come to rest early: the price of the paper's rule.
EXCESS = {"polyak": 0.01, "1/t": 0.05, "1/sqrt(t)": 0.02}


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("rule", STEP_RULES)
def test_every_rule_comes_near_the_optimum(rule, norm):
    problem = clusters(norm)
    optimum = solve(problem, "interior-point").certificate.objective
    result = subgradient(problem, SubgradientSettings(step_rule=rule))
    above = result.certificate.objective - optimum
    assert -1e-9 <= above <= EXCESS[rule] * optimum
    assert result.certificate.dual_bound <= optimum + 1e-9
    assert result.certificate.dual_bound >= 0.5 * optimum


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_hold_on_odd_problems(seed):
    problem = random_problem(seed)
    optimum = solve(problem, "interior-point", SolverSettings(tol=1e-7)).certificate
    found = subgradient(problem, SolverSettings(max_iter=60)).certificate
    assert found.dual_bound <= optimum.objective + 1e-9
    assert found.objective >= optimum.dual_bound - 1e-9


class TestSettings:
    def test_plain_settings_give_the_defaults(self):
        problem = clusters()
        plain = subgradient(problem, SolverSettings(max_iter=50))
        own = subgradient(problem, SubgradientSettings(max_iter=50))
        np.testing.assert_array_equal(plain.coef, own.coef)

    def test_the_papers_rule(self):
        """T iterations of sigma_0 / t from zero, as in the algorithm's box."""
        settings = SubgradientSettings(max_iter=20, step_rule="1/t", step0=2.0)
        first = subgradient(clusters(intercept=False), settings)
        assert first.n_iter == 20
        assert first.status is SolverStatus.MAX_ITER
        np.testing.assert_array_equal(first.intercept, 0.0)

    def test_without_a_certificate_there_is_no_bound(self):
        result = subgradient(clusters(), SubgradientSettings(max_iter=20, certify=False))
        assert result.certificate.dual_bound == -np.inf
        assert result.status is SolverStatus.MAX_ITER

    def test_a_loose_tolerance_ends_early(self):
        result = subgradient(clusters(), SubgradientSettings(tol=0.5))
        assert result.status is SolverStatus.CONVERGED
        assert result.n_iter < 2000

    def test_averaging_can_be_left_out(self):
        settings = SubgradientSettings(max_iter=50, average=False)
        assert subgradient(clusters(), settings).certificate.objective < 1.0

    def test_the_history_falls(self):
        seen = []
        settings = SubgradientSettings(max_iter=100, callback=seen.append)
        history = subgradient(clusters(), settings).history
        objectives = [record.objective for record in history]
        assert objectives == sorted(objectives, reverse=True)
        assert history[-1].n_iter == 100
        assert list(history) == seen

    def test_a_start_is_used(self):
        problem = clusters()
        exact = solve(problem, "interior-point")
        start = Start(exact.coef, exact.intercept, exact.certificate.lam)
        result = subgradient(problem, SolverSettings(max_iter=1), start)
        assert result.certificate.objective <= exact.certificate.objective * (1 + 1e-9)

    @pytest.mark.parametrize(
        ("argument", "match"),
        [
            ({"step_rule": "2/t"}, "step_rule must be one of 'polyak', '1/t'"),
            ({"step0": 0.0}, "step0 must be a finite number > 0"),
        ],
    )
    def test_wrong_settings_are_refused(self, argument, match):
        with pytest.raises(ValueError, match=match):
            SubgradientSettings(**argument)

    def test_other_losses_are_refused(self):
        problem = clusters()
        logistic = RobustProblem.of(
            problem.X, problem.y, problem.weight, problem.ball, 3, loss=LOSSES["logistic"]
        )
        with pytest.raises(ValueError, match="use one of 'auto', 'newton', 'first-order'"):
            solve(logistic, "subgradient")


def test_no_radius_is_plain_training():
    problem = clusters(radius=0.0)
    optimum = solve(problem, "interior-point").certificate.objective
    assert subgradient(problem, SolverSettings()).certificate.objective <= 1.02 * optimum
