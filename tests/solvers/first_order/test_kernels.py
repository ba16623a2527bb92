"""The first-order method: its steps one by one, and smooth losses as whole problems."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.problem import LOSSES, Loss, RobustProblem, WassersteinBall
from wdrsvm.problem.certificate.smooth import RowTangents
from wdrsvm.solvers import SolverSettings, SolverStatus, solve
from wdrsvm.solvers.first_order.kernels import (
    PlaceWork,
    Price,
    Samples,
    adapt_pairs_often,
    begin_places,
    class_metric,
    end_places,
    flow_length,
    pair_distances,
    push_pairs,
    settle_price,
    step_pairs,
)
from wdrsvm.solvers.first_order.samples import Duals
from wdrsvm.solvers.first_order.settings import FIRST_ORDER

from .test_loop import OneRow

FAMILY = [LOSSES["logistic"], Loss(0.1, 1.0)]


def problem_of(loss, norm="l2", label_cost=np.inf, fit_intercept=True):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 4
    X = rng.normal(size=(120, 8)) + 0.8 * rng.normal(size=(4, 8))[y]
    ball = WassersteinBall(0.05, label_cost, norm)
    return RobustProblem.of(X, y, np.full(120, 1 / 120), ball, 4, fit_intercept, loss=loss)


@pytest.mark.parametrize("loss", FAMILY, ids=str)
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("label_cost", [1.0, np.inf])
def test_it_brackets_newton(norm, label_cost, loss):
    problem = problem_of(loss, norm, label_cost)
    exact = solve(problem, "newton").certificate
    found = solve(problem, "first-order", SolverSettings(tol=1e-4))
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.dual_bound <= exact.objective + 1e-9
    assert found.certificate.objective >= exact.dual_bound - 1e-9
    assert found.certificate.holds(1e-4)


@pytest.mark.parametrize("loss", FAMILY, ids=str)
def test_wide_sparse_data_are_certified(loss):
    """More coefficients than a dense system could hold."""
    rng = np.random.default_rng(1)
    y = np.arange(300) % 5
    X = sparse.random_array((300, 20_000), density=1e-3, format="csr", rng=rng)
    X = sparse.csr_array(X + sparse.csr_array(np.eye(5)[y] @ np.eye(5, 20_000)))
    ball = WassersteinBall(0.02, 2.0, "l2")
    problem = RobustProblem.of(X, y, np.full(300, 1 / 300), ball, 5, loss=loss)
    found = solve(problem, "first-order", SolverSettings(tol=1e-3))
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.objective < 0.9 * loss.of_equal_scores(5)


@pytest.mark.tiny
@pytest.mark.parametrize("loss", FAMILY, ids=str)
def test_a_row_settles_where_its_point_is_its_scores(loss):
    rng = np.random.default_rng(2)
    factor = rng.normal(size=(4, 4))
    metric, q, r, tol = factor @ factor.T + np.eye(4), 2.0, 0.3, 1e-9
    duals = Duals(np.zeros((1, 4)), 0.7 * np.eye(4)[[1]], np.zeros((1, 4)))
    cost = np.array([0.5, np.inf, 0.2, np.inf])
    price = Price(1.0, 1.0, loss.temperature, loss.margin)
    price.response = 0.1
    row, total = OneRow(duals, cost[None], 1, q, rng.normal(size=4), r), np.zeros(4)
    for _ in range(50):
        row.settle(price, metric, tol)
        row.scores -= (q * metric + r * np.eye(4)) @ row.change
        total += row.change
    scores, ((u,), (masses,), (slopes,)) = row.scores, duals
    made = RowTangents(loss, u[None], masses[None])
    np.testing.assert_allclose(u, scores, atol=1e-7)
    np.testing.assert_allclose(slopes, made.slopes(None)[0], atol=1e-12)
    np.testing.assert_allclose(total, slopes, atol=1e-12)
    assert masses.sum() == pytest.approx(0.7)
    worth = loss.of_labels(u[None])[0] - price.lam * np.where(np.arange(4) == 1, 0, cost)
    assert worth[masses > 0].min() >= worth.max() - 1e-7


@pytest.mark.tiny
@pytest.mark.parametrize("loss", FAMILY, ids=str)
@pytest.mark.parametrize("is_unit", [False, True])
def test_one_visit_settles_a_row_whose_label_is_trusted(loss, is_unit):
    """Newton's steps converge quadratically only if their system is the right one."""
    rng = np.random.default_rng(3)
    factor = rng.normal(size=(4, 4))
    metric = np.eye(4) if is_unit else factor @ factor.T + np.eye(4)
    duals = Duals(np.zeros((1, 4)), 0.7 * np.eye(4)[[1]], np.zeros((1, 4)))
    price = Price(1.0, 1.0, loss.temperature, loss.margin)
    row = OneRow(duals, np.zeros((0, 4)), 1, 500.0, rng.normal(size=4), 0.3)
    row.settle(price, metric, 1e-12, is_unit)
    left = row.scores - (500.0 * metric + 0.3 * np.eye(4)) @ row.change
    np.testing.assert_allclose(duals.alpha[0], left, atol=1e-10)


def test_a_problem_without_an_intercept_is_solved_too():
    problem = replace(problem_of(FAMILY[0]), fit_intercept=False)
    found = solve(problem, "first-order", SolverSettings(tol=1e-4))
    assert found.certificate.holds(1e-4)


@pytest.mark.tiny
@pytest.mark.parametrize("lam", [0.05, 0.5, 50.0])
def test_a_step_of_the_flows_is_proximal(lam):
    """Each pair is clipped where what is cut off weighs lam, or to nothing."""
    rng = np.random.default_rng(0)
    table, flows = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    heights, steps = np.array([0.1, 0.0, 2.0]), rng.uniform(0.5, 2.0, 4)
    new, new_flows, new_heights = table.copy(), flows.copy(), heights.copy()
    rate = step_pairs(new, new_flows, new_heights, steps, lam)
    weights, expected, fall = 3 * steps, table.copy(), 0.0
    for pair, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        values = flows[pair] + (table[i] - table[j]) / weights
        height = new_heights[pair]
        cut = np.maximum(np.abs(values) - height, 0.0)
        if height > 0:
            assert weights @ cut == pytest.approx(lam, rel=1e-6)
            fall += 1 / weights[cut > 0].sum()
        else:
            assert weights @ np.abs(values) <= lam
        clipped = np.clip(values, -height, height)
        np.testing.assert_allclose(new_flows[pair], clipped, rtol=1e-12)
        expected[i] -= steps * (clipped - flows[pair])
        expected[j] += steps * (clipped - flows[pair])
    np.testing.assert_allclose(new, expected, rtol=1e-12)
    assert rate == pytest.approx(fall)


@pytest.mark.tiny
def test_distances_are_those_of_the_rows():
    rng = np.random.default_rng(0)
    metric, rows = rng.normal(size=(4, 4)), rng.normal(size=(4, 6))
    metric = metric @ metric.T
    image = metric @ rows
    expected = np.linalg.norm(image[:, None] - image, axis=2)
    expected += np.diag(2 * np.linalg.norm(image, axis=1))
    np.testing.assert_allclose(pair_distances(metric, rows @ rows.T), expected)


def parts_of_classes(pairs, excess):
    """Numbers of the classes whose sums are near the excess of their pairs."""
    degree, own = pairs.sum(axis=1), np.zeros(len(pairs))
    for _ in range(FIRST_ORDER.class_rounds):
        rest = pairs * (excess - own[:, None] - own)
        own = own + 0.5 * rest.sum(axis=1) / degree
    return own


@pytest.mark.tiny
def test_weights_move_to_the_distant_pairs():
    """One round against its formula: a power for what the pairs of a class share, and the
    power that the pair's own response allows for the rest."""
    rng = np.random.default_rng(3)
    pairs = np.tril(rng.uniform(1.0, 1.3, (4, 4)), -1)
    pairs = (pairs + pairs.T) / pairs.sum()
    rows = 2 * np.eye(4) + 0.1 * rng.normal(size=(4, 4))
    price = Price(0.8, 1.0)
    metric = class_metric(pairs, price, 0.05)
    spread = pair_distances(metric, rows @ rows.T)
    lower = np.tril_indices(4, -1)
    length = np.sqrt(pairs[lower] @ spread[lower] ** 2)
    excess = spread / length - 1
    own = parts_of_classes(pairs, excess)
    shared = own[:, None] + own
    width = np.diag(metric)[:, None] + np.diag(metric) - 2 * metric
    response = price.pressure / price.lam * pairs * width
    least, most = FIRST_ORDER.pair_power, FIRST_ORDER.max_pair_power
    with np.errstate(divide="ignore"):
        power = np.clip(FIRST_ORDER.pair_step / response, least, most)
    largest = FIRST_ORDER.max_pair_change
    exponent = least * shared + power * (excess - shared)
    exponent = np.clip(exponent, -np.log(largest), np.log(largest))[lower]
    moved = pairs[lower] * (1 + exponent + exponent**2 / 2)
    before, found = price.pressure, pairs.copy()
    adapt_pairs_often(found, rows @ rows.T, price, 0.05, 1e-6, 1)
    np.testing.assert_allclose(found[lower], moved / moved.sum(), rtol=1e-10)
    np.testing.assert_array_equal(found, found.T)
    assert price.pressure == pytest.approx(
        before * np.clip(length / 0.8, 1 / largest, largest)
    )


def random_pairs(rng, n_classes):
    pairs = np.tril(rng.uniform(0.2, 1.3, (n_classes, n_classes)), -1)
    return (pairs + pairs.T) / pairs.sum()


@pytest.mark.tiny
def test_weights_go_on_by_the_root_of_their_last_change():
    rng, work = np.random.default_rng(4), PlaceWork(5, 3)
    earlier, now = random_pairs(rng, 5), random_pairs(rng, 5)
    found = earlier.copy()
    # Nothing is known of the epoch before.
    push_pairs(found, work)
    np.testing.assert_allclose(found, earlier, rtol=1e-6)
    found, change = now.copy(), now / (earlier + np.eye(5))
    push_pairs(found, work)
    most = FIRST_ORDER.max_pair_change
    assert (change > most).any()
    assert (change[np.tril_indices(5, -1)] < 1 / most).any()
    moved = now * np.sqrt(np.clip(change, 1 / most, most))
    np.testing.assert_allclose(found, moved / np.tril(moved).sum(), rtol=1e-5)
    np.testing.assert_array_equal(found, found.T)


def adapted_among_places(rows, pairs, price, damping, rounds):
    """The weights after some adaptations at the end of an epoch without rows."""
    found, n_classes = pairs.copy(), len(pairs)
    none, masses = np.empty(0, dtype=np.intp), np.empty(0)
    nothing = np.zeros(1, dtype=np.intp), np.empty(0, dtype=np.int32), masses, False
    tables = 3 * (np.empty((0, n_classes)),)
    kept = none, np.empty((0, n_classes)), (masses, masses), tables
    samples = Samples(nothing, nothing, *kept, (np.empty((0, n_classes)), masses))
    work, told = PlaceWork(n_classes, rows.shape[1]), (found, price, damping)
    begin_places(rows, *told, False, work)
    whole = nothing[0], none, none, masses, masses, samples, rows.copy()
    metric = end_places(*whole, *told, 1e-6, rounds, work)
    return found, metric


@pytest.mark.tiny
# With few columns, lines of A R' are multiplied in place of A W A.
@pytest.mark.parametrize("n_columns", [5, 80])
@pytest.mark.parametrize("n_classes", [4, 45])
def test_pairs_along_half_tables_are_those_of_whole_tables(n_columns, n_classes):
    rng = np.random.default_rng(3)
    pairs = random_pairs(rng, n_classes)
    rows = rng.normal(size=(n_classes, n_columns))
    rows -= rows.mean(axis=0)
    mine, theirs, damping = Price(0.8, 1.0), Price(0.8, 1.0), 0.05
    found, metric = adapted_among_places(rows, pairs, mine, damping, 3)
    adapt_pairs_often(pairs, rows @ rows.T, theirs, damping, 1e-6, 3)
    np.testing.assert_allclose(found, pairs, rtol=2e-3)
    np.testing.assert_array_equal(found, found.T)
    assert np.tril(found).sum() == pytest.approx(1.0, rel=1e-12)
    assert mine.lam == pytest.approx(theirs.lam, rel=1e-4)
    # The metric is in double precision.
    np.testing.assert_array_equal(metric, class_metric(found, mine, damping))


@pytest.mark.tiny
def test_pairs_stay_weights_where_single_precision_has_no_inverse():
    """Adaptations go on with the inverse in double precision."""
    rng = np.random.default_rng(3)
    pairs = np.tril(rng.uniform(0.2, 1.3, (4, 4)), -1)
    pairs = (pairs + pairs.T) / pairs.sum()
    rows, price, damping = rng.normal(size=(4, 5)), Price(0.8, 1.0), 1e-9
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(np.linalg.inv(class_metric(pairs, price, damping)).astype("f"))
    found, metric = adapted_among_places(rows - rows.mean(axis=0), pairs, price, damping, 2)
    assert (found[np.tril_indices(4, -1)] > 0).all()
    np.testing.assert_array_equal(found, found.T)
    assert np.tril(found).sum() == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_array_equal(metric, class_metric(found, price, damping))


@pytest.mark.tiny
def test_weights_move_to_the_long_classes():
    """The same for classes alone, which stand on the diagonal."""
    rng = np.random.default_rng(4)
    weight = rng.uniform(1.0, 1.3, 3)
    weight /= weight.sum()
    rows = 2 * np.eye(3) + 0.1 * rng.normal(size=(3, 3))
    price, found = Price(0.8, 1.0), np.diag(weight)
    metric = class_metric(found, price, 0.05)
    lengths = np.diag(pair_distances(metric, rows @ rows.T))
    length = np.sqrt(weight @ lengths**2)
    power = FIRST_ORDER.pair_power * np.maximum(np.sqrt(1 / 3 / weight), 1.0)
    largest = FIRST_ORDER.max_pair_change
    moved = weight * np.clip((lengths / length) ** power, 1 / largest, largest)
    adapt_pairs_often(found, rows @ rows.T, price, 0.05, 1e-6, 1)
    np.testing.assert_allclose(found, np.diag(moved / moved.sum()), rtol=1e-10)


@pytest.mark.tiny
def test_equal_distances_leave_weights_alone():
    """Classes that are all equally far apart."""
    n_classes = 5
    pairs = (np.ones((n_classes, n_classes)) - np.eye(n_classes)) / 10
    found = pairs.copy()
    adapt_pairs_often(found, np.eye(n_classes), Price(0.8, 1.0), 0.05, 1e-6, 3)
    np.testing.assert_allclose(found, pairs, rtol=1e-10)


@pytest.mark.tiny
def test_the_search_for_a_flow_ends_early():
    """With a tolerance the length is no shorter than without, and nearly as short."""
    rng = np.random.default_rng(1)
    gradient = rng.normal(size=(6, 6))
    gradient -= gradient.mean(axis=0)
    factor = np.linalg.cholesky(gradient @ gradient.T + 1e-9 * np.eye(6)).T
    factor, pairs = np.ascontiguousarray(factor), (np.ones((6, 6)) - np.eye(6)) / 15
    shortest = flow_length(factor, pairs)
    early, first = (flow_length(factor, pairs, rtol) for rtol in (1e-3, 1.0))
    assert shortest < early < first
    assert early <= 1.02 * shortest


@pytest.mark.tiny
def test_the_length_of_a_flow_grows_with_what_flows():
    rng = np.random.default_rng(0)
    gradient = rng.normal(size=(4, 6))
    gradient -= gradient.mean(axis=0)
    factor = np.linalg.cholesky(gradient @ gradient.T + 1e-9 * np.eye(4)).T
    pairs = (np.ones((4, 4)) - np.eye(4)) / 6
    lengths = [flow_length(np.ascontiguousarray(s * factor), pairs) for s in (1.0, 1e-3)]
    assert lengths[1] == pytest.approx(1e-3 * lengths[0], rel=1e-9)


@pytest.mark.tiny
def test_the_price_of_the_box_meets_the_budget():
    """The pressure is 1/2 sum (|V| - lam / 2)_+ / t; lam answers to what it leaves."""
    rng = np.random.default_rng(0)
    table, steps = 3 * rng.normal(size=(5, 3)), rng.uniform(0.5, 2.0, 5)
    price = Price(1.0, 2.0)
    price.step = 0.1
    settle_price(table, steps, price)
    beyond = np.maximum(np.abs(table) - price.lam / 2, 0.0).sum(axis=1)
    pressure = 0.5 * (beyond / steps).sum()
    assert price.pressure == pytest.approx(pressure, rel=1e-4)
    assert price.lam == pytest.approx(1.0 - 0.1 * (2.0 - pressure), rel=1e-4)


@pytest.mark.tiny
def test_seven_classes_are_bracketed():
    """Dense rows are settled in blocks."""
    rng = np.random.default_rng(0)
    y = np.arange(14) % 7
    X = np.eye(7)[y] + 0.3 * rng.normal(size=(14, 7))
    ball = WassersteinBall(0.2, np.inf, "l2")
    problem = RobustProblem.of(X, y, np.full(14, 1 / 14), ball, 7)
    exact = solve(problem, "interior-point").certificate
    found = solve(problem, "first-order", SolverSettings(tol=1e-2, max_iter=60))
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.dual_bound <= exact.objective + 1e-9
    assert found.certificate.objective >= exact.dual_bound - 1e-9
