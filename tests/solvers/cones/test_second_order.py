"""Nesterov and Todd's scaling by its definition."""

import numpy as np

from wdrsvm.solvers.cones.second_order import _product, _quotient

from .cases import N_CLASSES, N_TOUCHABLE, nesterov_todd, random_cone, random_goal


class TestNesterovTodd:
    cone = random_cone("l2")[0]

    def test_scaling_maps_multiplier_and_slack_to_one_point(self):
        cone = self.cone
        scaled = cone._times(cone.mult)
        np.testing.assert_allclose(scaled, cone._over(cone.slack))
        np.testing.assert_allclose(scaled, cone.scaled)

    def test_scaling_is_that_of_the_definition(self):
        cone = self.cone
        rows = np.random.default_rng(0).normal(size=cone.slack.shape)
        expected = [W @ row for W, row in zip(nesterov_todd(cone), rows, strict=True)]
        np.testing.assert_allclose(cone._times(rows), expected, atol=1e-10)

    def test_scaling_and_its_inverse_cancel(self):
        rows = np.random.default_rng(0).normal(size=self.cone.slack.shape)
        np.testing.assert_allclose(self.cone._over(self.cone._times(rows)), rows)

    def test_product_and_quotient_cancel(self):
        rows = np.random.default_rng(0).normal(size=self.cone.slack.shape)
        quotient = _quotient(rows, self.cone.scaled)
        np.testing.assert_allclose(_product(quotient, self.cone.scaled), rows)

    def test_goal_is_met_to_first_order(self):
        """scaled o (W (y + dy) + W^-1 dr) = goal."""
        cone, goal = self.cone, random_goal("l2")
        step = cone.step_for(goal, np.ones((N_CLASSES, N_TOUCHABLE)) * [1, 2, 3, 4], 0.5)
        reached = cone._times(cone.mult + step.mult) + cone._over(step.slack)
        np.testing.assert_allclose(_product(cone.scaled, reached), goal, atol=1e-10)

    def test_second_order_term_is_the_product_of_the_scaled_steps(self):
        cone = self.cone
        step = cone.step_for(random_goal("l2"), np.eye(N_CLASSES, N_TOUCHABLE), 0.5)
        expected = -_product(cone._over(step.slack), cone._times(step.mult))
        expected[:, 0] += 0.2
        np.testing.assert_allclose(cone.goal(0.2, step), expected)

    def test_scaling_stays_finite_next_to_the_boundary(self):
        cone = random_cone("l2")[0]
        cone.slack[:, 0] = np.linalg.norm(cone.slack[:, 1:], axis=1) * (1 + 1e-15)
        cone._rescale()
        assert np.isfinite(cone.w).all()
        assert np.isfinite(cone.scaled).all()
