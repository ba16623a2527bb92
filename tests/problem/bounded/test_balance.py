"""Plans that are balanced by masses where nothing moves, and by movement elsewhere."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import Loss, RobustProblem
from wdrsvm.problem.bounded.balance import LEAST_SIZE, Balance, _BalancedMasses
from wdrsvm.problem.bounded.certificate import bounded_dual_bound
from wdrsvm.problem.bounded.plan_sums import PairPlan

WINNER, LABEL = np.array([1, 0]), np.array([0, 1])


def nearly_balanced(spoilt):
    """One row of each class, which meet half-way, after ``spoilt`` more of the way, and in
    half of the switches."""
    X = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    groups, box = [([1, 2], 1.0)], (0.0, 1.0)
    ball = WassersteinBall(2.0, np.inf, "l1", support=box, categorical=groups)
    problem = RobustProblem.of(X, np.array([0, 1]), np.array([0.5, 0.5]), ball, 2)
    moved = np.zeros((2, 3))
    moved[:, 0] = 0.25 + spoilt, -0.25
    switched = np.zeros((2, 2, 2))
    switched[0, 0, 1], switched[1, 1, 0] = 0.25 + spoilt, 0.25
    return problem, PairPlan(WINNER, LABEL, 0.5 * np.eye(2), moved, [switched])


@pytest.mark.parametrize("spoilt", [0.0, 1e-10, 1e-3, 0.1])
def test_movement_and_switches_close_what_they_can(spoilt):
    """Each row has one mass only, so that no tilt of masses balances anything."""
    problem, plan = nearly_balanced(spoilt)
    settled = Balance(problem, plan).settled()
    assert settled.is_balanced
    np.testing.assert_allclose(settled._residual(settled.start), 0.0, atol=1e-14)
    assert settled.bound() == pytest.approx(1.0)
    assert bounded_dual_bound(problem, plan) == pytest.approx(1.0)


def test_a_plan_that_does_not_move_is_made_to_move():
    """Nothing of the plan moves, but there is room: the error is spread over it."""
    ball = WassersteinBall(2.0, np.inf, "l1", support=(-1.0, 2.0))
    X, weight = np.array([[0.0], [1.0]]), np.array([0.5, 0.5])
    problem = RobustProblem.of(X, np.array([0, 1]), weight, ball, 2)
    still = PairPlan(WINNER, LABEL, 0.5 * np.eye(2), np.zeros((2, 1)), [])
    balance = Balance(problem, still)
    assert not balance.is_balanced
    assert balance.rebalanced().bound() is None
    assert bounded_dual_bound(problem, still) == pytest.approx(1.0)


def test_errors_are_measured_by_the_size_of_their_terms():
    """By hand: 1e-3 is lacking in the first column, whose terms are in sum 0.02."""
    problem, plan = nearly_balanced(1e-3)
    balance = Balance(problem, plan)
    sizes = np.full((2, 4), 0.02)
    masses = _BalancedMasses(balance, balance.start, sizes)
    every = np.ones(4, dtype=bool)
    assert masses.miss(every) == pytest.approx(1e-3 / 0.02)
    tiny = _BalancedMasses(balance, balance.start, 1e-9 * sizes)
    assert tiny.miss(every) == pytest.approx(1e-3 / LEAST_SIZE)


def test_a_smooth_loss_adds_the_entropy_of_the_plan():
    """By hand: all mass is on the rivals, or a half of it, where the rest stays."""
    problem, plan = nearly_balanced(0.0)
    problem = replace(problem, loss=Loss(margin=1.0, temperature=0.25))
    for share, entropy in ((1.0, 0.0), (0.5, np.log(2))):
        balance = Balance(problem, plan._replace(mass=share * plan.mass))
        value = balance._value(balance.start, balance.totals(balance.start))
        assert value == pytest.approx(share + 0.25 * entropy)


def test_fixed_columns_are_balanced_by_masses():
    """The masses of a category that cannot be switched are equal after the tilt."""
    X = np.array([[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.3, 0.0, 1.0]])
    groups, box = [([1, 2], np.inf)], (0.0, 1.0)
    ball = WassersteinBall(2.0, np.inf, "l1", support=box, categorical=groups)
    problem = RobustProblem.of(X, np.array([0, 1, 1]), np.full(3, 1 / 3), ball, 2)
    mass = np.array([[0.3, 0.0, 0.0], [0.0, 0.31, 1e-9]])
    moved = np.array([[0.15, 0.0, 0.0], [-0.16, 0.0, 0.0]])
    settled = Balance(problem, PairPlan(WINNER, LABEL, mass, moved, [])).settled()
    found = settled.start.rows(problem, slice(0, 3))
    assert found[0, 0] == pytest.approx(found[1, 1], rel=1e-12)
    assert found[1, 2] == 0.0  # class 0 lacks the second category
    assert settled.bound() > 0.58
