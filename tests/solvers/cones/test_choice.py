"""The norm's cones against dense constructions of their part of the Newton system.

With slacks R (M, lam, u) and products r y aimed at goals, a step solves
R' D R d = R' (goal / r), D the springs y / r; u are auxiliary variables that are
eliminated.  Second-order cones have W^-2 for D.
"""

import numpy as np
import pytest
from scipy import linalg

from wdrsvm.problem.norms import divergence
from wdrsvm.solvers.cones.choice import CONES, MAX_START_LAM, starting_cone
from wdrsvm.solvers.cones.complementarity import Lengths
from wdrsvm.solvers.cones.polyhedral import Absent, AbsoluteSums, Box, Floor
from wdrsvm.solvers.cones.second_order import (
    SecondOrder,
    SingleClasses,
    _longest,
    _product,
)

from .cases import (
    CONIC,
    N_CLASSES,
    N_TOUCHABLE,
    PAIRS,
    combinations,
    cone_curvature,
    flat,
    mult_of,
    nesterov_todd,
    random_cone,
    random_goal,
    slack_of,
    step_parts,
)

SIZE = N_CLASSES * N_TOUCHABLE
every_cone = pytest.mark.parametrize("norm", list(CONES))


def rows_of_cone(norm):
    """R over the columns (M, lam, u)."""
    coef, lam = np.eye(SIZE), np.ones((SIZE, 1))
    diff = np.kron(combinations(norm), np.eye(N_TOUCHABLE))
    n_diff = len(diff)
    if norm == "l1":
        return np.block([[coef, lam / 2], [-coef, lam / 2]])
    if norm in CONIC:
        n_rows = len(combinations(norm))
        rows = np.zeros((n_rows, 1 + N_TOUCHABLE, SIZE + 1))
        rows[:, 0, SIZE] = 1.0
        rows[:, 1:, :SIZE] = diff.reshape(n_rows, N_TOUCHABLE, SIZE)
        return rows.reshape(-1, SIZE + 1)
    sums = np.kron(np.eye(PAIRS), np.ones((1, N_TOUCHABLE)))
    return np.block(
        [
            [-diff, np.zeros((n_diff, 1)), np.eye(n_diff)],
            [diff, np.zeros((n_diff, 1)), np.eye(n_diff)],
            [np.zeros((PAIRS, SIZE)), np.ones((PAIRS, 1)), -sums],
        ]
    )


def springs(norm, cone):
    if norm in CONIC:
        return linalg.block_diag(
            *(np.linalg.inv(block @ block) for block in nesterov_todd(cone))
        )
    return np.diag(mult_of(norm, cone) / slack_of(norm, cone))


def targets(norm, cone, goal):
    """Multipliers aimed at, before the change of slacks is counted."""
    if norm not in CONIC:
        return flat(norm, goal) / slack_of(norm, cone)
    found = []
    for W, y, g in zip(nesterov_todd(cone), cone.mult, goal, strict=True):
        scaled = W @ y
        arrow = scaled[0] * np.eye(len(y))
        arrow[0], arrow[:, 0] = scaled, scaled
        found.append(np.linalg.solve(W, np.linalg.solve(arrow, g)))
    return np.concatenate(found)


def dense_system(norm, cone, goal):
    """Matrix, right-hand side and elimination of u, on (M, lam)."""
    rows = rows_of_cone(norm)
    matrix = rows.T @ springs(norm, cone) @ rows
    rhs = rows.T @ targets(norm, cone, goal)
    keep, local = slice(None, SIZE + 1), slice(SIZE + 1, None)
    coupling = matrix[keep, local] @ np.linalg.inv(matrix[local, local])
    reduced = matrix[keep, keep] - coupling @ matrix[local, keep]
    return reduced, rhs[keep] - coupling @ rhs[local], matrix, rhs


@every_cone
@pytest.mark.parametrize("seed", range(3))
def test_curvature_is_that_of_the_dense_system(norm, seed):
    cone, _, _ = random_cone(norm, seed)
    expected = dense_system(norm, cone, random_goal(norm))[0]
    atol = 1e-10 * np.abs(expected).max()
    np.testing.assert_allclose(cone_curvature(cone), expected, atol=atol)


@every_cone
@pytest.mark.parametrize("seed", range(3))
def test_right_hand_side_is_that_of_the_dense_system(norm, seed):
    cone, _, _ = random_cone(norm, seed)
    cone_curvature(cone)
    goal = random_goal(norm, seed)
    on_coef, on_lam = cone.rhs(goal)
    expected = dense_system(norm, cone, goal)[1]
    found = np.append(on_coef, on_lam)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@every_cone
@pytest.mark.parametrize("seed", range(3))
def test_steps_are_those_of_the_dense_system(norm, seed):
    cone, _, _ = random_cone(norm, seed)
    cone_curvature(cone)
    goal = random_goal(norm, seed)
    rng = np.random.default_rng(seed)
    d_coef, d_lam = rng.normal(size=(N_CLASSES, N_TOUCHABLE)), rng.normal()
    d_slack, d_mult = step_parts(norm, cone.step_for(goal, d_coef, d_lam))
    _, _, matrix, rhs = dense_system(norm, cone, goal)
    outer, local = np.append(d_coef, d_lam), slice(SIZE + 1, None)
    pull = rhs[local] - matrix[local, : SIZE + 1] @ outer
    inner = np.linalg.solve(matrix[local, local], pull)
    expected = rows_of_cone(norm) @ np.concatenate([outer, inner])
    np.testing.assert_allclose(d_slack, expected, rtol=1e-9, atol=1e-9)
    moved = targets(norm, cone, goal) - mult_of(norm, cone) - springs(norm, cone) @ expected
    np.testing.assert_allclose(d_mult, moved, rtol=1e-8, atol=1e-8)


@every_cone
def test_place_puts_slacks_on_the_point_and_multipliers_on_the_centre(norm):
    rng = np.random.default_rng(0)
    coef, lam, centre = rng.uniform(-0.4, 0.4, (N_CLASSES, N_TOUCHABLE)), 9.0, 0.3
    cone = CONES[norm](N_CLASSES, N_TOUCHABLE, 1.0, 1.0)
    cone.place(coef, lam, centre)
    slack, mult = slack_of(norm, cone), mult_of(norm, cone)
    diff = combinations(norm) @ coef
    if norm in CONIC:
        shape = (PAIRS, 1 + N_TOUCHABLE)
        products = _product(slack.reshape(shape), mult.reshape(shape))
        np.testing.assert_allclose(products[:, 0], centre)
        np.testing.assert_allclose(products[:, 1:], 0.0, atol=1e-14)
        upper = np.empty(0)
    else:
        np.testing.assert_allclose(slack * mult, centre)
        upper = (cone.sides.slack[0] + diff).ravel() if norm == "linf" else np.empty(0)
    point = np.concatenate([coef.ravel(), [lam], upper])
    np.testing.assert_allclose(slack, rows_of_cone(norm) @ point)
    assert (
        slack.reshape(len(combinations(norm)), -1)[:, 0] if norm in CONIC else slack
    ).min() > 0
    assert cone.complementarity() == pytest.approx(centre * cone.degree)


@every_cone
def test_the_first_cone_is_placed_at_zero_and_spends_the_radius(norm):
    flip_cost = np.full((1, N_CLASSES), np.inf)
    cone, lam = starting_cone(norm, N_CLASSES, N_TOUCHABLE, flip_cost, 5.0, 1.0)
    other = CONES[norm](N_CLASSES, N_TOUCHABLE, 1.0, 1.0)
    other.place(np.zeros((N_CLASSES, N_TOUCHABLE)), lam, 1.0)
    np.testing.assert_allclose(slack_of(norm, cone), slack_of(norm, other))
    np.testing.assert_allclose(mult_of(norm, cone), mult_of(norm, other))
    assert 5.0 * lam == pytest.approx(cone.complementarity())
    assert cone.degree == other.degree


def test_a_small_radius_does_not_start_far_away():
    flip_cost = np.ones((1, 3))
    for n_touchable in (2, 0):
        assert starting_cone("l1", 3, n_touchable, flip_cost, 1e-9, 1.0)[1] == MAX_START_LAM


def is_inside(norm, vector):
    if norm not in CONIC:
        return (vector >= 0).all()
    rows = vector.reshape(PAIRS, -1)
    return (rows[:, 0] >= np.linalg.norm(rows[:, 1:], axis=1)).all()


@every_cone
@pytest.mark.parametrize("seed", range(5))
def test_longest_steps_end_on_the_boundary(norm, seed):
    cone, _, _ = random_cone(norm, seed)
    cone_curvature(cone)
    rng = np.random.default_rng(seed)
    d_coef = 5 * rng.normal(size=(N_CLASSES, N_TOUCHABLE))
    step = cone.step_for(random_goal(norm, seed), d_coef, rng.normal())
    lengths = cone.lengths(step)
    d_slack, d_mult = step_parts(norm, step)
    for start, change, length in (
        (slack_of(norm, cone), d_slack, lengths.primal),
        (mult_of(norm, cone), d_mult, lengths.dual),
    ):
        assert 0 < length < np.inf
        assert is_inside(norm, start + 0.9999 * length * change)
        assert not is_inside(norm, start + 1.0001 * length * change)


def test_a_step_into_the_cone_has_no_end():
    rows = np.array([[2.0, 1.0, 0.0], [1.0, 0.0, 0.5]])
    assert _longest(rows, rows) == np.inf
    assert _longest(rows, np.array([[1.0, 0.0, 0.9], [1.0, 0.6, 0.6]])) == np.inf
    assert _longest(rows, -rows) == pytest.approx(1.0)


@every_cone
def test_steps_change_complementarity_and_barrier_as_foretold(norm):
    cone, _, _ = random_cone(norm)
    cone_curvature(cone)
    d_coef = np.random.default_rng(0).normal(size=(N_CLASSES, N_TOUCHABLE))
    step = cone.step_for(random_goal(norm), d_coef, 0.3)
    by = Lengths(*(0.5 * length for length in cone.lengths(step)))
    slack, mult = slack_of(norm, cone), mult_of(norm, cone)
    d_slack, d_mult = step_parts(norm, step)
    slack, mult = slack + by.primal * d_slack, mult + by.dual * d_mult
    foretold = cone.complementarity_after(step, by), cone.barrier_after(step, by.primal)
    cone.advance(step, by)
    np.testing.assert_allclose(slack_of(norm, cone), slack)
    np.testing.assert_allclose(mult_of(norm, cone), mult)
    assert cone.complementarity() == pytest.approx(foretold[0])
    assert cone.complementarity() == pytest.approx(slack @ mult)
    rows = slack.reshape(len(combinations(norm)), -1)
    in_cone = rows[:, 0] ** 2 - (rows[:, 1:] ** 2).sum(axis=1)
    barrier = -np.log(in_cone).sum() / 2 if norm in CONIC else -np.log(slack).sum()
    assert foretold[1] == pytest.approx(barrier)


@every_cone
def test_gradient_is_what_the_multipliers_pull(norm):
    cone, _, _ = random_cone(norm)
    pull = rows_of_cone(norm)[:, :SIZE].T @ mult_of(norm, cone)
    np.testing.assert_allclose(cone.gradient().ravel(), pull, atol=1e-12)
    if norm in ("l1", "triangle"):
        assert cone.flow() is None
    else:
        np.testing.assert_allclose(divergence(cone.flow(), N_CLASSES).ravel(), pull)


@pytest.mark.parametrize(
    ("n_touchable", "flip_cost", "radius", "kind"),
    [
        (2, 1.0, 0.1, Box),
        (0, 1.0, 0.1, Floor),
        (0, 0.0, 0.0, Absent),
        (0, np.inf, 0.0, Absent),
    ],
)
def test_the_cone_is_what_the_ball_can_spend_on(n_touchable, flip_cost, radius, kind):
    cost = np.full((4, 3), flip_cost)
    cone, lam = starting_cone("l1", 3, n_touchable, cost, radius, 1.0)
    assert type(cone) is kind
    assert (lam > 0) == (kind is not Absent)


def test_cones_of_the_norms():
    expected = {"l1": Box, "l2": SecondOrder, "linf": AbsoluteSums}
    assert expected | {"triangle": SingleClasses} == CONES
