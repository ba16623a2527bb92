"""Dual bounds in a box, for plans whose value and cost can be worked out by hand."""

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.problem.bounded import certificate
from wdrsvm.problem.bounded.balance import Balance
from wdrsvm.problem.bounded.certificate import _split, bounded_dual_bound
from wdrsvm.problem.bounded.masses import with_ones
from wdrsvm.problem.bounded.plan_sums import PairPlan
from wdrsvm.problem.certificate.tilts import solve_dense

# Pairs (winner, label): (1, 0) and (0, 1).
WINNER, LABEL = np.array([1, 0]), np.array([0, 1])
NORMS = ["l1", "l2", "linf"]


def two_rows(radius, norm="l1", label_cost=np.inf, columns=1, **shape):
    """A row of class 0 at 0, one of class 1 at 1, in the unit box."""
    X = np.repeat([[0.0], [1.0]], columns, axis=1)
    shape = {"support": (0.0, 1.0), **shape}
    ball = WassersteinBall(radius, label_cost, norm, **shape)
    return RobustProblem.of(X, np.array([0, 1]), np.array([0.5, 0.5]), ball, 2)


def to_the_middle(size=0.5, columns=1, mass=0.5):
    """Each row's mass is moved half of the way to the other, and loses there."""
    moved = np.full((2, columns), size * mass)
    return PairPlan(WINNER, LABEL, mass * np.eye(2), moved * [[1.0], [-1.0]], [])


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("cost", [1.0, 3.0])
@pytest.mark.parametrize(("radius", "share"), [(0.5, 1.0), (0.25, 0.5), (9.0, 1.0)])
def test_rows_that_meet_cannot_be_told_apart(radius, share, cost, norm):
    """Both move by a half, so that the way costs 2 * 0.5 * 0.5 and no one wins."""
    problem = two_rows(radius * cost, norm, feature_cost=[cost])
    assert bounded_dual_bound(problem, to_the_middle()) == pytest.approx(share)


@pytest.mark.parametrize(("norm", "length"), [("l1", 4.0), ("l2", 2.0), ("linf", 1.0)])
def test_the_way_is_as_long_as_the_norm_says(norm, length):
    problem = two_rows(0.25, norm, columns=4)
    bound = bounded_dual_bound(problem, to_the_middle(columns=4))
    assert bound == pytest.approx(min(1.0, 0.5 / length))


def test_mass_above_the_weight_and_moves_beyond_the_box_are_cut():
    problem = two_rows(0.5)
    plan = to_the_middle()
    found = bounded_dual_bound(problem, plan._replace(mass=4 * plan.mass))
    assert found == pytest.approx(1.0)
    # All the way: the rows change places, which tells them apart as before.
    beyond = bounded_dual_bound(problem, to_the_middle(size=7.0))
    assert 0.0 <= beyond <= 1.0 + 1e-12


def test_a_plan_that_is_balanced_well_is_not_balanced_again(monkeypatch):
    def attempts(balance):
        yield balance.rebalanced()
        pytest.fail("another attempt, after one that keeps the whole value")

    monkeypatch.setattr(certificate, "_attempts", attempts)
    assert bounded_dual_bound(two_rows(0.5), to_the_middle()) == pytest.approx(1.0)


def test_a_plan_with_less_mass_proves_less():
    assert bounded_dual_bound(two_rows(0.5), to_the_middle(mass=0.2)) == pytest.approx(0.4)


def test_negative_mass_is_none():
    plan = to_the_middle()
    mass = plan.mass - 0.3 * (1 - np.eye(2))
    found = bounded_dual_bound(two_rows(0.5), plan._replace(mass=mass))
    assert found == pytest.approx(1.0)


@pytest.mark.parametrize(("radius", "share"), [(0.4, 1.0), (0.1, 0.25)])
def test_flipped_labels_pay_their_price(radius, share):
    """Half of each row is given the other's label: no classifier tells halves apart."""
    half = np.full((2, 2), 0.25)
    plan = PairPlan(WINNER, LABEL, half, np.zeros((2, 1)), [])
    problem = two_rows(radius, label_cost=0.8)
    # Four quarters of mass, two of them flipped at 0.8 each.
    assert bounded_dual_bound(problem, plan) == pytest.approx(share)


def test_labels_that_cannot_be_had_carry_nothing():
    half = np.full((2, 2), 0.25)
    plan = PairPlan(WINNER, LABEL, half, np.zeros((2, 1)), [])
    assert bounded_dual_bound(two_rows(0.4), plan) <= 0.5


def test_moves_without_an_end_need_no_mass_but_pay():
    """A feature that only class 1 shows is cancelled from outside of the box's ends."""
    problem = two_rows(1.0, support=(0.0, np.inf))
    plan = PairPlan(WINNER, LABEL, 0.5 * np.eye(2), np.array([[0.5], [0.0]]), [])
    # What pair (1, 0) lacks, half a unit, escapes there: both pull with 0.5 then.
    assert bounded_dual_bound(problem, plan) == pytest.approx(1.0)
    poor = two_rows(0.125, support=(0.0, np.inf))
    assert bounded_dual_bound(poor, plan) == pytest.approx(0.25)


@pytest.mark.parametrize(("radius", "share"), [(0.6, 1.0), (0.15, 0.25)])
def test_switched_categories_pay_their_price(radius, share):
    """Category and class are one; half of each row's mass switches at 1.2."""
    X = np.eye(2)
    ball = WassersteinBall(radius, categorical=[([0, 1], 1.2)])
    problem = RobustProblem.of(X, np.array([0, 1]), np.array([0.5, 0.5]), ball, 2)
    switched = np.zeros((2, 2, 2))
    switched[0, 0, 1] = switched[1, 1, 0] = 0.25
    plan = PairPlan(WINNER, LABEL, 0.5 * np.eye(2), np.zeros((2, 2)), [switched])
    assert bounded_dual_bound(problem, plan) == pytest.approx(share)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("norm", NORMS)
def test_no_plan_proves_more_than_a_classifier_has(norm, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(6, 2))
    high = np.array([1.0, np.inf]) if seed % 2 else 1.0
    ball = WassersteinBall(0.2, 0.6, norm, support=(0.0, high))
    problem = RobustProblem.of(X, np.arange(6) % 2, np.full(6, 1 / 6), ball, 2)
    # The constant classifier has risk 1.
    for _ in range(4):
        mass, moved = rng.exponential(size=(2, 6)) / 6, rng.normal(size=(2, 2))
        found = bounded_dual_bound(problem, PairPlan(WINNER, LABEL, mass, moved, []))
        assert 0.0 <= found <= 1.0 + 1e-12


N, K = 7, 5


def mixed_plan(seed, fit_intercept=True):
    """Three classes; a feature without an upper end, a costly one, one that cannot move
    and two categories, one of which cannot be switched.  The plan owes nothing to them."""
    rng = np.random.default_rng(seed)
    X = np.hstack(
        [
            rng.uniform(0.1, 0.9, (N, 3)),
            np.eye(3)[rng.integers(0, 3, N)],
            np.eye(2)[rng.integers(0, 2, N)],
        ]
    )
    X[0, 1] = 1.0  # at its end: no room at all
    low, high = np.zeros(8), np.ones(8)
    high[0] = np.inf
    ball = WassersteinBall(
        0.4,
        np.array([[0.0, 0.5, np.inf], [0.7, 0.0, 0.4], [0.3, 0.6, 0.0]]),
        "l2",
        feature_cost=[0.8, 1.3, np.inf, *np.ones(5)],
        support=(low, high),
        categorical=[([3, 4, 5], 0.6), ([6, 7], np.inf)],
    )
    weight = rng.uniform(0.5, 1.0, N)
    weight /= weight.sum()
    problem = RobustProblem.of(X, rng.integers(0, 3, N), weight, ball, 3, fit_intercept)
    winner, label = np.array([1, 0, 2, 0, 1]), np.array([0, 1, 0, 2, 2])
    mass = rng.normal(0.3, 0.3, (K, N)) * weight
    # As much as a row has, and more than it has.
    mass[:, 1] = weight[1] / K
    mass[:, 2] = weight[2]
    moved = rng.normal(size=(K, 8)) * 0.1
    moved[0, :2] = [0.2, 30.0]  # farther than its room
    switched = rng.normal(0.02, 0.03, (K, 3, 3))
    switched[2, 1] = 9.0  # more than there is
    return problem, PairPlan(winner, label, mass, moved, [switched])


def all_masses(problem, source):
    return source.rows(problem, slice(0, problem.n_rows))


def start_by_hand(problem, plan):
    mass = np.zeros((K, N))
    for k in range(K):
        for n in range(N):
            cost = problem.ball.label_cost[problem.y[n], plan.label[k]]
            mass[k, n] = max(plan.mass[k, n], 0.0) if np.isfinite(cost) else 0.0
    for n in range(N):
        excess = mass[:, n].sum() / problem.weight[n]
        mass[:, n] /= max(excess, 1.0)
    return mass


def shares_by_hand(problem, plan, start):
    """Of the features with ends; the second has one on either side, the first below."""
    share = np.zeros((K, 8))
    for k in range(K):
        for d in (0, 1):
            up = plan.moved[k, d] > 0
            room = 1.0 - problem.X[:, d] if up else problem.X[:, d]
            if not (d == 0 and up):
                part = min(abs(plan.moved[k, d]) / (start[k] @ room), 1.0)
                share[k, d] = part if up else -part
    return share


def switches_by_hand(problem, plan, start):
    share = np.zeros((K, 3, 3))
    for k in range(K):
        for one in range(3):
            held = start[k] @ problem.X[:, 3 + one]
            wanted = np.maximum(plan.switched[0][k, one], 0.0)
            wanted = np.where(problem.X[:, 3:6].any(axis=0), wanted, 0.0)
            if held > 0:
                share[k, one] = wanted / max(held, wanted.sum())
    return share


def places_by_hand(problem, shares, switches, k, n):
    """(x_kn, 1), and the cost of its categories."""
    x = problem.X[n].copy()
    for d in (0, 1):
        room = 1.0 - x[d] if shares[k, d] > 0 else x[d]
        x[d] += shares[k, d] * room
    old = problem.X[n, 3:6].argmax()
    x[3:6] = switches[k, old]
    x[3 + old] += 1 - switches[k, old].sum()
    return np.append(x, [1.0] * problem.fit_intercept), 0.6 * switches[k, old].sum()


def by_hand(problem, plan, mass):
    """Residual, size of its terms, and spending of some masses."""
    start = start_by_hand(problem, plan)
    shares = shares_by_hand(problem, plan, start)
    switches = switches_by_hand(problem, plan, start)
    width = 8 + problem.fit_intercept
    residual, size, spent = np.zeros((3, width)), np.zeros(width), 0.0
    for k, (j, c) in enumerate(zip(plan.winner, plan.label, strict=True)):
        way = np.zeros(8)
        way[0] = max(plan.moved[k, 0], 0.0)
        size[:8] += way
        residual[j, :8] += way
        residual[c, :8] -= way
        for n in range(N):
            x, switching = places_by_hand(problem, shares, switches, k, n)
            residual[j] += mass[k, n] * x
            residual[c] -= mass[k, n] * x
            size += mass[k, n] * np.abs(x)
            way += mass[k, n] * (x[:8] - problem.X[n])
            spent += mass[k, n] * switching
            if mass[k, n] > 0:
                spent += mass[k, n] * problem.ball.label_cost[problem.y[n], c]
        spent += np.linalg.norm(way[:2] * [0.8, 1.3])
    return residual, size, spent


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_sums_and_spending_are_those_of_every_row_and_pair(seed, fit_intercept):
    problem, plan = mixed_plan(seed, fit_intercept)
    balance = Balance(problem, plan)
    start = start_by_hand(problem, plan)
    np.testing.assert_allclose(all_masses(problem, balance.start), start, atol=1e-15)
    other = start * np.random.default_rng(seed).uniform(0.2, 1.0, start.shape)
    for mass in (start, other):
        residual, size, spent = by_hand(problem, plan, mass)
        np.testing.assert_allclose(balance._residual(mass), residual, atol=1e-13)
        np.testing.assert_allclose(balance._system(mass).size, size, atol=1e-13)
        found = balance._spending(balance.totals(mass))
        assert found == pytest.approx(spent, rel=1e-12)
        total = mass.sum()
        assert balance._scaled(mass) == pytest.approx(total * min(1.0, 0.4 / spent))


@pytest.mark.parametrize("seed", range(4))
def test_the_system_is_how_sums_answer_a_tilt(seed):
    problem, plan = mixed_plan(seed)
    balance, rng = Balance(problem, plan), np.random.default_rng(seed)
    mass, tilt, step = balance.start, rng.normal(size=(3, 9)), 1e-6
    system = balance._system(mass).system
    there, back = (
        balance._residual(balance._tilted(mass, sign * step * tilt)) for sign in (1, -1)
    )
    expected = np.einsum("idje,je->id", system, tilt)
    np.testing.assert_allclose((there - back) / (2 * step), expected, atol=1e-8)


@pytest.mark.parametrize("size", [0.1, 1.0, 10.0])
def test_a_tilt_moves_mass_within_its_row(size):
    problem, plan = mixed_plan(0)
    balance, rng = Balance(problem, plan), np.random.default_rng(1)
    mass, tilt = all_masses(problem, balance.start), size * rng.normal(size=(3, 9))
    designs = with_ones(problem, slice(None)) @ balance.lifts
    found = all_masses(problem, balance._tilted(balance.start, tilt))
    for n, weight in enumerate(problem.weight):
        pulls = [
            designs[k][n] @ (tilt[plan.winner[k]] - tilt[plan.label[k]]) for k in range(K)
        ]
        # What carries no pair has no pull.
        masses = np.append(mass[:, n], weight - mass[:, n].sum())
        pulls = np.append(pulls, 0.0)
        moved = masses * np.maximum(1 + pulls - masses @ pulls / weight, 0.0)
        np.testing.assert_allclose(found[:, n], (weight * moved / moved.sum())[:K])


def test_a_tilt_too_violent_for_rounding_leaves_numbers():
    problem = two_rows(0.5)
    balance = Balance(problem, to_the_middle())
    for size in 10.0 ** np.linspace(16, 20, 50):
        tilt = size * np.array([[-1.0, 0.3], [1.0, 0.7]])
        found = all_masses(problem, balance._tilted(balance.start, tilt))
        assert np.isfinite(found).all()
        assert (found >= 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_tilt_that_is_solved_for_removes_the_residual(seed):
    problem, plan = mixed_plan(seed)
    balance = Balance(problem, plan)
    residual, system = balance._residual(balance.start), balance._system(balance.start)[0]
    kept = system.copy()
    wanted = -np.einsum(
        "idje,je->id", system, np.random.default_rng(seed).normal(size=(3, 9))
    )
    tilt = solve_dense(system, -wanted, 1e-12, np.ones(9, dtype=bool))
    np.testing.assert_array_equal(system, kept)
    np.testing.assert_allclose(np.einsum("idje,je->id", system, tilt), -wanted, atol=1e-9)
    # A shift of all classes does nothing, and is not made.
    np.testing.assert_allclose(tilt.sum(axis=0), 0.0, atol=1e-8)
    assert tilt.shape == residual.shape


def test_a_plan_that_is_nearly_balanced_is_made_so():
    """Masses are tilted by as little as it takes, so that hardly anything is lost."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.uniform(size=(10, 2))] * 2)
    y = np.repeat([0, 1], 10)
    ball = WassersteinBall(1.0, support=(0.0, 1.0))
    problem = RobustProblem.of(X, y, np.full(20, 0.05), ball, 2)
    mass = np.where(np.arange(2)[:, None] == y, 0.02, 0.0)
    spoilt = mass * rng.lognormal(sigma=0.02, size=mass.shape)
    for masses in (mass, spoilt):
        plan = PairPlan(WINNER, LABEL, masses, np.zeros((2, 2)), [])
        assert bounded_dual_bound(problem, plan) == pytest.approx(0.4, rel=0.02)


def test_mass_that_cannot_be_tilted_is_loosened_and_proves_what_it_may():
    """A row weighs a trace more than its rival: a trace of flips balances them."""
    ball = WassersteinBall(1.0, 1.0, support=(0.0, 1.0))
    weight = np.array([0.5 + 1e-10, 0.5 - 1e-10])
    problem = RobustProblem.of(np.zeros((2, 1)), np.array([0, 1]), weight, ball, 2)
    plan = PairPlan(WINNER, LABEL, np.diag(weight), np.zeros((2, 1)), [])
    assert Balance(problem, plan).bound() is None
    assert bounded_dual_bound(problem, plan) == pytest.approx(1.0, rel=1e-6)
    # Where no label can be had nothing does.
    trusted = RobustProblem.of(
        problem.X, problem.y, weight, WassersteinBall(1.0, support=(0.0, 1.0)), 2
    )
    assert bounded_dual_bound(trusted, plan) == 0.0


def test_a_plan_has_switches_for_every_category_that_can_be_switched():
    problem, plan = mixed_plan(0)
    for switched in ([], 2 * plan.switched):
        with pytest.raises(ValueError, match="zip"):
            bounded_dual_bound(problem, plan._replace(switched=switched))


def told_apart_by_a_category():
    """Category and class are nearly one: the second category's rows hold no mass, while a
    trace of the first category's mass is switched into it."""
    X = np.vstack([np.eye(2)[[0, 0, 0, 0]], np.eye(2)[[1, 1]]])
    y = np.array([0, 0, 1, 1, 1, 1])
    ball = WassersteinBall(0.5, categorical=[([0, 1], 1.0)])
    problem = RobustProblem.of(X, y, np.full(6, 1 / 6), ball, 2)
    mass = np.zeros((2, 6))
    mass[0, :2] = mass[1, 2:4] = 0.1
    switched = np.zeros((2, 2, 2))
    switched[0, 0, 1] = 1e-9
    return problem, PairPlan(WINNER, LABEL, mass, np.zeros((2, 2)), [switched])


def test_switches_that_nothing_balances_are_tilted_away_by_themselves():
    problem, plan = told_apart_by_a_category()
    balance = Balance(problem, plan)
    assert balance.is_poor(balance.bound())
    assert bounded_dual_bound(problem, plan) == pytest.approx(0.4, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_a_split_plan_is_the_same_plan(seed):
    problem, plan = mixed_plan(seed)
    whole = Balance(problem, plan)
    parts = Balance(problem, _split(whole))
    one, other = whole.totals(whole.start), parts.totals(parts.start)
    assert other.moments[:, -1].sum() == pytest.approx(one.moments[:, -1].sum())
    residual = whole._residual(whole.start)
    np.testing.assert_allclose(parts._residual(parts.start), residual, atol=1e-12)
    # The norm of the whole way is at most the sum of the parts'.
    assert whole._spending(one) <= parts._spending(other) + 1e-12
