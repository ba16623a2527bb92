"""Where slacks and multipliers are to go."""

import numpy as np
import pytest

from wdrsvm.solvers.cones.complementarity import CENTRAL, Lengths, Rows, RowStep

from .cases import (
    N_CLASSES,
    N_TOUCHABLE,
    cone_curvature,
    flat,
    mult_of,
    random_cone,
    random_goal,
    slack_of,
    step_parts,
)


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_goals_are_the_centre_less_the_second_order_term(norm):
    cone, _, _ = random_cone(norm)
    cone_curvature(cone)
    plain = flat(norm, cone.goal(0.2))
    np.testing.assert_array_equal(plain, 0.2)
    step = cone.step_for(random_goal(norm), np.eye(N_CLASSES, N_TOUCHABLE), 0.5)
    d_slack, d_mult = step_parts(norm, step)
    found = flat(norm, cone.goal(0.2, step))
    np.testing.assert_allclose(found, 0.2 - d_slack * d_mult)


def test_recentring_pulls_only_what_would_lie_far_from_the_centre():
    rows = Rows(np.ones(4), np.array([1.0, 1.0, 1.0, 0.0]))
    step = RowStep(np.zeros(4), np.array([-0.999, 0.5, 99.0, 0.0]))
    goal = rows.recentred(np.zeros(4), step, 1.0, Lengths(1.0, 1.0))
    low, high = 1 / CENTRAL - 0.001, CENTRAL
    np.testing.assert_allclose(goal, [low, 0.0, max(high - 100, -high), 0.0])


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_recentring_a_cone_recentres_its_rows(norm):
    cone, _, _ = random_cone(norm)
    cone_curvature(cone)
    goal = random_goal(norm)
    step = cone.step_for(goal, np.eye(N_CLASSES, N_TOUCHABLE), 0.5)
    to = Lengths(0.7, 0.4)
    d_slack, d_mult = step_parts(norm, step)
    after = (slack_of(norm, cone) + 0.7 * d_slack) * (mult_of(norm, cone) + 0.4 * d_mult)
    pull = np.maximum(np.clip(after, 0.2 / CENTRAL, 0.2 * CENTRAL) - after, -0.2 * CENTRAL)
    found = flat(norm, cone.recentred(goal, step, 0.2, to))
    np.testing.assert_allclose(found, flat(norm, goal) + pull)
