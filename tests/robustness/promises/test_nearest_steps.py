"""Cheapest steps in a box against general-purpose programs."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from wdrsvm.robustness.promises.nearest_steps import NEAREST_STEPS

ORDER = {"l1": 1, "l2": 2, "linf": np.inf}


def step_case(seed):
    rng = np.random.default_rng(seed)
    n_features = int(rng.integers(1, 6))
    steepness, cost = rng.exponential(size=(2, n_features)) + 0.05
    reach = rng.exponential(size=(4, n_features))
    reach[rng.random(reach.shape) < 0.2] = np.inf
    reach[rng.random(reach.shape) < 0.2] = 0.0
    most = np.where(np.isfinite(reach), reach, 3.0) @ steepness
    return steepness, reach, cost, most * rng.random(4) * 0.98


def least_cost(norm, steepness, reach, cost, gap):
    """By a linear program, or a smooth one from several starts."""
    n = len(steepness)
    if norm == "l1":
        bounds = list(zip(np.zeros(n), reach, strict=True))
        return linprog(cost, -steepness[None], [-gap], bounds=bounds).fun
    if norm == "linf":
        above = np.hstack([np.diag(cost), -np.ones((n, 1))])
        enough = np.append(-steepness, 0.0)
        bounds = [*zip(np.zeros(n), reach, strict=True), (0, None)]
        table = np.vstack([above, enough])
        return linprog(np.eye(n + 1)[-1], table, [*np.zeros(n), -gap], bounds=bounds).fun
    solved = minimize(
        lambda t: ((cost * t) ** 2).sum(),
        np.minimum(reach, 1.0),
        jac=lambda t: 2 * cost**2 * t,
        bounds=list(zip(np.zeros(n), reach, strict=True)),
        constraints={"type": "ineq", "fun": lambda t: steepness @ t - gap},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return np.sqrt(solved.fun)


@pytest.mark.parametrize("norm", NEAREST_STEPS)
@pytest.mark.parametrize("seed", range(40))
def test_no_step_in_the_box_is_cheaper(norm, seed):
    steepness, reach, cost, gap = step_case(seed)
    steps = NEAREST_STEPS[norm](steepness, reach, cost, gap)
    assert ((steps >= 0) & (steps <= reach)).all()
    np.testing.assert_allclose(steps @ steepness, gap, rtol=1e-12, atol=1e-12)
    found = np.linalg.norm(steps * cost, ORDER[norm], axis=1)
    expected = [
        least_cost(norm, steepness, r, cost, g) for r, g in zip(reach, gap, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("norm", NEAREST_STEPS)
def test_a_row_that_cannot_go_so_far_goes_as_far_as_it_can(norm):
    reach = np.array([[1.0, 2.0], [0.0, 0.0], [1.0, np.inf]])
    steps = NEAREST_STEPS[norm](np.array([1.0, 3.0]), reach, np.ones(2), np.full(3, 50.0))
    np.testing.assert_allclose(steps[:2], reach[:2])
    assert steps[2] @ [1.0, 3.0] == pytest.approx(50.0)


@pytest.mark.parametrize("norm", NEAREST_STEPS)
def test_nothing_to_gain_needs_no_step(norm):
    steps = NEAREST_STEPS[norm](np.ones(3), np.ones((1, 3)), np.ones(3), np.zeros(1))
    assert not steps.any()
