"""Sizes that overflow are refused; rounding that no risk can feel spoils no bound."""

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import Certificate, Multipliers, RobustProblem, dual_bound, projections
from wdrsvm.problem.certificate.joint import JointRows
from wdrsvm.problem.certificate.multipliers import RowMultipliers


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("radius", 1e61),
        ("label_cost", 1e-61),
        ("label_cost", 1e61),
        ("label_cost", [[0.0, 1e-300], [1.0, 0.0]]),
        ("feature_cost", [1.0, 1e-61]),
        ("feature_cost", [1e61, np.inf]),
        ("support", (-1e61, 1e61)),
        ("categorical", [([0, 1], 1e-61)]),
    ],
)
def test_parameters_whose_products_overflow_are_refused(name, value):
    with pytest.raises(ValueError, match=f"^{name}.*(1e-60|1e\\+60)"):
        WassersteinBall(**{"radius": 0.1} | {name: value})


@pytest.mark.parametrize("cost", [0.0, 1e-60, 1e60, np.inf])
def test_the_ends_themselves_are_allowed(cost):
    ball = WassersteinBall(1e60, cost, support=(-np.inf, 1e60))
    assert ball.label_cost_matrix(2)[0, 1] == cost


def test_a_bound_far_above_the_objective_proves_nothing():
    assert Certificate(0.5, 0.5 + 1e-9, 0.0).holds(1e-6)
    assert not Certificate(0.5, 0.6, 0.0).holds(1e-6)


def far_problem(offset):
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    X = rng.normal(size=(20, 3)) + y[:, None] + offset
    weight = np.full(20, 1 / 20)
    return RobustProblem.of(X, y, weight, WassersteinBall(0.1, 2.0), n_classes=2)


def test_scores_far_from_zero_keep_their_digits():
    problem = far_problem(1e8)
    rng = np.random.default_rng(1)
    coef = rng.normal(size=(2, 3))
    intercept = -coef @ problem.X[0]
    expected = np.longdouble(problem.X) @ np.longdouble(coef).T + np.longdouble(intercept)
    found = problem.scores(coef, intercept)
    assert np.abs(found - expected.astype(float)).max() < 1e-10
    plain = problem.X @ coef.T + intercept
    assert np.abs(plain - expected.astype(float)).max() > 1e-9


def test_the_middle_is_taken_only_far_from_zero():
    assert not far_problem(0.0).centre.any()
    np.testing.assert_allclose(far_problem(1e6).centre, 1e6, rtol=1e-5)


def test_projections_with_costs_far_apart_are_rough_but_short(monkeypatch):
    """Twenty thousand rounds would not be enough: a solver has a thousand projections."""
    rounds = []
    shrink = projections._shrink_lengths
    monkeypatch.setattr(
        projections, "_shrink_lengths", lambda *told: rounds.append(0) or shrink(*told)
    )
    coef = np.random.default_rng(0).normal(size=(3, 4))
    projections.project(0.1, coef, "l2", np.array([1e-6, 1e-2, 1e2, 1e6]))
    assert len(rounds) <= 200


def test_slopes_do_not_feel_the_zero_piece():
    tiny = 1e-20
    masses = RowMultipliers(np.array([[1.0, tiny]]), np.zeros((1, 2)), np.zeros((1, 2)))
    np.testing.assert_array_equal(masses.slopes(np.array([0])), [[-tiny, tiny]])


@pytest.fixture
def joint():
    """Masses of three rows on all pieces."""
    rng = np.random.default_rng(0)
    y = np.array([0, 1, 2])
    alpha, phi, beta = rng.uniform(size=(3, 3, 3))
    weight, cost = np.array([0.2, 0.3, 0.5]), rng.uniform(1.0, 2.0, (3, 3))
    cost[np.arange(3), y] = np.inf
    rows = JointRows(RowMultipliers(alpha, phi, beta), y)
    return rows.restored(weight, y, cost, 1.0), weight, cost


def test_joint_tilts_keep_the_rows_feasible(joint):
    rows, weight, cost = joint
    alpha, phi, beta = rows.tilted(np.random.default_rng(1).normal(size=(3, 3)) / 10).masses
    assert min(alpha.min(), phi.min(), beta.min()) >= 0
    np.testing.assert_allclose(alpha.sum(axis=1) + phi.sum(axis=1), weight)
    np.testing.assert_allclose(phi.sum(axis=1), beta.sum(axis=1))
    assert not phi[~np.isfinite(cost)].any()


def test_joint_curvature_is_the_change_of_slopes(joint):
    """By finite differences: the sum of g e' answers a tilt as the system says."""
    rows, _, _ = joint
    rng = np.random.default_rng(2)
    columns, tilt = rng.normal(size=(3, 2)), 1e-6 * rng.normal(size=(3, 2))
    before = rows.slopes(rows.y).T @ columns
    after = rows.tilted(columns @ tilt.T).slopes(rows.y).T @ columns
    expected = np.einsum("idje,je->id", rows.curvature(columns), tilt)
    np.testing.assert_allclose(after - before, expected, atol=1e-10)


def test_multipliers_are_balanced_from_the_middle():
    """The same rows, shifted: the same bound, though b is now a million times as large."""
    near, far = far_problem(0.0), far_problem(2.0**20)
    far = RobustProblem.of(near.X + 2.0**20, near.y, near.weight, near.ball, n_classes=2)
    rng = np.random.default_rng(3)
    masses = Multipliers(*rng.uniform(size=(3, 20, 2)))
    assert dual_bound(far, masses) == pytest.approx(dual_bound(near, masses), rel=1e-6)
