"""Smooth losses and one-vs-rest machines against Clarabel on programs of their own."""

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from wdrsvm import RadiusWarning, RobustOneVsRestSVC
from wdrsvm.problem import LOSSES, Loss, WassersteinBall
from wdrsvm.solvers import SolverStatus, solve

from .instances import describe, random_problem
from .loss_program import binary_hinge_optimum, optimum

N_INSTANCES, BATCH = 60, 10
BATCHES = range(N_INSTANCES // BATCH)
# Exponential cones of the judge's program, which it does not always solve.
MAX_CONES = 700
JUDGED = ("Solved", "AlmostSolved")
TOL = 1e-6
FAMILY = {"logistic": LOSSES["logistic"], "smoothed": Loss(temperature=0.1, margin=1.0)}


@cache
def judged_instances(name):
    """Problems with the optimum that the judge found, for sixty that it could solve."""
    found, seed = [], 0
    while len(found) < N_INSTANCES:
        problem = replace(random_problem(seed), loss=FAMILY[name])
        seed += 1
        if problem.n_rows * problem.n_classes**2 <= MAX_CONES and problem.radius > 0:
            value, status = optimum(problem)
            if status in JUDGED:
                found.append((problem, value))
    return found


@pytest.mark.parametrize("name", FAMILY)
def test_newton_finds_the_optimum(name):
    for problem, value in judged_instances(name):
        result = solve(problem, "newton")
        found = result.certificate
        told = describe(problem), value, found
        assert result.status is SolverStatus.CONVERGED, told
        assert found.objective == problem.risk(result.coef, result.intercept).value, told
        assert abs(found.objective - value) <= TOL * max(value, 1.0), told
        assert found.dual_bound <= value + TOL, told


@pytest.mark.parametrize("batch", BATCHES)
def test_one_vs_rest_is_one_hinge_problem_a_class(batch):
    for seed in range(BATCH * batch, BATCH * (batch + 1)):
        problem = random_problem(seed, radius=10 ** -(1 + seed % 3))
        rng = np.random.default_rng(seed)
        cost = float(rng.choice([0.3, 2.0, np.inf]))
        ball = WassersteinBall(
            problem.radius, cost, problem.ball.norm, problem.ball.feature_cost
        )
        machines = RobustOneVsRestSVC(
            ball.radius,
            cost,
            norm=ball.norm,
            feature_cost=ball.feature_cost,
            fit_intercept=problem.fit_intercept,
        )
        trust = problem.label_trust
        fit = {"sample_weight": problem.weight, "label_trust": trust}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RadiusWarning)
            machines.fit(problem.X, problem.y, **fit)
        price = np.full(problem.n_rows, cost)
        if trust is not None:
            price = np.where(np.isinf(trust) | np.isinf(cost), np.inf, trust * 1.0)
            price[price < np.inf] *= cost
        told_apart = [1] if problem.n_classes == 2 else range(problem.n_classes)
        for objective, code in zip(machines.objective_, told_apart, strict=True):
            signs = np.where(problem.y == code, 1.0, -1.0)
            data = problem.X, signs, problem.weight, ball, price, problem.fit_intercept
            value, status = binary_hinge_optimum(*data)
            assert status in JUDGED
            assert abs(objective - value) <= TOL * max(value, 1.0), describe(problem)
