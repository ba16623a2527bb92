"""Cones that ask little: a floor, and nothing at all."""

import numpy as np
import pytest

from wdrsvm.solvers.cones.polyhedral import Absent, Curvature, Floor


def test_a_floor_keeps_the_multiplier_of_the_ball_positive():
    floor = Floor(2.0, 0.5)
    assert (floor.slack[0], floor.mult[0]) == (2.0, 0.25)
    matrix = np.zeros((4, 4))
    floor.add_curvature(Curvature(matrix, 3, 1, 0))
    assert matrix[3, 3] == 0.125
    assert np.count_nonzero(matrix) == 1
    goal = floor.goal(1.0)
    assert floor.rhs(goal)[1] == 0.5
    step = floor.step_for(goal, np.zeros((3, 0)), 4.0)
    assert step.slack[0] == 4.0
    assert step.mult[0] == pytest.approx(0.5 - 0.25 - 0.125 * 4.0)
    floor.place(np.zeros((3, 0)), 1.0, 0.3)
    assert (floor.slack[0], floor.mult[0]) == (1.0, 0.3)


def test_an_absent_cone_asks_nothing():
    cone = Absent()
    matrix = np.zeros((4, 4))
    cone.add_curvature(Curvature(matrix, 3, 1, 0))
    assert np.count_nonzero(matrix) == 1
    assert cone.complementarity() == 0.0
    assert cone.rhs(cone.goal(1.0))[1] == 0.0
    step = cone.step_for(cone.goal(1.0), np.zeros((3, 0)), 1.0)
    assert cone.lengths(step) == (np.inf, np.inf)
