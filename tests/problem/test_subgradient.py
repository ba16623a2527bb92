"""Subgradients of the objective: slopes off the kinks, supports everywhere."""

from itertools import permutations, product

import numpy as np
import pytest

from ..agreement.instances import random_problem
from .cases import SEEDS, classifier_for, costs_by_hand, value_by_hand


def random_points(problem, n_points):
    for seed in range(n_points):
        coef, intercept = classifier_for(problem, seed)
        yield coef, intercept, abs(np.random.default_rng(seed).normal())


@pytest.mark.parametrize("seed", SEEDS)
def test_subgradient_is_the_slope_off_the_kinks(seed):
    problem = random_problem(seed)
    rng = np.random.default_rng(seed)
    for coef, intercept, lam in random_points(problem, 3):
        found = problem.subgradient(coef, intercept, lam)
        d_coef, d_intercept = rng.normal(size=coef.shape), rng.normal(size=len(intercept))
        d_lam, h = rng.normal(), 1e-7
        ends = [
            value_by_hand(
                problem, coef + t * d_coef, intercept + t * d_intercept, lam + t * d_lam
            )
            for t in (-h, h)
        ]
        slope = np.vdot(found.coef, d_coef) + found.intercept @ d_intercept
        slope += found.lam * d_lam
        assert (ends[1] - ends[0]) / (2 * h) == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_subgradient_supports_the_objective(seed):
    problem = random_problem(seed)
    points = list(random_points(problem, 4))
    zero = (np.zeros_like(points[0][0]), np.zeros(problem.n_classes), 0.0)
    for here, there in permutations([zero, *points], 2):
        found = problem.subgradient(*here)
        rise = np.vdot(found.coef, there[0] - here[0])
        rise += found.intercept @ (there[1] - here[1]) + found.lam * (there[2] - here[2])
        before, after = (value_by_hand(problem, *point) for point in (here, there))
        assert after >= before + rise - 1e-9 * (1 + abs(before) + abs(after))


@pytest.mark.parametrize("seed", [3, 6, 8, 12])
def test_a_subgradient_is_that_of_the_worst_piece_of_every_row(seed):
    """Label and winner of each row by looking at all of them; an impossible flip is
    impossible at no price too."""
    for lam in (0.0, 0.6):
        problem = random_problem(seed)
        coef, intercept = classifier_for(problem, seed)
        found = problem.subgradient(coef, intercept, lam)
        d_coef, d_intercept = np.zeros_like(coef), np.zeros_like(intercept)
        d_lam = problem.radius
        scores, cost = problem.X @ coef.T + intercept, costs_by_hand(problem)
        each = np.arange(problem.n_classes)
        for n in range(problem.n_rows):
            pieces = {
                (j, c): scores[n, j] - scores[n, c] + (j != c) - lam * cost[n, c]
                for j, c in product(each, each)
                if np.isfinite(cost[n, c])
            }
            j, c = max(pieces, key=pieces.get)
            if pieces[j, c] <= 0:
                continue
            slope = problem.weight[n] * (np.eye(len(each))[j] - np.eye(len(each))[c])
            d_coef += np.outer(slope, problem.X[n])
            d_intercept += slope
            d_lam -= problem.weight[n] * cost[n, c]
        np.testing.assert_allclose(found.coef, d_coef, atol=1e-12)
        np.testing.assert_allclose(found.intercept, d_intercept, atol=1e-12)
        assert found.lam == pytest.approx(d_lam)
