"""The robust risk, its subgradient and what the ball can reach, against definitions."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from wdrsvm.problem import LOSSES, RobustProblem, WassersteinBall
from wdrsvm.problem.label_flips import flip_envelope
from wdrsvm.rows import blocks

from ..agreement.instances import random_problem
from .costs import costs_by_hand

SEEDS = range(30)
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


def value_by_hand(problem, coef, intercept, lam):
    """F(M, b, lam) from its definition."""
    losses = problem.loss.of_labels(problem.X @ coef.T + intercept)
    cost = costs_by_hand(problem)
    possible = np.isfinite(cost)
    pieces = np.where(possible, losses - lam * np.where(possible, cost, 0.0), -np.inf)
    return problem.radius * lam + problem.weight @ pieces.max(axis=1)


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


def classifier_for(problem, seed=0):
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(problem.n_classes, problem.n_features))
    return coef, rng.normal(size=problem.n_classes)


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


def test_flips_on_one_line_are_one_flip():
    losses, cost = np.array([[0.5, 1.5, 2.5, 1.0]]), np.array([[np.inf, 1.0, 2.0, 3.0]])
    kept, _, flips = flip_envelope(losses, np.array([0]), cost)
    np.testing.assert_array_equal(kept, [0.5])
    assert [part.tolist() for part in flips] == [[0], [2], [2.0], [2.0]]
    np.testing.assert_array_equal(flips.rate, [1.0])


def test_flips_climb_the_concave_envelope():
    """A cheap good flip, then a dear better one; what lies below them is left out."""
    losses = np.array([[0.0, 2.0, 1.0, 3.0, 0.2]])
    cost = np.array([[np.inf, 1.0, 2.0, 4.0, 0.0]])
    kept, _, flips = flip_envelope(losses, np.array([0]), cost)
    np.testing.assert_array_equal(kept, [0.2])
    np.testing.assert_array_equal(flips.label, [1, 3])
    np.testing.assert_array_equal(flips.cost, [1.0, 3.0])
    np.testing.assert_allclose(flips.gain, [1.8, 1.0])


def test_an_absent_class_counts_only_as_a_winner():
    """Rows of label 0; classes 1 and 2 can win, but no mass carries their labels."""
    problem = RobustProblem.of(
        np.zeros((1, 1)), np.zeros(1, int), np.ones(1), WassersteinBall(1.0), 3
    )
    coef = np.array([[0.0], [3.0], [-4.0]])
    assert problem.modulus(coef) == 4.0


def random_points(problem, n_points):
    for seed in range(n_points):
        coef, intercept = classifier_for(problem, seed)
        yield coef, intercept, abs(np.random.default_rng(seed).normal())


@pytest.mark.parametrize("seed", SEEDS)
def test_subgradient_is_the_slope_off_the_kinks(seed):
    problem = random_problem(seed)
    rng = np.random.default_rng(seed)
    for coef, intercept, lam in random_points(problem, 3):
        found = problem.subgradient(coef, intercept, lam)
        d_coef, d_intercept = rng.normal(size=coef.shape), rng.normal(size=len(intercept))
        d_lam, h = rng.normal(), 1e-7
        ends = [
            value_by_hand(
                problem, coef + t * d_coef, intercept + t * d_intercept, lam + t * d_lam
            )
            for t in (-h, h)
        ]
        slope = np.vdot(found.coef, d_coef) + found.intercept @ d_intercept
        slope += found.lam * d_lam
        assert (ends[1] - ends[0]) / (2 * h) == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_subgradient_supports_the_objective(seed):
    problem = random_problem(seed)
    points = list(random_points(problem, 4))
    zero = (np.zeros_like(points[0][0]), np.zeros(problem.n_classes), 0.0)
    for here, there in permutations([zero, *points], 2):
        found = problem.subgradient(*here)
        rise = np.vdot(found.coef, there[0] - here[0])
        rise += found.intercept @ (there[1] - here[1]) + found.lam * (there[2] - here[2])
        before, after = (value_by_hand(problem, *point) for point in (here, there))
        assert after >= before + rise - 1e-9 * (1 + abs(before) + abs(after))


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
