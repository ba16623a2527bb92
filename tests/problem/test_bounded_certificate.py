"""Dual bounds in a box, for plans whose value and cost can be worked out by hand."""

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.problem.bounded_certificate import PairPlan, bounded_dual_bound

# Pairs (winner, label): (1, 0) and (0, 1).
WINNER, LABEL = np.array([1, 0]), np.array([0, 1])
NORMS = ["l1", "l2", "linf"]


def two_rows(radius, norm="l1", label_cost=np.inf, columns=1, **shape):
    """A row of class 0 at 0, one of class 1 at 1, in the unit box."""
    X = np.repeat([[0.0], [1.0]], columns, axis=1)
    shape = {"support": (0.0, 1.0), **shape}
    ball = WassersteinBall(radius, label_cost, norm, **shape)
    return RobustProblem(X, np.array([0, 1]), np.array([0.5, 0.5]), ball, 2)


def to_the_middle(size=0.5, columns=1, mass=0.5):
    """Each row's mass is moved half of the way to the other, and loses there."""
    moved = np.full((2, columns), size * mass)
    return PairPlan(WINNER, LABEL, mass * np.eye(2), moved * [[1.0], [-1.0]], [])


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("cost", [1.0, 3.0])
@pytest.mark.parametrize(("radius", "share"), [(0.5, 1.0), (0.25, 0.5), (9.0, 1.0)])
def test_rows_that_meet_cannot_be_told_apart(radius, share, cost, norm):
    """Both move by a half, so that the way costs 2 * 0.5 * 0.5 and no one wins."""
    problem = two_rows(radius * cost, norm, feature_cost=[cost])
    assert bounded_dual_bound(problem, to_the_middle()) == pytest.approx(share)


@pytest.mark.parametrize(("norm", "length"), [("l1", 4.0), ("l2", 2.0), ("linf", 1.0)])
def test_the_way_is_as_long_as_the_norm_says(norm, length):
    problem = two_rows(0.25, norm, columns=4)
    bound = bounded_dual_bound(problem, to_the_middle(columns=4))
    assert bound == pytest.approx(min(1.0, 0.5 / length))


def test_mass_above_the_weight_and_moves_beyond_the_box_are_cut():
    problem = two_rows(0.5)
    plan = to_the_middle()
    found = bounded_dual_bound(problem, plan._replace(mass=4 * plan.mass))
    assert found == pytest.approx(1.0)
    # All the way: the rows change places, which tells them apart as before.
    beyond = bounded_dual_bound(problem, to_the_middle(size=7.0))
    assert 0.0 <= beyond <= 1.0 + 1e-12


def test_a_plan_with_less_mass_proves_less():
    assert bounded_dual_bound(two_rows(0.5), to_the_middle(mass=0.2)) == pytest.approx(0.4)


def test_negative_mass_is_none():
    plan = to_the_middle()
    mass = plan.mass - 0.3 * (1 - np.eye(2))
    found = bounded_dual_bound(two_rows(0.5), plan._replace(mass=mass))
    assert found == pytest.approx(1.0)


@pytest.mark.parametrize(("radius", "share"), [(0.4, 1.0), (0.1, 0.25)])
def test_flipped_labels_pay_their_price(radius, share):
    """Half of each row is given the other's label: no classifier tells halves apart."""
    half = np.full((2, 2), 0.25)
    plan = PairPlan(WINNER, LABEL, half, np.zeros((2, 1)), [])
    problem = two_rows(radius, label_cost=0.8)
    # Four quarters of mass, two of them flipped at 0.8 each.
    assert bounded_dual_bound(problem, plan) == pytest.approx(share)


def test_labels_that_cannot_be_had_carry_nothing():
    half = np.full((2, 2), 0.25)
    plan = PairPlan(WINNER, LABEL, half, np.zeros((2, 1)), [])
    assert bounded_dual_bound(two_rows(0.4), plan) <= 0.5


def test_moves_without_an_end_need_no_mass_but_pay():
    """A feature that only class 1 shows is cancelled from outside of the box's ends."""
    problem = two_rows(1.0, support=(0.0, np.inf))
    plan = PairPlan(WINNER, LABEL, 0.5 * np.eye(2), np.array([[0.5], [0.0]]), [])
    # What pair (1, 0) lacks, half a unit, escapes there: both pull with 0.5 then.
    assert bounded_dual_bound(problem, plan) == pytest.approx(1.0)
    poor = two_rows(0.125, support=(0.0, np.inf))
    assert bounded_dual_bound(poor, plan) == pytest.approx(0.25)


@pytest.mark.parametrize(("radius", "share"), [(0.6, 1.0), (0.15, 0.25)])
def test_switched_categories_pay_their_price(radius, share):
    """Category and class are one; half of each row's mass switches at 1.2."""
    X = np.eye(2)
    ball = WassersteinBall(radius, categorical=[([0, 1], 1.2)])
    problem = RobustProblem(X, np.array([0, 1]), np.array([0.5, 0.5]), ball, 2)
    switched = np.zeros((2, 2, 2))
    switched[0, 0, 1] = switched[1, 1, 0] = 0.25
    plan = PairPlan(WINNER, LABEL, 0.5 * np.eye(2), np.zeros((2, 2)), [switched])
    assert bounded_dual_bound(problem, plan) == pytest.approx(share)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("norm", NORMS)
def test_no_plan_proves_more_than_a_classifier_has(norm, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(6, 2))
    high = np.array([1.0, np.inf]) if seed % 2 else 1.0
    ball = WassersteinBall(0.2, 0.6, norm, support=(0.0, high))
    problem = RobustProblem(X, np.arange(6) % 2, np.full(6, 1 / 6), ball, 2)
    # The constant classifier has risk 1.
    for _ in range(4):
        mass, moved = rng.exponential(size=(2, 6)) / 6, rng.normal(size=(2, 2))
        found = bounded_dual_bound(problem, PairPlan(WINNER, LABEL, mass, moved, []))
        assert 0.0 <= found <= 1.0 + 1e-12
