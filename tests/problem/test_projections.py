"""The projection against its definition, and against a conic solver as the judge."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.problem import NORMS, projections
from wdrsvm.problem.norms import incidence, lipschitz
from wdrsvm.problem.projections import project

clarabel = pytest.importorskip("clarabel")

# How near the judge's point must be: linear rows can be sharpened, while a gap of 1e-10
# leaves it 1e-5 of freedom, times the size of the point, where cones are curved.
AGREEMENT = {"l1": 1e-8, "l2": 1e-4, "linf": 1e-8}
SEEDS = range(6)
# Classes, features: the corners of what is asked of the l1 norm, and some between.
L1_SHAPES = [(2, 1), (2, 50), (20, 1), (3, 7), (5, 20), (12, 4), (8, 30)]
OTHER_SHAPES = [(2, 1), (2, 6), (3, 4), (5, 3), (4, 8)]
CASES = [("l1", *shape) for shape in L1_SHAPES]
CASES += [(norm, *shape) for norm in ("l2", "linf") for shape in OTHER_SHAPES]


def random_point(seed, n_classes, n_features):
    """lam of either sign, coefficients, and costs that are all 1 in half of the cases."""
    rng = np.random.default_rng([seed, n_classes, n_features])
    cost = np.ones(n_features) if seed % 2 else rng.uniform(0.3, 3.0, n_features)
    lam = rng.normal() * 10.0 ** rng.integers(-2, 3)
    return lam, rng.normal(size=(n_classes, n_features)) * 3.0, cost


def inner(first, second):
    return first[0] * second[0] + np.vdot(first[1], second[1])


def minus(first, second):
    return first[0] - second[0], first[1] - second[1]


def paper_rows(n_classes, cost):
    """m_d - lam c_d / 2 <= M_id <= m_d + lam c_d / 2; variables lam, M by columns, m."""
    n_features = len(cost)
    on_coef = sparse.eye_array(n_features * n_classes)
    on_middle = sparse.kron(sparse.eye_array(n_features), np.ones((n_classes, 1)))
    half = np.repeat(cost / 2, n_classes)[:, None]
    above = sparse.hstack([-half, on_coef, -on_middle])
    below = sparse.hstack([-half, -on_coef, on_middle])
    return sparse.vstack([above, below]), [clarabel.NonnegativeConeT(2 * on_coef.shape[0])]


def length_rows(n_classes, cost):
    """Second-order cones (lam, (M_i - M_j) / c); variables lam, M by columns."""
    pairs = incidence(n_classes)
    unit = np.eye(len(cost)) / cost
    rows = []
    for pair in pairs:
        rows.append(np.append(-1.0, np.zeros(len(cost) * n_classes)))
        rows += [np.append(0.0, -np.kron(row, pair)) for row in unit]
    cones = [clarabel.SecondOrderConeT(len(cost) + 1)] * len(pairs)
    return sparse.csc_array(np.array(rows)), cones


def absolute_rows(n_classes, cost):
    """sum_d t_pd <= lam, |(M_i - M_j)_d| / c_d <= t_pd; variables lam, M, t."""
    pairs = incidence(n_classes)
    n_pairs, n_features = len(pairs), len(cost)
    size = n_pairs * n_features
    differences = np.kron(np.diag(1 / cost), pairs)
    total = np.kron(np.ones((1, n_features)), np.eye(n_pairs))
    none = np.zeros((n_pairs, n_classes * n_features))
    rows = [
        np.hstack([-np.ones((n_pairs, 1)), none, total]),
        np.hstack([np.zeros((size, 1)), differences, -np.eye(size)]),
        np.hstack([np.zeros((size, 1)), -differences, -np.eye(size)]),
    ]
    return sparse.csc_array(np.vstack(rows)), [
        clarabel.NonnegativeConeT(n_pairs + 2 * size)
    ]


ROWS = {"l1": paper_rows, "l2": length_rows, "linf": absolute_rows}


def solved(quadratic, linear, rows, cones):
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    bound = np.zeros(rows.shape[0])
    return clarabel.DefaultSolver(
        sparse.csc_matrix(quadratic), linear, rows, bound, cones, settings
    ).solve()


def sharpened(quadratic, linear, rows, found):
    """The solution on the rows that an interior point found active, to full precision."""
    active = rows[np.array(found.z) > np.array(found.s)].toarray()
    corner = np.zeros((len(active), len(active)))
    system = np.block([[quadratic.toarray(), active.T], [active, corner]])
    rhs = np.append(-linear, np.zeros(len(active)))
    return np.linalg.lstsq(system, rhs)[0][: len(linear)]


def judged(lam, coef, norm, cost):
    """The projection by Clarabel."""
    rows, cones = ROWS[norm](len(coef), cost)
    rows = sparse.csc_matrix(rows)
    is_point = np.arange(rows.shape[1]) <= coef.size
    quadratic = sparse.diags_array(is_point.astype(float))
    linear = np.zeros(rows.shape[1])
    linear[is_point] = -np.append(lam, coef.T.ravel())
    found = solved(quadratic, linear, rows, cones)
    x = np.array(found.x)
    if norm != "l2":
        x = sharpened(quadratic, linear, rows, found)
    return x[0], x[is_point][1:].reshape(coef.shape[::-1]).T


@pytest.mark.parametrize(("norm", "n_classes", "n_features"), CASES)
@pytest.mark.parametrize("seed", SEEDS)
class TestProjection:
    def test_agrees_with_a_conic_solver(self, norm, n_classes, n_features, seed):
        lam, coef, cost = random_point(seed, n_classes, n_features)
        ours, theirs = project(lam, coef, norm, cost), judged(lam, coef, norm, cost)
        atol = AGREEMENT[norm] * max(1.0, abs(lam))
        assert ours.lam == pytest.approx(theirs[0], abs=atol)
        np.testing.assert_allclose(ours.coef, theirs[1], rtol=0, atol=atol)

    def test_is_as_near_as_the_conic_solver(self, norm, n_classes, n_features, seed):
        lam, coef, cost = random_point(seed, n_classes, n_features)
        nearest = project(lam, coef, norm, cost)
        ours = minus((lam, coef), nearest)
        found = judged(lam, coef, norm, cost)
        # The judge's point, moved into the set.
        inside = max(found[0], lipschitz(found[1], norm, cost)), found[1]
        theirs = minus((lam, coef), inside)
        assert inner(ours, ours) <= inner(theirs, theirs) * (1 + 1e-12)

    def test_lands_in_the_set(self, norm, n_classes, n_features, seed):
        lam, coef, cost = random_point(seed, n_classes, n_features)
        nearest = project(lam, coef, norm, cost)
        assert nearest.lam >= 0
        excess = lipschitz(nearest.coef, norm, cost) - nearest.lam
        assert excess <= 1e-9 * max(1.0, nearest.lam)

    def test_three_points(self, norm, n_classes, n_features, seed):
        """<x' - x, z - x> <= 0 for the projection x of x' and every z of the set."""
        lam, coef, cost = random_point(seed, n_classes, n_features)
        nearest = project(lam, coef, norm, cost)
        rng = np.random.default_rng(seed)
        for scale in (0.0, 0.1, 1.0, 10.0):
            other = nearest.coef + scale * rng.normal(size=coef.shape)
            feasible = (lipschitz(other, norm, cost) + scale * rng.random(), other)
            moved, away = minus((lam, coef), nearest), minus(feasible, nearest)
            size = np.sqrt(inner(moved, moved) * inner(away, away))
            assert inner(moved, away) <= 1e-9 * max(size, 1e-3)

    def test_a_point_of_the_set_stays(self, norm, n_classes, n_features, seed):
        lam, coef, cost = random_point(seed, n_classes, n_features)
        first = project(lam, coef, norm, cost)
        again = project(*first, norm, cost)
        assert again.lam == pytest.approx(first.lam, rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(again.coef, first.coef, rtol=0, atol=1e-9)
        inside = project(first.lam + 1.0, first.coef, norm, cost)
        assert inside.lam == first.lam + 1.0
        np.testing.assert_array_equal(inside.coef, first.coef)


@pytest.mark.parametrize("norm", NORMS)
class TestEdges:
    def test_untouchable_features_are_left_alone(self, norm):
        lam, coef, cost = random_point(0, 4, 5)
        cost[[1, 3]] = np.inf
        nearest = project(lam, coef, norm, cost)
        np.testing.assert_array_equal(nearest.coef[:, [1, 3]], coef[:, [1, 3]])
        held = project(lam, coef[:, [0, 2, 4]], norm, cost[[0, 2, 4]])
        assert nearest.lam == held.lam
        np.testing.assert_array_equal(nearest.coef[:, [0, 2, 4]], held.coef)

    def test_without_touchable_features_only_the_sign_counts(self, norm):
        coef = np.arange(6.0).reshape(3, 2)
        for lam in (-2.0, 1.5):
            nearest = project(lam, coef, norm, np.full(2, np.inf))
            assert nearest.lam == max(lam, 0.0)
            np.testing.assert_array_equal(nearest.coef, coef)

    def test_far_below_zero_the_classes_become_equal(self, norm):
        _, coef, cost = random_point(1, 4, 3)
        nearest = project(-1e3, coef, norm, cost)
        assert nearest.lam == 0.0
        mean = np.tile(coef.mean(axis=0), (4, 1))
        np.testing.assert_allclose(nearest.coef, mean, atol=1e-10)

    def test_a_shift_of_all_classes_comes_through(self, norm):
        lam, coef, cost = random_point(3, 4, 3)
        shift = np.array([5.0, -2.0, 0.5])
        plain, shifted = (
            project(lam, coef, norm, cost),
            project(lam, coef + shift, norm, cost),
        )
        assert shifted.lam == pytest.approx(plain.lam)
        np.testing.assert_allclose(shifted.coef, plain.coef + shift, atol=1e-10)

    def test_the_argument_is_not_changed(self, norm):
        lam, coef, cost = random_point(5, 4, 3)
        before = coef.copy()
        project(lam, coef, norm, cost)
        np.testing.assert_array_equal(coef, before)


def test_agreement_at_the_largest_size():
    lam, coef, cost = random_point(0, 20, 50)
    ours, theirs = project(lam, coef, "l1", cost), judged(lam, coef, "l1", cost)
    assert ours.lam == pytest.approx(theirs[0], abs=1e-8)
    np.testing.assert_allclose(ours.coef, theirs[1], rtol=0, atol=1e-8)


def test_ties_in_a_column():
    coef = np.array([[1.0], [1.0], [0.0], [0.0]])
    nearest = project(0.0, coef, "l1", np.ones(1))
    # e(w) = 1 - w with two entries on each side, so that lam = e(lam) = 1/2.
    assert nearest.lam == pytest.approx(0.5)
    np.testing.assert_allclose(nearest.coef.ravel(), [0.75, 0.75, 0.25, 0.25])


def bisected(falls_below_zero, low, high):
    """Where a falling function changes its sign."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if falls_below_zero(middle) else (middle, high)
    return high


def test_the_root_of_a_sum_of_pieces_is_that_of_a_search():
    for lam in (-30.0, -1.0, 0.0, 2.0, 50.0):
        rng = np.random.default_rng(0)
        for n_rows, n_pieces in ((1, 1), (3, 1), (2, 4)):
            heights, slopes = rng.uniform(0.1, 3.0, (2, n_rows, n_pieces))
            order = np.argsort(-heights / slopes, axis=1)
            heights = np.take_along_axis(heights, order, 1)
            slopes = np.take_along_axis(slopes, order, 1)
            sums = np.cumsum(heights, axis=1), np.cumsum(slopes, axis=1)
            found = projections._root(lam, heights / slopes, *sums)

            def beyond(mu, lam=lam, heights=heights, slopes=slopes):
                return mu - lam - np.maximum(heights - slopes * mu, 0.0).sum() >= 0

            expected = 0.0 if beyond(0.0) else bisected(beyond, 0.0, 100.0)
            assert found == pytest.approx(expected, abs=1e-12)


def clipped_by_hand(column, width):
    """The interval of a width that cuts as much off the top as it fills up below."""

    def too_high(low):
        return (
            np.maximum(low - column, 0).sum() >= np.maximum(column - low - width, 0).sum()
        )

    low = bisected(too_high, column.min() - width - 1.0, column.max() + 1.0)
    return np.clip(column, low, low + width)


def test_columns_are_clipped_to_the_interval_that_a_search_finds():
    for n_classes in (2, 5, 40):
        rng = np.random.default_rng(n_classes)
        # Ties, one value only, and values at random.
        coef = rng.normal(size=(n_classes, 4))
        coef[:, 1] = np.round(coef[:, 1])
        coef[:, 2] = 3.0
        columns = projections.ClippedColumns(coef)
        reach = np.ptp(coef, axis=0)
        for share in (0.0, 0.3, 0.99):
            found = columns.clipped(coef, share * reach)
            for d in range(4):
                expected = clipped_by_hand(coef[:, d], share * reach[d])
                np.testing.assert_allclose(found[:, d], expected, atol=1e-12)
        for width in (reach, 2 * reach + 1):
            np.testing.assert_array_equal(columns.clipped(coef, width), coef)


def test_shortened_rows_are_those_of_their_own_multiplier():
    """With mu = (lam + sum of lengths)_+ each row is shorter by step mu."""
    for lam in (-20.0, -1.0, 0.5, 30.0):
        target = np.random.default_rng(0).normal(size=(6, 3))
        target[2] = 0.0
        step = 0.3
        mu, found = projections._shrink_lengths(lam, target, step)
        assert mu == pytest.approx(max(lam + np.linalg.norm(found, axis=1).sum(), 0.0))
        for before, after in zip(target, found, strict=True):
            length = np.linalg.norm(before)
            kept = max(1 - step * mu / length, 0.0) if length else 0.0
            np.testing.assert_allclose(after, kept * before, atol=1e-12)


def test_levelled_rows_lose_as_much_as_their_multiplier_says():
    for lam, n_features in product((-20.0, -1.0, 0.5, 30.0), (1, 4)):
        target = np.random.default_rng(1).normal(size=(6, n_features))
        target[2] = 0.0
        step = 0.3
        mu, found = projections._shrink_largest(lam, target, step)
        assert mu == pytest.approx(max(lam + np.abs(found).max(axis=1).sum(), 0.0))
        for before, after in zip(target, found, strict=True):
            lost = np.abs(before).sum() - np.abs(after).sum()
            assert lost == pytest.approx(min(step * mu, np.abs(before).sum()))
            height = np.abs(after).max()
            np.testing.assert_allclose(after, np.clip(before, -height, height), atol=1e-12)


@pytest.mark.parametrize("norm", NORMS)
def test_the_way_to_the_set_is_at_right_angles_and_leads_away_from_it(norm):
    """The set is a cone: <x' - x, x> = 0 and <x' - x, z> <= 0 for all its z."""
    rng = np.random.default_rng(0)
    coef, cost = rng.normal(size=(4, 3)), np.array([0.5, 1.0, 2.0])
    others = rng.normal(size=(200, 4, 3)) * rng.choice([0.1, 1.0, 10.0], (200, 1, 3))
    for lam in (-1.0, 0.1, 1.0):
        nearest = project(lam, coef, norm, cost)
        assert lipschitz(nearest.coef, norm, cost) <= nearest.lam + 1e-9
        moved = minus((lam, coef), nearest)
        assert inner(moved, nearest) == pytest.approx(0.0, abs=1e-9)
        for other in others:
            assert inner(moved, (lipschitz(other, norm, cost), other)) <= 1e-9


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_steps_are_accelerated_and_end(norm, monkeypatch):
    """Far fewer rounds than allowed, and none where there is nothing to do."""
    rounds = []
    for name in ("_shrink_lengths", "_shrink_largest"):
        shrink = getattr(projections, name)
        monkeypatch.setattr(
            projections,
            name,
            lambda *told, shrink=shrink: rounds.append(0) or shrink(*told),
        )
    cost = np.array([0.5, 1.0, 2.0])
    coef = np.random.default_rng(0).normal(size=(5, 3))
    precise = project(0.1, coef, norm, cost)
    n_precise = len(rounds)
    assert 20 < n_precise <= 700
    rough = project(0.1, coef, norm, cost, rtol=1e-3)
    assert len(rounds) - n_precise < n_precise / 2
    np.testing.assert_allclose(rough.coef, precise.coef, atol=1e-2)
    assert (rough.coef != precise.coef).any()
    rounds.clear()
    project(1.0, np.ones((1, 3)), norm, cost)
    project(1.0, np.ones((3, 0)), norm, np.empty(0))
    assert rounds == []
    # A point of the set: one look is enough.
    project(100.0, coef, norm, cost)
    project(0.0, np.zeros((3, 3)), norm, cost)
    assert len(rounds) == 2


def test_costs_up_to_a_thousand_times_apart_are_near():
    few, many = projections.ROUGH_ROUNDS, projections.MAX_ROUNDS
    assert (few, many) == (200, 20_000)
    assert projections._most_rounds(np.array([1.0, 1e3])) == many
    assert projections._most_rounds(np.array([1.0, 1.001e3, 2.0])) == few


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
