"""Sums of an adversary's plan over rows."""

import numpy as np
import pytest
from scipy.special import entr

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.problem.bounded.plan_sums import PairPlan, entropy_of, system_of


def two_rows():
    ball = WassersteinBall(1.0, 1.0, "l1", support=(0.0, 1.0))
    X, weight = np.array([[0.0], [1.0]]), np.array([0.5, 0.5])
    return RobustProblem.of(X, np.array([0, 1]), weight, ball, 2)


def plan_of(*pairs):
    """A plan of pairs (winner, label, masses of the two rows)."""
    winner, label, mass = zip(*pairs, strict=True)
    nothing = np.zeros((len(pairs), 1))
    return PairPlan(np.array(winner), np.array(label), np.array(mass), nothing, [])


def test_mass_without_a_pair_stays_with_the_label_of_the_row():
    plan = plan_of((1, 0, [0.2, 0.1]))
    first = entr(0.2) + entr(0.3) - entr(0.5)
    # The second row is flipped to label 0 with mass 0.1, and the rest is as it was.
    second = (entr(0.1) - entr(0.1)) + (entr(0.4) - entr(0.4))
    found = entropy_of(plan, two_rows(), slice(0, 2))
    assert found == pytest.approx(first + second)


def test_a_plan_of_all_mass_leaves_nothing():
    stays = (0, 0, [0.3, 0.0]), (1, 1, [0.0, 0.5])
    plan = plan_of((1, 0, [0.2, 0.0]), *stays)
    expected = entr(0.2) + entr(0.3) - entr(0.5)
    assert entropy_of(plan, two_rows(), slice(0, 2)) == pytest.approx(expected)
    # Rounding above the weight of a row counts as nothing left.
    above = plan._replace(mass=plan.mass * (1 + 1e-12))
    assert entropy_of(above, two_rows(), slice(0, 2)) == pytest.approx(expected)


def test_pairs_that_stay_come_behind_the_others_and_do_not_move():
    pair = PairPlan(
        np.array([1]), np.array([0]), np.ones((1, 2)), np.ones((1, 3)), [np.ones((1, 2, 2))]
    )
    mass = np.arange(6.0).reshape(3, 2)
    plan = pair.with_stays(2, mass)
    assert plan.winner.tolist() == [1, 0, 1]
    assert plan.label.tolist() == [0, 0, 1]
    assert plan.mass is mass
    for part in (plan.moved, *plan.switched):
        assert len(part) == 3
        assert part[0].all()
        assert not part[1:].any()


def test_a_pair_may_stand_in_the_plan_twice():
    once, twice = plan_of((1, 0, [0.2, 0.0])), plan_of(*[(1, 0, [0.1, 0.0])] * 2)
    expected = entropy_of(once, two_rows(), slice(0, 2))
    assert entropy_of(twice, two_rows(), slice(0, 2)) == pytest.approx(expected)


def test_the_system_of_a_tilt_is_a_covariance():
    """Of (e_winner - e_label) times the lifted row, over the pairs of each row."""
    problem = two_rows().with_rows(X=np.array([[0.25], [0.75]]))
    plan = plan_of((1, 0, [0.2, 0.1]), (0, 1, [0.1, 0.3]), (1, 1, [0.2, 0.1]))
    lifts = np.random.default_rng(0).normal(size=(3, 2, 2))
    found = system_of(plan, lifts, problem, slice(0, 2))
    system, size = np.zeros((4, 4)), np.zeros(2)
    for n, x in enumerate(problem.X[:, 0]):
        lifted = np.array([x, 1.0]) @ lifts
        sign = np.eye(2)[plan.winner] - np.eye(2)[plan.label]
        terms = (sign[:, :, None] * lifted[:, None, :]).reshape(3, 4)
        mass = plan.mass[:, n]
        mean = mass @ terms
        system += (terms.T * mass) @ terms - np.outer(mean, mean) / problem.weight[n]
        size += mass[:2] @ np.abs(lifted[:2])
    np.testing.assert_allclose(found.system.reshape(4, 4), system, atol=1e-12)
    np.testing.assert_allclose(found.size, size)
