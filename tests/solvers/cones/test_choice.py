"""The norm's cones against dense constructions of their part of the Newton system.

With slacks R (M, lam, u) and products r y aimed at goals, a step solves
R' D R d = R' (goal / r), D the springs y / r; u are auxiliary variables that are
eliminated.  Second-order cones have W^-2 for D.
"""

import numpy as np
import pytest
from scipy import linalg

from wdrsvm.problem.norms import divergence, incidence
from wdrsvm.solvers.cones.choice import CONE_OF_NORM, starting_cone
from wdrsvm.solvers.cones.kernels import native
from wdrsvm.solvers.cones.settings import CONES

pytestmark = pytest.mark.tiny
N_CLASSES, N_TOUCHABLE, N_COLUMNS = 3, 4, 6
SIZE = N_CLASSES * N_TOUCHABLE
PAIRS = N_CLASSES * (N_CLASSES - 1) // 2
# Products within this factor of the centre are central enough.
CENTRAL = 10.0
# Where touchable coefficients and lam stand in (M, lam).
PLACES = np.append(
    np.arange(N_CLASSES * N_COLUMNS).reshape(N_CLASSES, -1)[:, :N_TOUCHABLE].ravel(),
    N_CLASSES * N_COLUMNS,
)
every_cone = pytest.mark.parametrize("norm", list(CONE_OF_NORM))
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


def cone_of(norm):
    return CONE_OF_NORM[norm](N_CLASSES, N_COLUMNS, N_TOUCHABLE)


def slack_of(cone):
    return cone.rows()[0]


def mult_of(cone):
    return cone.rows()[1]


def conic(rows):
    return rows.reshape(-1, 1 + N_TOUCHABLE)


def prepared(cone, goal):
    """The cone's moves towards a goal."""
    moves = native.Moves(cone)
    moves.prepare()
    moves.curvature()
    moves.goal = goal
    return moves


def wide(d_coef, d_lam):
    """A step of (M, lam) that leaves untouchable columns alone."""
    step = np.zeros(N_CLASSES * N_COLUMNS + 1)
    step[PLACES] = np.append(d_coef, d_lam)
    return step


def stepped(cone, goal, d_coef, d_lam):
    moves = prepared(cone, goal)
    moves.find_step(wide(d_coef, d_lam))
    return moves


def random_cone(norm, seed=0):
    """A cone at a feasible point with multipliers far from central."""
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(N_CLASSES, N_TOUCHABLE))
    coef -= (coef.max(axis=0) + coef.min(axis=0)) / 2
    diff = combinations(norm) @ coef
    lam = 1.3 * np.linalg.norm(diff, DUAL_ORDER[norm], axis=1).max()
    cone = cone_of(norm)
    cone.place(coef, lam, 0.5)
    slack, mult = cone.rows()
    if norm in CONIC:
        tail = rng.normal(size=(len(diff), N_TOUCHABLE))
        head = np.linalg.norm(tail, axis=1) * rng.uniform(1.05, 3.0, len(diff))
        cone.put_rows(slack, np.column_stack([head, tail]).ravel())
    else:
        cone.put_rows(slack, mult * rng.lognormal(size=mult.shape))
    return cone, coef, lam


def nesterov_todd(cone):
    """W of every pair as a dense matrix, from its definition by square roots.

    W^2 maps multiplier to slack, and the only symmetric positive map of the cone that
    does so is P(w)^(1/2) b in the notation of the file it tests.
    """
    blocks = []
    for r, y in zip(conic(slack_of(cone)), conic(mult_of(cone)), strict=True):
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
    return np.diag(mult_of(cone) / slack_of(cone))


def targets(norm, cone, goal):
    """Multipliers aimed at, before the change of slacks is counted."""
    if norm not in CONIC:
        return goal / slack_of(cone)
    found = []
    rows = zip(nesterov_todd(cone), conic(mult_of(cone)), conic(goal), strict=True)
    for W, y, g in rows:
        scaled = W @ y
        arrow = scaled[0] * np.eye(len(y))
        arrow[0], arrow[:, 0] = scaled, scaled
        found.append(np.linalg.solve(W, np.linalg.solve(arrow, g)))
    return np.concatenate(found)


def random_goal(norm, seed=1):
    rng = np.random.default_rng(seed)
    size = len(slack_of(cone_of(norm)))
    return rng.normal(size=size) if norm in CONIC else rng.uniform(0.1, 1.0, size)


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
    lower = native.Moves(cone).curvature()
    np.testing.assert_array_equal(np.triu(lower, 1), 0.0)
    full = lower + np.tril(lower, -1).T
    others = np.setdiff1d(np.arange(len(full)), PLACES)
    np.testing.assert_array_equal(full[others], 0.0)
    return full[np.ix_(PLACES, PLACES)]


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
    goal = random_goal(norm, seed)
    expected = dense_system(norm, cone, goal)[1]
    before = np.arange(N_CLASSES * N_COLUMNS + 1.0)
    found = (prepared(cone, goal).with_goal(before) - before)[PLACES]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@every_cone
@pytest.mark.parametrize("seed", range(3))
def test_steps_are_those_of_the_dense_system(norm, seed):
    cone, _, _ = random_cone(norm, seed)
    goal = random_goal(norm, seed)
    rng = np.random.default_rng(seed)
    d_coef, d_lam = rng.normal(size=(N_CLASSES, N_TOUCHABLE)), rng.normal()
    d_slack, d_mult = stepped(cone, goal, d_coef, d_lam).step
    _, _, matrix, rhs = dense_system(norm, cone, goal)
    outer, local = np.append(d_coef, d_lam), slice(SIZE + 1, None)
    pull = rhs[local] - matrix[local, : SIZE + 1] @ outer
    inner = np.linalg.solve(matrix[local, local], pull)
    expected = rows_of_cone(norm) @ np.concatenate([outer, inner])
    np.testing.assert_allclose(d_slack, expected, rtol=1e-9, atol=1e-9)
    moved = targets(norm, cone, goal) - mult_of(cone) - springs(norm, cone) @ expected
    np.testing.assert_allclose(d_mult, moved, rtol=1e-8, atol=1e-8)


@every_cone
def test_place_puts_slacks_on_the_point_and_multipliers_on_the_centre(norm):
    rng = np.random.default_rng(0)
    coef, lam, centre = rng.uniform(-0.4, 0.4, (N_CLASSES, N_TOUCHABLE)), 9.0, 0.3
    cone = cone_of(norm)
    cone.place(coef, lam, centre)
    slack, mult = cone.rows()
    diff, upper = combinations(norm) @ coef, np.empty(0)
    if norm in CONIC:
        products = product(conic(slack), conic(mult))
        np.testing.assert_allclose(products[:, 0], centre)
        np.testing.assert_allclose(products[:, 1:], 0.0, atol=1e-14)
        assert (conic(slack)[:, 0] > 0).all()
    else:
        np.testing.assert_allclose(slack * mult, centre)
        assert (slack > 0).all()
    if norm == "linf":
        upper = slack[: diff.size] + diff.ravel()
    point = np.concatenate([coef.ravel(), [lam], upper])
    np.testing.assert_allclose(slack, rows_of_cone(norm) @ point)
    assert native.Moves(cone).complementarity == pytest.approx(centre * cone.degree)


def product(left, right):
    """The cone's Jordan product (u.v, u_0 v_1 + v_0 u_1), row by row."""
    tail = left[:, :1] * right[:, 1:] + right[:, :1] * left[:, 1:]
    return np.column_stack([(left * right).sum(axis=1), tail])


@every_cone
def test_the_first_cone_is_placed_at_zero_and_spends_the_radius(norm):
    flip_cost = np.full((1, N_CLASSES), np.inf)
    shape = N_CLASSES, N_COLUMNS
    cone, lam = starting_cone(norm, shape, N_TOUCHABLE, flip_cost, 5.0, 1.0)
    other = cone_of(norm)
    other.place(np.zeros((N_CLASSES, N_TOUCHABLE)), lam, 1.0)
    np.testing.assert_allclose(slack_of(cone), slack_of(other))
    np.testing.assert_allclose(mult_of(cone), mult_of(other))
    assert 5.0 * lam == pytest.approx(native.Moves(cone).complementarity)
    assert cone.degree == other.degree


def test_a_small_radius_does_not_start_far_away():
    flip_cost = np.ones((1, 3))
    for n_touchable in (2, 0):
        found = starting_cone("l1", (3, 4), n_touchable, flip_cost, 1e-9, 1.0)
        assert found[1] == CONES.max_start_lam


def is_inside(norm, vector):
    if norm not in CONIC:
        return (vector >= 0).all()
    rows = vector.reshape(PAIRS, -1)
    return (rows[:, 0] >= np.linalg.norm(rows[:, 1:], axis=1)).all()


@every_cone
@pytest.mark.parametrize("seed", range(5))
def test_longest_steps_end_on_the_boundary(norm, seed):
    cone, _, _ = random_cone(norm, seed)
    rng = np.random.default_rng(seed)
    d_coef = 5 * rng.normal(size=(N_CLASSES, N_TOUCHABLE))
    moves = stepped(cone, random_goal(norm, seed), d_coef, rng.normal())
    rows = zip(cone.rows(), moves.step, moves.lengths, strict=True)
    for start, change, length in rows:
        assert 0 < length < np.inf
        assert is_inside(norm, start + 0.9999 * length * change)
        assert not is_inside(norm, start + 1.0001 * length * change)


def test_a_step_into_the_cone_has_no_end():
    rows = np.array([[2.0, 1.0, 0.0], [1.0, 0.0, 0.5]])
    moves = native.Moves(native.ConicRows(rows, 1.0))
    moves.prepare()
    inwards = np.array([[1.0, 0.0, 0.9], [1.0, 0.6, 0.6]])
    for change, length in ((rows, np.inf), (inwards, np.inf), (-rows, 1.0)):
        moves.find_given_step(change)
        assert moves.lengths[0] == pytest.approx(length)


@every_cone
def test_steps_change_complementarity_and_barrier_as_foretold(norm):
    cone, _, _ = random_cone(norm)
    d_coef = np.random.default_rng(0).normal(size=(N_CLASSES, N_TOUCHABLE))
    moves = stepped(cone, random_goal(norm), d_coef, 0.3)
    primal, dual = (0.5 * length for length in moves.lengths)
    d_slack, d_mult = moves.step
    slack, mult = slack_of(cone) + primal * d_slack, mult_of(cone) + dual * d_mult
    foretold = moves.complementarity_after(primal, dual), moves.barrier_after(primal)
    moves.advance(primal, dual)
    np.testing.assert_allclose(slack_of(cone), slack)
    np.testing.assert_allclose(mult_of(cone), mult)
    assert moves.complementarity == pytest.approx(foretold[0])
    assert moves.complementarity == pytest.approx(slack @ mult)
    rows = slack.reshape(len(combinations(norm)), -1)
    in_cone = rows[:, 0] ** 2 - (rows[:, 1:] ** 2).sum(axis=1)
    barrier = -np.log(in_cone).sum() / 2 if norm in CONIC else -np.log(slack).sum()
    assert foretold[1] == pytest.approx(barrier)


@every_cone
def test_gradient_is_what_the_multipliers_pull(norm):
    cone, _, _ = random_cone(norm)
    pull = rows_of_cone(norm)[:, :SIZE].T @ mult_of(cone)
    np.testing.assert_allclose(cone.gradient().ravel(), pull, atol=1e-12)
    if norm in ("l1", "triangle"):
        assert cone.flow() is None
    else:
        np.testing.assert_allclose(divergence(cone.flow(), N_CLASSES).ravel(), pull)


class TestNesterovTodd:
    """Goals of second-order cones are in the coordinates of their scaling W."""

    def scaled(self, cone, rows, inverse=False):
        blocks = nesterov_todd(cone)
        blocks = [np.linalg.inv(W) for W in blocks] if inverse else blocks
        return np.array([W @ row for W, row in zip(blocks, conic(rows), strict=True)])

    def test_goal_is_met_to_first_order(self):
        """scaled o (W (y + dy) + W^-1 dr) = goal."""
        cone, goal = random_cone("l2")[0], random_goal("l2")
        d_coef = np.ones((N_CLASSES, N_TOUCHABLE)) * [1, 2, 3, 4]
        d_slack, d_mult = stepped(cone, goal, d_coef, 0.5).step
        reached = self.scaled(cone, mult_of(cone) + d_mult)
        reached += self.scaled(cone, d_slack, inverse=True)
        here = self.scaled(cone, mult_of(cone))
        np.testing.assert_allclose(product(here, reached), conic(goal), atol=1e-10)

    def test_second_order_term_is_the_product_of_the_scaled_steps(self):
        cone = random_cone("l2")[0]
        d_coef = np.eye(N_CLASSES, N_TOUCHABLE)
        moves = stepped(cone, random_goal("l2"), d_coef, 0.5)
        d_slack, d_mult = moves.step
        expected = -product(
            self.scaled(cone, d_slack, inverse=True), self.scaled(cone, d_mult)
        )
        expected[:, 0] += 0.2
        moves.aim_after_step(0.2)
        np.testing.assert_allclose(conic(moves.goal), expected)

    def test_recentring_changes_nothing(self):
        moves = stepped(random_cone("l2")[0], random_goal("l2"), np.eye(3, 4), 0.5)
        moves.recentre(0.2, 0.7, 0.4)
        np.testing.assert_array_equal(moves.goal, random_goal("l2"))

    def test_scaling_stays_finite_next_to_the_boundary(self):
        cone = random_cone("l2")[0]
        slack = conic(slack_of(cone))
        slack[:, 0] = np.linalg.norm(slack[:, 1:], axis=1) * (1 + 1e-15)
        cone.put_rows(slack.ravel(), mult_of(cone))
        assert np.isfinite(native.Moves(cone).curvature()).all()

    def test_given_cones_have_the_same_stiffness(self):
        cone = random_cone("l2")[0]
        given = native.ConicRows(conic(slack_of(cone)), 1.0)
        given.put_rows(slack_of(cone), mult_of(cone))
        native.Moves(given).prepare()
        expected = [np.linalg.inv(W @ W) for W in nesterov_todd(cone)]
        np.testing.assert_allclose(given.stiffness(), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_goals_are_the_centre_less_the_second_order_term(norm):
    cone, _, _ = random_cone(norm)
    moves = stepped(cone, random_goal(norm), np.eye(N_CLASSES, N_TOUCHABLE), 0.5)
    d_slack, d_mult = moves.step
    moves.aim_after_step(0.2)
    np.testing.assert_allclose(moves.goal, 0.2 - d_slack * d_mult)
    moves.aim(0.2)
    np.testing.assert_array_equal(moves.goal, 0.2)


def test_recentring_pulls_only_what_would_lie_far_from_the_centre():
    moves = native.Moves(native.LinearRows(np.ones(4), np.array([1.0, 1.0, 1.0, 0.0])))
    moves.prepare()
    # With unchanged slacks of 1, multipliers step to their goals.
    moves.goal = np.array([0.001, 1.5, 100.0, 0.0])
    moves.find_given_step(np.zeros(4))
    moves.goal = np.zeros(4)
    moves.recentre(1.0, 1.0, 1.0)
    low, high = 1 / CENTRAL - 0.001, CENTRAL
    np.testing.assert_allclose(moves.goal, [low, 0.0, max(high - 100, -high), 0.0])


def test_rows_that_do_not_exist_have_no_goal():
    moves = native.Moves(native.LinearRows(np.ones(2), np.array([1.0, 0.0])))
    moves.aim(0.3)
    assert moves.goal.tolist() == [0.3, 0.0]


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_recentring_a_cone_recentres_its_rows(norm):
    cone, _, _ = random_cone(norm)
    goal = random_goal(norm)
    moves = stepped(cone, goal, np.eye(N_CLASSES, N_TOUCHABLE), 0.5)
    d_slack, d_mult = moves.step
    after = (slack_of(cone) + 0.7 * d_slack) * (mult_of(cone) + 0.4 * d_mult)
    pull = np.maximum(np.clip(after, 0.2 / CENTRAL, 0.2 * CENTRAL) - after, -0.2 * CENTRAL)
    moves.recentre(0.2, 0.7, 0.4)
    np.testing.assert_allclose(moves.goal, goal + pull)


def test_a_floor_keeps_the_multiplier_of_the_ball_positive():
    floor = native.Floor(3, 1)
    assert floor.gradient().shape == (3, 0)
    floor.place(np.zeros((3, 0)), 2.0, 0.5)
    assert [part.tolist() for part in floor.rows()] == [[2.0], [0.25]]
    moves = native.Moves(floor)
    matrix = moves.curvature()
    assert matrix[3, 3] == 0.125
    assert np.count_nonzero(matrix) == 1
    moves.aim(1.0)
    assert moves.with_goal(np.zeros(4)).tolist() == [0.0, 0.0, 0.0, 0.5]
    moves.find_step(np.array([0.0, 0.0, 0.0, 4.0]))
    d_slack, d_mult = moves.step
    assert d_slack[0] == 4.0
    assert d_mult[0] == pytest.approx(0.5 - 0.25 - 0.125 * 4.0)


def test_an_absent_cone_asks_nothing():
    moves = native.Moves(native.Absent(3, 1))
    assert np.count_nonzero(moves.curvature()) == 1
    assert moves.complementarity == 0.0
    moves.aim(1.0)
    assert moves.with_goal(np.zeros(4)).tolist() == [0.0] * 4
    moves.find_step(np.ones(4))
    assert moves.lengths == (np.inf, np.inf)


@pytest.mark.parametrize(
    ("n_touchable", "flip_cost", "radius", "kind"),
    [
        (2, 1.0, 0.1, native.Box),
        (0, 1.0, 0.1, native.Floor),
        (0, 0.0, 0.0, native.Absent),
        (0, np.inf, 0.0, native.Absent),
    ],
)
def test_the_cone_is_what_the_ball_can_spend_on(n_touchable, flip_cost, radius, kind):
    cost = np.full((4, 3), flip_cost)
    cone, lam = starting_cone("l1", (3, 4), n_touchable, cost, radius, 1.0)
    assert type(cone) is kind
    assert (lam > 0) == (kind is not native.Absent)


def test_cones_of_the_norms():
    expected = {"l1": native.Box, "l2": native.SecondOrder, "linf": native.AbsoluteSums}
    assert expected | {"triangle": native.SingleClasses} == CONE_OF_NORM
