"""The norm's cones against dense constructions of their part of the Newton system.

With slacks R (M, lam, u) and products r y aimed at goals, a step solves
R' D R d = R' (goal / r), D the springs y / r; u are auxiliary variables that are
eliminated.  Second-order cones have W^-2 for D.
"""

import numpy as np
import pytest
from scipy import linalg

from wdrsvm.problem.norms import divergence, incidence
from wdrsvm.solvers.cones.choice import CONES, MAX_START_LAM, starting_cone
from wdrsvm.solvers.cones.complementarity import CENTRAL, Lengths, Rows, RowStep
from wdrsvm.solvers.cones.polyhedral import Absent, AbsoluteSums, Box, Curvature, Floor
from wdrsvm.solvers.cones.second_order import (
    SecondOrder,
    SingleClasses,
    _longest,
    _product,
    _quotient,
)

N_CLASSES, N_TOUCHABLE, N_COLUMNS = 3, 4, 6
SIZE = N_CLASSES * N_TOUCHABLE
PAIRS = N_CLASSES * (N_CLASSES - 1) // 2
every_cone = pytest.mark.parametrize("norm", list(CONES))
DUAL_ORDER = {"l1": np.inf, "l2": 2, "linf": 1, "triangle": 2}
CONIC = ("l2", "triangle")


def combinations(norm):
    """What the norm measures: differences of classes, or twice each class."""
    return 2 * np.eye(N_CLASSES) if norm == "triangle" else incidence(N_CLASSES)


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


def flat(norm, value):
    """Slacks, multipliers or goals of a cone as one vector in the order of R."""
    if norm == "linf":
        return np.concatenate([np.ravel(value[0]), np.ravel(value[1])])
    return np.ravel(value)


def slack_of(norm, cone):
    return flat(norm, (cone.sides.slack, cone.caps.slack) if norm == "linf" else cone.slack)


def mult_of(norm, cone):
    return flat(norm, (cone.sides.mult, cone.caps.mult) if norm == "linf" else cone.mult)


def step_parts(norm, step):
    parts = step if norm == "linf" else (step,)
    slack = np.concatenate([np.ravel(part.slack) for part in parts])
    return slack, np.concatenate([np.ravel(part.mult) for part in parts])


def random_cone(norm, seed=0):
    """A cone at a feasible point with multipliers far from central."""
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(N_CLASSES, N_TOUCHABLE))
    coef -= (coef.max(axis=0) + coef.min(axis=0)) / 2
    diff = combinations(norm) @ coef
    lam = 1.3 * np.linalg.norm(diff, DUAL_ORDER[norm], axis=1).max()
    cone = CONES[norm](N_CLASSES, N_TOUCHABLE, 1.0, 1.0)
    cone.place(coef, lam, 0.5)
    if norm in CONIC:
        tail = rng.normal(size=(len(diff), N_TOUCHABLE))
        head = np.linalg.norm(tail, axis=1) * rng.uniform(1.05, 3.0, len(diff))
        cone.mult = np.column_stack([head, tail])
        cone._rescale()
        return cone, coef, lam
    for rows in (cone.sides, cone.caps) if norm == "linf" else (cone,):
        rows.mult = rows.mult * rng.lognormal(size=rows.mult.shape)
    return cone, coef, lam


def nesterov_todd(cone):
    """W of every pair as a dense matrix, from its definition by square roots.

    W^2 maps multiplier to slack, and the only symmetric positive map of the cone that
    does so is P(w)^(1/2) b in the notation of the file it tests.
    """
    blocks = []
    for r, y in zip(cone.slack, cone.mult, strict=True):
        J = np.diag([1.0] + [-1.0] * (len(r) - 1))
        det_r, det_y = r @ J @ r, y @ J @ y
        r_unit, y_unit = r / np.sqrt(det_r), y / np.sqrt(det_y)
        gamma = np.sqrt((1 + r_unit @ y_unit) / 2)
        w = (r_unit + J @ y_unit) / (2 * gamma)
        square = np.sqrt(det_r / det_y) * (2 * np.outer(w, w) - J)
        blocks.append(np.real(linalg.sqrtm(square)))
    return blocks


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


def random_goal(norm, seed=1):
    rng = np.random.default_rng(seed)
    if norm == "l1":
        return rng.uniform(0.1, 1.0, (2, N_CLASSES, N_TOUCHABLE))
    if norm in CONIC:
        return rng.normal(size=(len(combinations(norm)), 1 + N_TOUCHABLE))
    return rng.uniform(0.1, 1.0, (2, PAIRS, N_TOUCHABLE)), rng.uniform(0.1, 1.0, PAIRS)


def dense_system(norm, cone, goal):
    """Matrix, right-hand side and elimination of u, on (M, lam)."""
    rows = rows_of_cone(norm)
    matrix = rows.T @ springs(norm, cone) @ rows
    rhs = rows.T @ targets(norm, cone, goal)
    keep, local = slice(None, SIZE + 1), slice(SIZE + 1, None)
    coupling = matrix[keep, local] @ np.linalg.inv(matrix[local, local])
    reduced = matrix[keep, keep] - coupling @ matrix[local, keep]
    return reduced, rhs[keep] - coupling @ rhs[local], matrix, rhs


def cone_curvature(cone):
    """What the cone adds, read back from a wider matrix on (M, lam)."""
    full = np.zeros((N_CLASSES * N_COLUMNS + 1,) * 2)
    cone.add_curvature(Curvature(full, N_CLASSES, N_COLUMNS, N_TOUCHABLE))
    grid = np.arange(N_CLASSES * N_COLUMNS).reshape(N_CLASSES, N_COLUMNS)
    index = np.append(grid[:, :N_TOUCHABLE].ravel(), len(full) - 1)
    others = np.setdiff1d(np.arange(len(full)), index)
    np.testing.assert_array_equal(full[others], 0.0)
    np.testing.assert_array_equal(full[:, others], 0.0)
    return full[np.ix_(index, index)]


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
