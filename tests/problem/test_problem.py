"""The robust risk, its subgradient and what the ball can reach, against definitions."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from wdrsvm.problem import LOSSES, RobustProblem, WassersteinBall
from wdrsvm.rows import blocks

from ..agreement.instances import random_problem
from .cases import SEEDS, classifier_for, costs_by_hand, far_problem, value_by_hand

DUAL_ORDER = {"l1": np.inf, "l2": 2, "linf": 1}


def reachable_by_hand(problem):
    cost = costs_by_hand(problem)[problem.weight > 0]
    return np.isfinite(cost).any(axis=0)


def modulus_by_hand(problem, coef):
    touchable = np.isfinite(problem.feature_cost)
    scaled = coef[:, touchable] / problem.feature_cost[touchable]
    order, reachable = DUAL_ORDER[problem.ball.norm], reachable_by_hand(problem)
    return max(
        np.linalg.norm(scaled[i] - scaled[j], order) if scaled.size else 0.0
        for i, j in permutations(range(problem.n_classes), 2)
        if reachable[j]
    )


def risk_by_hand(problem, coef, intercept):
    """The least of F over lam, which is piecewise linear: every kink is tried."""
    losses = problem.loss.of_labels(problem.X @ coef.T + intercept)
    cost = costs_by_hand(problem)
    floor = modulus_by_hand(problem, coef)
    kinks = {floor}
    for row, price in zip(losses, cost, strict=True):
        for a, b in permutations(np.flatnonzero(np.isfinite(price)), 2):
            if price[a] > price[b]:
                kinks.add((row[a] - row[b]) / (price[a] - price[b]))
    return min(value_by_hand(problem, coef, intercept, k) for k in kinks if k >= floor)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", SEEDS)
def test_risk_is_the_minimum_over_the_multiplier(seed, loss):
    problem = replace(random_problem(seed), loss=LOSSES[loss])
    for scale in (1.0, 0.05):
        coef, intercept = classifier_for(problem, seed)
        found = problem.risk(scale * coef, scale * intercept)
        expected = risk_by_hand(problem, scale * coef, scale * intercept)
        assert found.value == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_multiplier_returned_attains_the_risk(seed):
    problem = random_problem(seed)
    coef, intercept = classifier_for(problem, seed)
    value, lam = problem.risk(coef, intercept)
    assert lam >= modulus_by_hand(problem, coef) * (1 - 1e-12)
    assert value_by_hand(problem, coef, intercept, lam) == pytest.approx(value, rel=1e-10)


def unit_moves(problem, coef):
    """For each ordered pair of classes the unit move that helps the first most."""
    cost, moves = problem.feature_cost, []
    for i, j in permutations(range(problem.n_classes), 2):
        slope = np.where(np.isfinite(cost), (coef[i] - coef[j]) / cost, 0.0)
        if problem.ball.norm == "l1":
            move = np.sign(slope) * (np.arange(len(slope)) == np.abs(slope).argmax())
        elif problem.ball.norm == "l2":
            move = slope / np.linalg.norm(slope)
        else:
            move = np.sign(slope)
        moves.append(move / np.where(np.isfinite(cost), cost, 1.0))
    return moves


def worst_risk_of_atoms(problem, coef, intercept, distance):
    """The worst distribution on explicit atoms, found by linear programming.

    Each row may stay or go far along each unit move, and carry each label.
    """
    losses, costs, rows = [], [], []
    places = [(0.0, np.zeros(problem.n_features))]
    places += [(distance, distance * move) for move in unit_moves(problem, coef)]
    label_cost = costs_by_hand(problem)
    for length, move in places:
        scores = (problem.X + move) @ coef.T + intercept
        price = length + label_cost
        n, c = np.nonzero(np.isfinite(price))
        losses.append(problem.loss.of_labels(scores)[n, c])
        costs.append(price[n, c])
        rows.append(n)
    row = np.concatenate(rows)
    found = linprog(
        -np.concatenate(losses),
        A_ub=np.concatenate(costs)[None],
        b_ub=[problem.radius],
        A_eq=(row == np.arange(problem.n_rows)[:, None]).astype(float),
        b_eq=problem.weight,
    )
    return -found.fun


@pytest.mark.parametrize("norm", list(DUAL_ORDER))
@pytest.mark.parametrize(
    ("label_cost", "feature_cost", "trust"),
    [
        (np.inf, None, None),
        (0.4, None, [1.0, 0.5, np.inf, 2.0, 0.0]),
        (0.4, [0.5, np.inf, 2.0], None),
        ([[0, 0.2, 1.5], [np.inf, 0, 0.7], [0.1, 0, 0]], [2.0, 1.0, 0.3], None),
    ],
)
def test_risk_is_that_of_the_worst_explicit_atoms(norm, label_cost, feature_cost, trust):
    rng = np.random.default_rng(3)
    problem = RobustProblem.of(
        X=rng.normal(size=(5, 3)),
        y=np.array([0, 1, 2, 0, 1]),
        weight=np.array([0.1, 0.3, 0.2, 0.15, 0.25]),
        ball=WassersteinBall(0.2, label_cost, norm, feature_cost),
        n_classes=3,
        label_trust=None if trust is None else np.array(trust),
    )
    coef, intercept = classifier_for(problem)
    for scale in (1.0, 0.1):
        value = problem.risk(scale * coef, scale * intercept).value
        atoms = worst_risk_of_atoms(problem, scale * coef, scale * intercept, 1e5)
        assert atoms <= value * (1 + 1e-9)
        assert atoms == pytest.approx(value, rel=2e-5)


def test_a_verified_label_stays_even_where_flips_are_free():
    problem = random_problem(0)
    free = WassersteinBall(0.1, 0.0)
    trust = np.full(problem.n_rows, np.inf)
    verified = replace(problem, ball=free).with_rows(label_trust=trust)
    trusted = replace(problem, ball=WassersteinBall(0.1)).with_rows(label_trust=None)
    point = classifier_for(problem)
    assert verified.risk(*point) == trusted.risk(*point)


def test_an_impossible_flip_stays_so_for_a_worthless_label():
    cost = np.array([[0.0, np.inf], [0.0, 0.0]])
    problem = RobustProblem.of(
        np.zeros((2, 1)), np.arange(2), np.full(2, 0.5), WassersteinBall(0.1, cost), 2,
        label_trust=np.zeros(2),
    )  # fmt: skip
    np.testing.assert_array_equal(problem.flip_cost(), [[np.inf, np.inf], [0.0, np.inf]])


@pytest.mark.parametrize("seed", SEEDS)
def test_reachable_labels_are_carried_or_can_be_given(seed):
    problem = random_problem(seed)
    gone = problem.y == problem.n_classes - 1
    weight = np.where(gone, 0.0, problem.weight)
    partial = problem.with_rows(weight=weight / weight.sum())
    np.testing.assert_array_equal(partial.reachable, reachable_by_hand(partial))


def test_a_row_without_weight_gives_no_label():
    """Only the second row could be given label 2, and it carries no mass."""
    cost = np.array([[0.0, 1.0, np.inf], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    rows = np.zeros((2, 1)), np.arange(2), np.array([1.0, 0.0])
    for trust in (None, np.ones(2)):
        problem = RobustProblem.of(*rows, WassersteinBall(1.0, cost), 3, label_trust=trust)
        np.testing.assert_array_equal(problem.reachable, [True, True, False])


def test_an_absent_class_counts_only_as_a_winner():
    """Rows of label 0; classes 1 and 2 can win, but no mass carries their labels."""
    problem = RobustProblem.of(
        np.zeros((1, 1)), np.zeros(1, int), np.ones(1), WassersteinBall(1.0), 3
    )
    coef = np.array([[0.0], [3.0], [-4.0]])
    assert problem.modulus(coef) == 4.0


@pytest.mark.parametrize("seed", SEEDS)
def test_risk_is_concave_and_never_falls_with_the_radius(seed):
    problem = random_problem(seed)
    point = classifier_for(problem)
    radii = np.linspace(0, 2, 9)
    risks = np.array([problem.with_radius(radius).risk(*point).value for radius in radii])
    assert (np.diff(risks) >= -1e-12).all()
    assert (np.diff(risks, 2) <= 1e-10 * risks.max()).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_risk_never_rises_with_the_label_cost(seed):
    problem = random_problem(seed)
    point = classifier_for(problem)
    cost = problem.label_cost
    dearer = [
        replace(problem, ball=replace(problem.ball, label_cost=price)).risk(*point).value
        for price in (np.zeros_like(cost), cost, 2 * cost, cost + (cost > 0), np.inf)
    ]
    assert dearer[0] >= dearer[1] - 1e-12
    assert dearer[1] >= max(dearer[2:4]) - 1e-12
    assert min(dearer[2:4]) >= dearer[4] - 1e-12


@pytest.mark.parametrize("factor", [1e-3, 7.0])
@pytest.mark.parametrize("seed", range(10))
def test_units_of_the_features_do_not_matter(seed, factor):
    problem = random_problem(seed)
    coef, intercept = classifier_for(problem)
    ball = replace(
        problem.ball, radius=factor * problem.radius, label_cost=factor * problem.label_cost
    )
    scaled = replace(problem, ball=ball).with_rows(X=factor * problem.X)
    before, after = problem.risk(coef, intercept), scaled.risk(coef / factor, intercept)
    assert after.value == pytest.approx(before.value, rel=1e-10)
    assert after.lam == pytest.approx(before.lam / factor, rel=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_a_shift_of_all_classes_does_not_matter(seed):
    problem = random_problem(seed)
    coef, intercept = classifier_for(problem)
    shift = np.random.default_rng(seed).normal(size=problem.n_features)
    after = problem.risk(coef + shift, intercept + 0.7)
    assert after.value == pytest.approx(problem.risk(coef, intercept).value, rel=1e-11)


@pytest.mark.parametrize("seed", range(10))
def test_blocks_and_sparse_rows_give_the_same(seed, monkeypatch):
    problem = random_problem(seed)
    coef, intercept = classifier_for(problem)
    expected = problem.risk(coef, intercept), problem.subgradient(coef, intercept, 0.3)
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 20)
    for X in (problem.X, sparse.csr_array(problem.X)):
        parts = problem.with_rows(X=X)
        assert len(list(parts.blocks())) > 1
        assert parts.risk(coef, intercept) == pytest.approx(expected[0], rel=1e-12)
        found = parts.subgradient(coef, intercept, 0.3)
        np.testing.assert_allclose(found.coef, expected[1].coef, atol=1e-12)
        np.testing.assert_allclose(found.intercept, expected[1].intercept, atol=1e-12)
        assert found.lam == pytest.approx(expected[1].lam)
        np.testing.assert_array_equal(parts.reachable, problem.reachable)


def test_blocks_cover_every_row_once(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 50)
    problem = random_problem(0)
    covered = np.concatenate([np.arange(problem.n_rows)[b] for b in problem.blocks()])
    np.testing.assert_array_equal(covered, np.arange(problem.n_rows))


def test_blocks_hold_the_scores_of_all_pairs_where_the_ball_is_bounded(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 36)
    for support, n_scores in ((None, 3), ((0.0, 1.0), 3 * 3)):
        ball = WassersteinBall(0.1, support=support)
        problem = RobustProblem.of(
            np.zeros((12, 2)), np.arange(12) % 3, np.full(12, 1 / 12), ball, 3
        )
        sizes = [rows.stop - rows.start for rows in problem.blocks()]
        assert max(sizes) * n_scores <= blocks.BLOCK_ENTRIES
        assert len(sizes) == -(-12 * n_scores // blocks.BLOCK_ENTRIES)


def test_without_a_budget_only_what_is_free_is_attainable():
    ball = WassersteinBall(0.0, [[0.0, 0.0], [1.0, 0.0]])
    problem = RobustProblem.of(np.eye(2), np.arange(2), np.full(2, 0.5), ball, 2)
    np.testing.assert_array_equal(
        problem.attainable_flip_cost(), [[np.inf, 0.0], [np.inf, np.inf]]
    )
    assert np.isinf(problem.attainable_feature_cost()).all()
    richer = problem.with_radius(1e-9)
    np.testing.assert_array_equal(richer.attainable_flip_cost(), richer.flip_cost())
    np.testing.assert_array_equal(richer.attainable_feature_cost(), 1.0)


def test_with_radius_changes_nothing_else():
    problem = random_problem(4)
    other = problem.with_radius(0.123)
    assert other.radius == 0.123
    np.testing.assert_array_equal(other.label_cost, problem.label_cost)
    np.testing.assert_array_equal(other.feature_cost, problem.feature_cost)
    assert other.ball.norm == problem.ball.norm


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


def test_flips_of_many_blocks_are_those_of_one(monkeypatch):
    problem = random_problem(2)
    at = classifier_for(problem)
    whole = problem.flip_choices(*at)
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 20)
    assert len([*problem.blocks()]) > 3
    parts = problem.flip_choices(*at)
    np.testing.assert_allclose(parts.loss, whole.loss, atol=1e-14)
    np.testing.assert_array_equal(parts.label, whole.label)
    # A row's flips stand in the order of the climb, wherever the row's block begins.
    for n in np.unique(whole.flips.row):
        one, other = (found.flips.row == n for found in (parts, whole))
        np.testing.assert_array_equal(parts.flips.label[one], whole.flips.label[other])


def test_the_middle_counts_where_columns_are_ten_times_as_far_as_they_are_wide(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 4)
    # From 19 to 21 wide 2: the middle is 20 away, ten times as far, not more.
    X = np.array([[19.0, -19.5, 5.0], [20.0, -20.0, 5.0], [21.0, -20.5, 5.0]])
    problem = RobustProblem.of(
        X, np.arange(3), np.full(3, 1 / 3), WassersteinBall(0.1), n_classes=3
    )
    assert len([*problem.blocks()]) == 3
    assert problem.centre.tolist() == [0.0, -20.0, 5.0]
    for other in (replace(problem, fit_intercept=False), problem.take(np.arange(0))):
        assert other.centre.tolist() == [0.0] * 3
    assert problem.with_rows(X=sparse.csr_array(X)).centre.tolist() == [0.0] * 3
    coef, intercept = classifier_for(problem)
    plain = X @ coef.T + intercept
    np.testing.assert_allclose(problem.scores(coef, intercept), plain, atol=1e-12)
    np.testing.assert_allclose(problem.scores(coef, intercept, slice(1, 2)), plain[1:2])


def test_the_middle_of_large_numbers_does_not_overflow():
    X = np.array([[1.7e308], [1.6e308]])
    problem = RobustProblem.of(X, np.arange(2), np.full(2, 0.5), WassersteinBall(0.1), 2)
    assert problem.centre == pytest.approx(1.65e308)


def test_narrow_numbers_are_counted_as_floats():
    X = np.arange(12, dtype=np.int8).reshape(4, 3) * 10
    problem = RobustProblem.of(
        X, np.arange(4) % 2, np.full(4, 0.25), WassersteinBall(0.1), 2
    )
    wide = problem.with_rows(X=X.astype(np.float64))
    assert problem.features(slice(1, 3)).dtype == np.float64
    assert wide.features(slice(None)).base is wide.X
    at = classifier_for(wide)
    assert problem.risk(*at) == wide.risk(*at)
    np.testing.assert_array_equal(blocks.scores_of(X, *at), wide.scores(*at))


def test_scores_are_the_same_block_by_block(monkeypatch):
    problem = random_problem(3)
    at = classifier_for(problem)
    expected = problem.X @ at[0].T + at[1]
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 20)
    for X in (problem.X, sparse.csr_array(problem.X)):
        np.testing.assert_allclose(blocks.scores_of(X, *at), expected, atol=1e-12)


def test_rows_are_taken_with_all_that_is_theirs():
    problem = random_problem(3)
    trust = np.linspace(0.5, 1.0, problem.n_rows)
    for given in (None, trust):
        problem = problem.with_rows(label_trust=given)
        taken = problem.take(np.array([4, 1]))
        np.testing.assert_array_equal(taken.X, problem.X[[4, 1]])
        np.testing.assert_array_equal(taken.y, problem.y[[4, 1]])
        np.testing.assert_array_equal(taken.weight, problem.weight[[4, 1]])
        expected = None if given is None else trust[[4, 1]]
        np.testing.assert_array_equal(taken.label_trust, expected)
    assert not problem.is_distributed
    assert problem.by_chunks(lambda part: part.take([0])).n_rows == 1


def test_idle_rows_are_left_out():
    problem = random_problem(3)
    assert problem.without_idle_rows() is problem
    weight = problem.weight.copy()
    weight[[0, 2]] = 0.0
    busy = problem.with_rows(weight=weight).without_idle_rows()
    np.testing.assert_array_equal(busy.X, np.delete(problem.X, [0, 2], axis=0))
    assert busy.weight.all()


@pytest.mark.parametrize("seed", range(8))
def test_a_table_of_flip_costs_has_them_all(seed):
    problem = random_problem(seed)
    rows = slice(1, problem.n_rows - 1)
    for case in (problem, problem.with_rows(label_trust=None), problem.with_radius(0.0)):
        for some in (slice(None), rows):
            table, line = case.flip_cost_table(some)
            np.testing.assert_array_equal(table[line], case.attainable_flip_cost(some))
        hand = costs_by_hand(case)
        hand[np.arange(case.n_rows), case.y] = np.inf
        np.testing.assert_allclose(case.flip_cost(), hand)
        np.testing.assert_array_equal(case.flip_cost(rows), case.flip_cost()[rows])


def test_a_category_costs_what_switching_does():
    ball = WassersteinBall(
        0.1, feature_cost=[1.0, 2.0, 3.0, 4.0], categorical=[([1, 3], 0.5)]
    )
    X = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    problem = RobustProblem.of(X, np.arange(2), np.full(2, 0.5), ball, 2)
    assert problem.feature_cost.tolist() == [1.0, 0.5, 3.0, 0.5]
    assert ball.feature_cost.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert problem.is_bounded
    assert not problem.with_radius(0.0).is_bounded
    assert problem.moves is problem.moves
    smooth = replace(problem, loss=LOSSES["logistic"])
    classifier = classifier_for(problem)
    free = replace(smooth, ball=replace(ball, categorical=None))
    risks = [
        each.risk(*classifier).value for each in (smooth.with_radius(0.0), smooth, free)
    ]
    assert risks == sorted(risks)
    assert risks[0] < risks[1]


def test_the_triangle_bound_goes_by_the_name_of_a_norm():
    problem = random_problem(3, norm="l2")
    assert problem.norm == "l2"
    triangle = replace(problem, lipschitz="triangle")
    assert triangle.norm == "triangle"
    coef, _ = classifier_for(problem)
    assert triangle.modulus(coef) >= problem.modulus(coef)


def test_a_problem_knows_what_its_adversary_can_do():
    problem = random_problem(3)
    for cost, trusts in ((np.inf, True), (1.0, False)):
        ball = WassersteinBall(0.1, cost)
        assert replace(problem, ball=ball).trusts_labels is trusts
    box = WassersteinBall(0.1, support=(-9.0, 9.0))
    assert (box.is_bounded, ball.is_bounded) == (True, False)
    assert box.unbounded().is_bounded is False
    assert problem.is_distributed is False
    assert problem.rows.are_distributed is False
