"""Risks in boxes from their definition: one convex function of lam, piece by piece."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.rows import blocks

NORMS = ["l1", "l2", "linf"]
LABEL_COST = np.array([[0.0, 0.4, np.inf], [0.7, 0.0, 0.5], [0.6, 0.9, 0.0]])


def problem_in_a_box(norm="l1", seed=0, radius=0.1, endless=False, **changes):
    """Two numeric features, one untouchable, and a category of three."""
    rng = np.random.default_rng(seed)
    y = np.arange(9) % 3
    numeric = np.clip(np.eye(3)[y] + 0.3 * rng.normal(size=(9, 3)), -0.5, 1.5)
    X = np.hstack([numeric, np.eye(3)[rng.integers(0, 3, 9)]])
    high = np.full(6, 1.5)
    high[0] = np.inf if endless else 1.5
    ball = WassersteinBall(
        radius,
        LABEL_COST,
        norm,
        feature_cost=np.array([0.8, 1.3, np.inf, 1.0, 1.0, 1.0]),
        support=(np.full(6, -0.5), high),
        categorical=[([3, 4, 5], 0.3)],
    )
    weight = rng.exponential(size=9)
    settings = {"ball": ball, "n_classes": 3, **changes}
    return RobustProblem.of(X, y, weight / weight.sum(), **settings)


def classifier(seed=0, n_features=6):
    rng = np.random.default_rng(100 + seed)
    return rng.normal(size=(3, n_features)), rng.normal(size=3)


def moves_of(problem, n):
    """Every end that row n can go to under l1, with its cost."""
    cost = problem.ball.feature_costs(6)
    ends = [[problem.X[n, d], -0.5, 1.5] for d in (0, 1)]
    for first, second, category in itertools.product(*ends, range(3)):
        x = np.r_[first, second, problem.X[n, 2], np.eye(3)[category]]
        paid = np.abs(x - problem.X[n])[:2] @ cost[:2]
        yield x, paid + 0.3 * (x[3:] != problem.X[n, 3:]).any()


def risk_at(problem, coef, intercept, lam):
    """F(lam) for l1 transport, by looking at every label, winner and end."""
    total = problem.radius * lam
    for n, (y, weight) in enumerate(zip(problem.y, problem.weight, strict=True)):
        best = 0.0
        for x, paid in moves_of(problem, n):
            scores = coef @ x + intercept
            for c in np.flatnonzero(np.isfinite(LABEL_COST[y])):
                loss = (scores + 1 - (np.arange(3) == c)).max() - scores[c]
                best = max(best, loss - lam * (paid + LABEL_COST[y, c]))
        total += weight * best
    return total


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("lam", [0.0, 0.2, 1.0, 5.0])
def test_a_plan_has_the_value_of_the_best_ends(seed, lam):
    problem = problem_in_a_box(seed=seed)
    coef, intercept = classifier(seed)
    plan = problem.moves.plan(coef, intercept, lam)
    value = problem.radius * lam + plan.loss - lam * plan.cost
    assert value == pytest.approx(risk_at(problem, coef, intercept, lam), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("radius", [0.02, 0.1, 1.0])
def test_the_risk_is_the_least_value_over_lam(seed, radius):
    problem = problem_in_a_box(seed=seed, radius=radius)
    coef, intercept = classifier(seed)
    found = problem.risk(coef, intercept)
    at = risk_at(problem, coef, intercept, found.lam)
    assert found.value == pytest.approx(at, rel=1e-9)
    for lam in np.linspace(0.0, 2 * found.lam + 0.1, 15):
        assert found.value <= risk_at(problem, coef, intercept, lam) * (1 + 1e-12)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("radius", [0.02, 0.3, 20.0])
@pytest.mark.parametrize("endless", [False, True])
def test_worst_plans_spend_the_budget_and_have_the_risk(norm, radius, endless):
    problem = problem_in_a_box(norm, radius=radius, endless=endless)
    coef, intercept = classifier()
    worst = problem.moves.worst_plans(coef, intercept)
    plans, share = worst.plans, np.array(worst.share)
    assert share.sum() == pytest.approx(1.0)
    assert (share >= 0).all()
    spent = share @ [plan.cost for plan in plans] + worst.left
    assert spent == pytest.approx(radius, rel=1e-9)
    loss = share @ [plan.loss for plan in plans] + worst.lam * worst.left
    assert loss == pytest.approx(worst.risk, rel=1e-9)
    assert worst.risk == problem.risk(coef, intercept).value


@pytest.mark.parametrize("norm", NORMS)
def test_the_risk_of_rows_in_blocks_is_that_of_all_rows(norm, monkeypatch):
    problem, at = problem_in_a_box(norm), classifier()
    expected = problem.risk(*at)
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 12)
    assert problem_in_a_box(norm).risk(*at) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("norm", NORMS)
def test_moved_rows_cost_what_the_plan_says_and_gain_what_it_promises(norm):
    problem = problem_in_a_box(norm)
    coef, _ = classifier(2)
    slope, lam = coef[1] - coef[0], 0.2
    places, cost = problem.moves.moved(slope, lam)
    assert (places >= -0.5).all()
    assert (places <= 1.5).all()
    np.testing.assert_array_equal(places[:, 2], problem.X[:, 2])
    gain = (places - problem.X) @ slope - lam * cost
    np.testing.assert_allclose(gain, problem.moves.gain(slope, lam), atol=1e-12)
    switched = (places[:, 3:] != problem.X[:, 3:]).any(axis=1)
    step = (places - problem.X)[:, :2] * [0.8, 1.3]
    order = {"l1": 1, "l2": 2, "linf": np.inf}[norm]
    expected = np.linalg.norm(step, order, axis=1) + 0.3 * switched
    np.testing.assert_allclose(cost, expected, atol=1e-12)
    assert switched.any()
    assert step.any()


@pytest.mark.parametrize("norm", NORMS)
def test_escaping_pays_only_through_an_open_side(norm):
    coef, _ = classifier()
    closed = problem_in_a_box(norm).moves
    assert not closed.escape_rates(coef).any()
    assert closed.least_lam(coef) == 0.0
    rates = problem_in_a_box(norm, endless=True).moves.escape_rates(coef)
    rise = coef[:, None, 0] - coef[None, :, 0]
    np.testing.assert_allclose(rates, np.maximum(rise, 0.0) / 0.8)


def test_least_lam_is_the_largest_rate_towards_a_label_that_can_be_had():
    coef = np.zeros((3, 6))
    coef[0, 0], coef[2, 0] = 1.0, -4.0
    problem = problem_in_a_box(endless=True)
    assert problem.moves.least_lam(coef) == pytest.approx(5 / 0.8)
    # Label 2 is neither present nor reachable: winning over it is worth nothing.
    present = problem.y != 2
    cost = LABEL_COST.copy()
    cost[:2, 2] = np.inf
    few = problem.with_rows(
        X=problem.X[present],
        y=problem.y[present],
        weight=np.full(6, 1 / 6),
    )
    few = replace(few, ball=replace(problem.ball, label_cost=cost))
    assert few.moves.least_lam(coef) == pytest.approx(1 / 0.8)
    assert set(few.moves.pairs[1]) == {0, 1}


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_the_shared_risk_lies_above_the_risk_for_every_split(norm):
    problem = problem_in_a_box(norm)
    moves, rng = problem.moves, np.random.default_rng(3)
    coef, intercept = classifier(3)
    exact = problem.risk(coef, intercept).value
    winner, label = moves.pairs
    slopes = coef[winner] - coef[label]
    for share in (0.0, 0.5, 1.0, rng.random(slopes.shape)):
        limited = slopes * share
        limited[:, 2:] = 0.0
        shared = moves.shared_risk(coef, intercept, 0.0, limited)
        assert shared.value >= exact - 1e-12
        paid = (slopes - limited)[:, :2] / [0.8, 1.3]
        order = {"l2": 2, "linf": 1}[norm]
        longest = np.linalg.norm(paid, order, axis=1).max()
        assert shared.lam == pytest.approx(longest, abs=1e-15)
    nothing = np.zeros_like(slopes)
    trained = moves.trained_risk(coef, intercept, 0.7)
    assert trained == moves.shared_risk(coef, intercept, 0.7, nothing)


def test_a_box_that_limits_nothing_leaves_the_norm_to_pay():
    """With no limited part and one row the shared risk is explicit."""
    problem = problem_in_a_box("l2", radius=0.2)
    one = problem.with_rows(X=problem.X[:1], y=problem.y[:1], weight=np.ones(1))
    coef, intercept = classifier(4)
    winner, label = one.moves.pairs
    lam = 3.0
    found = one.moves.shared_risk(coef, intercept, lam, np.zeros((len(winner), 6)))
    scores = coef @ one.X[0] + intercept
    lengths = np.linalg.norm((coef[winner] - coef[label])[:, :2] / [0.8, 1.3], axis=1)
    lam = max(lam, lengths.max())
    worst = 0.0
    for j, c in zip(winner, label, strict=True):
        slope = coef[j] - coef[c]
        switch = slope[3:].max() - slope[3:] @ one.X[0, 3:] - lam * 0.3
        loss = scores[j] - scores[c] + 1 + max(switch, 0.0)
        worst = max(worst, loss - lam * LABEL_COST[one.y[0], c])
    assert found == pytest.approx((0.2 * lam + worst, lam))


def test_only_boxes_of_other_norms_share():
    assert not problem_in_a_box("l1").moves.is_shared
    assert problem_in_a_box("l2").moves.is_shared
    ball = replace(problem_in_a_box("l2").ball, support=None)
    assert not problem_in_a_box(ball=ball).moves.is_shared
    # Ends of what cannot move do not count.
    low, high = np.full(6, -np.inf), np.full(6, np.inf)
    low[2], high[3:] = -0.5, 1.5
    ball = replace(ball, support=(low, high))
    assert not problem_in_a_box(ball=ball).moves.is_shared
    high[1] = 1.5
    ball = replace(ball, support=(low, high))
    assert problem_in_a_box(ball=ball).moves.is_shared


def test_sparse_rows_are_the_same_rows():
    problem = problem_in_a_box()
    other = problem.with_rows(X=sparse.csr_array(problem.X))
    assert other.risk(*classifier()) == problem.risk(*classifier())


@pytest.mark.parametrize("value", [0.5, 0.0])
def test_categories_are_one_hot(value):
    problem = problem_in_a_box()
    X = problem.X.copy()
    X[0, 3:] = value
    with pytest.raises(ValueError, match=r"columns \[3, 4, 5\] of X are not"):
        problem.with_rows(X=X).risk(*classifier())


def test_a_row_outside_the_box_is_named():
    problem = problem_in_a_box()
    X = problem.X.copy()
    X[4, 1] = -0.75
    X[5, 2] = 9.0
    with pytest.raises(ValueError, match=r"feature 1 has the value -0.75, outside \[-0.5"):
        problem.with_rows(X=X).risk(*classifier())


def test_the_shared_risk_of_a_split_is_that_of_every_row_and_pair():
    """The box limits what it is given of a slope: room times slope, and no price."""
    problem = problem_in_a_box("l2", radius=0.2)
    moves, rng = problem.moves, np.random.default_rng(5)
    coef, intercept = classifier(5)
    winner, label = moves.pairs
    limited = (coef[winner] - coef[label]) * rng.random((len(winner), 6))
    limited[:, 2:] = 0.0
    limited[0, 0] = 0.0
    lam = 9.0  # more than any length: the norm pays in full
    found = moves.shared_risk(coef, intercept, lam, limited)
    total = 0.2 * lam
    for n, y in enumerate(problem.y):
        worst = 0.0
        scores = coef @ problem.X[n] + intercept
        for j, c, part in zip(winner, label, limited, strict=True):
            slope = coef[j] - coef[c]
            room = np.where(part > 0, 1.5 - problem.X[n], problem.X[n] + 0.5)[:2]
            switch = slope[3:].max() - slope[3:] @ problem.X[n, 3:] - lam * 0.3
            loss = scores[j] - scores[c] + 1 + room @ np.abs(part[:2]) + max(switch, 0.0)
            if np.isfinite(LABEL_COST[y, c]):
                worst = max(worst, loss - lam * LABEL_COST[y, c])
        total += problem.weight[n] * worst
    assert found == pytest.approx((total, lam))


@pytest.mark.parametrize("size", [1.0, 1e6])
@pytest.mark.parametrize("norm", NORMS)
def test_few_tangents_meet_the_risk(norm, size, monkeypatch):
    """Also where the risk is large: rounding is a share of it."""
    problem = problem_in_a_box(norm)
    coef, intercept = classifier(1)
    plan, tangents = type(problem.moves).plan, []
    monkeypatch.setattr(
        type(problem.moves), "plan", lambda *told: tangents.append(0) or plan(*told)
    )
    problem.risk(size * coef, size * intercept)
    assert len(tangents) < 80


@pytest.mark.parametrize("norm", NORMS)
def test_nothing_is_divided_by_zero_on_the_way(norm):
    """Slopes that are zero, features that cannot move, sides without an end."""
    for endless in (False, True):
        problem = problem_in_a_box(norm, endless=endless)
        coef, intercept = classifier(2)
        coef[:, 1] = 0.0
        with np.errstate(divide="raise", invalid="raise", over="raise"):
            worst = problem.moves.worst_plans(coef, intercept)
        assert np.isfinite(worst.risk)


def test_a_switch_that_gains_nothing_is_not_made():
    problem = problem_in_a_box()
    (group,) = problem.moves.groups
    slope = np.zeros(6)
    slope[3:] = [0.0, 0.75, 0.5]
    now = problem.X[:, 3:].argmax(axis=1)
    # At this price switching from the first category just pays, from the last it costs.
    for lam, gain in ((2.5, [0.0, 0.0, 0.0]), (0.5, [0.6, 0.0, 0.1])):
        category, gained = problem.moves.switch(group, slope, lam)
        np.testing.assert_allclose(gained, np.array(gain)[now], atol=1e-15)
        np.testing.assert_array_equal(category, np.where(np.array(gain)[now] > 0, 1, now))
        places, cost = problem.moves.moved(slope, lam)
        np.testing.assert_array_equal(places[:, 3:], np.eye(3)[category])
        np.testing.assert_allclose(cost, np.where(np.array(gain)[now] > 0, 0.3, 0.0))


def test_a_category_that_cannot_be_switched_stays():
    problem = problem_in_a_box(
        ball=replace(problem_in_a_box().ball, categorical=[([3, 4, 5], np.inf)])
    )
    slope = classifier(3)[0][0]
    assert not problem.moves.switch_gain(slope, 0.0).any()
    places, _ = problem.moves.moved(slope, 0.0)
    np.testing.assert_array_equal(places[:, 3:], problem.X[:, 3:])


def test_rooms_and_costs_are_those_of_what_can_move():
    problem = problem_in_a_box(endless=True)
    up, down = problem.moves.room
    assert np.isinf(up[:, 0]).all()
    np.testing.assert_allclose(up[:, 1], 1.5 - problem.X[:, 1])
    np.testing.assert_allclose(down[:, :2], problem.X[:, :2] + 0.5)
    assert not up[:, 2:].any()
    assert not down[:, 2:].any()
    assert problem.moves.cost.tolist() == [0.8, 1.3, *[np.inf] * 4]
    assert problem.feature_cost.tolist() == [0.8, 1.3, np.inf, 0.3, 0.3, 0.3]
    slope = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    assert problem.moves.escape_slope(slope).tolist() == [1.0, 0, 0, 0, 0, 0]
    assert not problem.moves.escape_slope(-slope).any()


def test_a_budget_for_everything_is_left_over():
    """Where every row is at its worst, more budget changes nothing."""
    problem = problem_in_a_box(radius=1e3)
    coef, intercept = classifier(1)
    worst = problem.moves.worst_plans(coef, intercept)
    assert (len(worst.plans), worst.share, worst.lam) == (1, [1.0], 0.0)
    assert worst.left == pytest.approx(1e3 - worst.plans[0].cost)
    assert worst.risk == pytest.approx(worst.plans[0].loss)
    just = problem.with_radius(worst.plans[0].cost)
    assert len(just.moves.worst_plans(coef, intercept).plans) == 1


def test_ends_of_the_box_are_in_it():
    problem = problem_in_a_box()
    X = problem.X.copy()
    X[0, :2], X[1, :2] = -0.5, 1.5
    up, down = problem.with_rows(X=X).moves.room
    assert (down[0, :2].tolist(), up[1, :2].tolist()) == ([0.0, 0.0], [0.0, 0.0])


def test_a_split_has_a_row_for_every_pair():
    moves = problem_in_a_box("l2").moves
    with pytest.raises(ValueError, match="limited must have 6 rows, got 1"):
        moves.shared_risk(*classifier(), 1.0, np.zeros((1, 6)))
