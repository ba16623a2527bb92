"""The first-order solver brackets the optimum on every kind of problem, sparse or dense."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import WassersteinBall
from wdrsvm.problem import LOSSES, RobustProblem, dual_bound
from wdrsvm.problem.norms import NORMS, divergence, lipschitz, with_divergence
from wdrsvm.solvers import SolverSettings, SolverStatus, Start
from wdrsvm.solvers.first_order.feasible_multipliers import feasible
from wdrsvm.solvers.first_order.kernels import Price, settle_row
from wdrsvm.solvers.first_order.loop import first_order
from wdrsvm.solvers.first_order.norms import tables
from wdrsvm.solvers.first_order.norms.polar import shortest_flow
from wdrsvm.solvers.first_order.samples import (
    Duals,
    FreeTable,
    SampleArrays,
    StoredMatrix,
    samples_of,
)
from wdrsvm.solvers.first_order.settings import FIRST_ORDER
from wdrsvm.solvers.first_order.state import Ascent
from wdrsvm.solvers.interior_point.loop import interior_point

from ...agreement.instances import describe, random_problem

ROUGH = SolverSettings(tol=1e-2)


def wide(norm, label_cost, fit_intercept=True, n_rows=60, n_features=300, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3
    filled = rng.random((n_rows, n_features)) < 0.1
    X = filled * rng.random((n_rows, n_features)) + np.eye(3, n_features)[y]
    X = sparse.csr_array(X)
    ball = WassersteinBall(0.02, label_cost, norm)
    weight = np.full(n_rows, 1 / n_rows)
    return RobustProblem.of(X, y, weight, ball, 3, fit_intercept)


@pytest.mark.parametrize("seed", range(30))
def test_the_optimum_lies_between_bound_and_objective(seed):
    problem = random_problem(seed)
    # Bounds hold whether or not the gap is reached.
    found = first_order(problem, SolverSettings(tol=1e-2, max_iter=1000)).certificate
    exact = interior_point(problem, SolverSettings(tol=1e-8)).certificate
    assert found.dual_bound <= exact.objective + 1e-9, describe(problem)
    assert found.objective >= exact.dual_bound - 1e-9, describe(problem)


@pytest.mark.parametrize(
    ("norm", "label_cost", "fit_intercept"),
    [
        ("l1", np.inf, True),
        ("l1", 0.5, False),
        ("l2", np.inf, False),
        ("l2", 0.5, True),
        ("linf", np.inf, False),
        ("linf", 0.5, True),
    ],
)
def test_sparse_and_dense_agree_with_the_interior_point(norm, label_cost, fit_intercept):
    problem = wide(norm, label_cost, fit_intercept)
    exact = interior_point(problem, SolverSettings(tol=1e-6)).certificate
    for same in (problem, problem.with_rows(X=problem.X.toarray())):
        found = first_order(same, ROUGH).certificate
        assert found.holds(1e-2)
        assert found.dual_bound <= exact.objective + 1e-9
        assert found.objective >= exact.dual_bound - 1e-9


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("of", [sparse.csr_array, np.asarray])
def test_features_that_are_all_zero_leave_a_constant_classifier(norm, of):
    """As in the problem of a constant optimum, from many classes on."""
    n_classes, n_features = 20, 384
    X, y = of(np.zeros((n_classes, n_features))), np.arange(n_classes)
    weight = np.full(n_classes, 1 / n_classes)
    ball = WassersteinBall(1e-3, 0.5, norm)
    problem = RobustProblem.of(X, y, weight, ball, n_classes)
    found = first_order(problem, SolverSettings(tol=1e-4))
    assert found.certificate.holds(1e-4)
    assert found.certificate.objective == pytest.approx(1.0, abs=1e-4)
    assert not found.coef.any()


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_the_multipliers_returned_prove_the_bound(norm):
    problem = wide(norm, 0.5)
    result = first_order(problem, ROUGH)
    bound = dual_bound(problem, result.multipliers)
    assert bound <= interior_point(problem, SolverSettings()).certificate.objective + 1e-9
    assert bound >= 0.5 * result.certificate.dual_bound


def test_equal_seeds_give_equal_results():
    problem = wide("l2", np.inf)
    one, other = (first_order(problem, ROUGH) for _ in range(2))
    np.testing.assert_array_equal(one.coef, other.coef)


def test_too_few_epochs_give_the_true_gap():
    problem = wide("l2", np.inf)
    result = first_order(problem, SolverSettings(tol=1e-8, max_iter=3))
    assert result.status is SolverStatus.MAX_ITER
    value = problem.risk(result.coef, result.intercept).value
    assert result.n_iter == 3
    assert result.certificate.objective == pytest.approx(value, rel=1e-12)
    exact = interior_point(problem, SolverSettings(tol=1e-6)).certificate
    assert result.certificate.gap >= exact.objective - exact.dual_bound
    assert result.certificate.dual_bound <= exact.objective <= value


def test_a_start_is_used():
    problem = wide("l2", np.inf)
    first = first_order(problem, SolverSettings(tol=1e-4))
    start = Start(first.coef, first.intercept, first.certificate.lam)
    again = first_order(problem, SolverSettings(tol=1e-3), start)
    assert again.n_iter <= first.n_iter
    assert again.certificate.holds(1e-3)


def test_no_result_is_worse_than_its_start():
    problem = wide("l1", 0.5)
    good = first_order(problem, ROUGH)
    start = Start(good.coef, good.intercept, good.certificate.lam)
    again = first_order(problem, SolverSettings(tol=1e-9, max_iter=1), start)
    assert again.certificate.objective <= good.certificate.objective


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_costs_trust_and_weights_of_wide_data(norm, fit_intercept):
    """Prices of every kind at once: infinite ones make columns free."""
    rng = np.random.default_rng(1)
    problem = wide(norm, 0.5, fit_intercept)
    cost = rng.uniform(0.5, 2.0, problem.n_features)
    cost[[5, 7]] = np.inf
    prices = rng.uniform(0.2, 1.0, (3, 3))
    prices[0, 1] = np.inf
    np.fill_diagonal(prices, 0.0)
    trust = rng.choice([0.5, 1.0, np.inf], problem.n_rows)
    weight = rng.exponential(size=problem.n_rows)
    weight[:3] = 0.0
    problem = problem.with_rows(weight=weight / weight.sum(), label_trust=trust)
    problem = replace(problem, ball=WassersteinBall(0.02, prices, norm, cost))
    found = first_order(problem, ROUGH).certificate
    exact = interior_point(problem, SolverSettings(tol=1e-6)).certificate
    assert found.holds(1e-2)
    assert found.dual_bound <= exact.objective + 1e-9
    assert found.objective >= exact.dual_bound - 1e-9


@pytest.mark.parametrize("radius", [0.0, 30.0])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_no_budget_and_too_much_of_it(radius, norm):
    problem = wide(norm, 0.5)
    problem = problem.with_radius(radius)
    result = first_order(problem, SolverSettings(tol=1e-3, max_iter=200))
    # Wide data can be separated; against a large budget only the constant helps.
    assert result.certificate.objective == pytest.approx(float(radius > 0), abs=1e-3)
    assert 0 <= result.certificate.dual_bound <= result.certificate.objective + 1e-12
    assert result.certificate.holds(1e-3) or radius == 0


def test_labels_that_nobody_has_cost_nothing():
    problem = wide("l2", np.inf)
    more = replace(problem, n_classes=5)
    few, many = (first_order(each, ROUGH).certificate for each in (problem, more))
    assert many.dual_bound <= few.objective
    assert few.dual_bound <= many.objective


def test_history_is_passed_on_and_closes_in():
    seen = []
    settings = SolverSettings(tol=1e-3, callback=seen.append)
    result = first_order(wide("l2", 0.5), settings)
    assert tuple(seen) == result.history
    assert result.history[-1].n_iter == result.n_iter
    objectives = [record.objective for record in seen]
    bounds = [record.dual_bound for record in seen]
    assert objectives == sorted(objectives, reverse=True)
    assert bounds == sorted(bounds)


def test_another_seed_gives_another_way_to_the_same_value():
    problem = wide("l2", 0.5)
    one, other = (
        first_order(problem, SolverSettings(tol=1e-3, seed=seed)) for seed in (0, 1)
    )
    assert np.any(one.coef != other.coef)
    assert one.certificate.dual_bound <= other.certificate.objective
    assert other.certificate.dual_bound <= one.certificate.objective


def test_sparse_data_are_never_made_dense(monkeypatch):
    problem = wide("l2", 0.5, n_features=20_000)

    def refuse(*_):
        raise AssertionError("dense copy")

    monkeypatch.setattr(sparse.csr_array, "toarray", refuse)
    assert first_order(problem, ROUGH).certificate.holds(1e-2)


# Parts: a bound is only as true as the flow behind it.


def ascended(problem, n_epochs=5):
    ascent = Ascent(problem, None, seed=0)
    for _ in range(n_epochs):
        ascent.sweep()
        ascent.recentre()
    return ascent


@pytest.mark.tiny
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_multipliers_are_feasible_before_they_bound(norm):
    problem = wide(norm, 0.5)
    ascent = ascended(problem)
    made = feasible(problem, ascent.layout, ascent.duals)
    alpha, phi, beta = made.repair.rows()
    assert min(alpha.min(), phi.min(), beta.min()) >= 0
    np.testing.assert_allclose(alpha.sum(1) + phi.sum(1), problem.weight, rtol=1e-12)
    np.testing.assert_allclose(beta.sum(1), phi.sum(1), rtol=1e-12, atol=1e-18)
    slopes = made.multipliers(None).rows(problem, slice(None)).slopes(problem.y)
    np.testing.assert_allclose(slopes.sum(axis=0), 0.0, atol=1e-13)
    np.testing.assert_allclose(made.gradient, problem.X.T @ slopes, atol=1e-14)


def test_the_linf_flow_has_the_divergence_and_the_cost_that_the_bound_assumes():
    problem = wide("linf", 0.5)
    ascent = ascended(problem, 30)
    gradient = feasible(problem, ascent.layout, ascent.duals).gradient.T
    flow = with_divergence(ascent.block.flow(), gradient)
    np.testing.assert_allclose(divergence(flow, 3), gradient, atol=1e-14)
    cost = NORMS["linf"].of_rows(flow).sum()
    assert ascent.block.polar(gradient.T) == pytest.approx(cost, rel=1e-12)


def pair_weights(rng, n_classes, spread):
    weights = 10.0 ** -rng.uniform(0, spread, (n_classes, n_classes))
    weights = np.triu(weights, 1)
    return (weights + weights.T) / weights.sum()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("idle", [False, True])
def test_the_l2_polar_is_never_too_small(seed, idle):
    """<M, G> <= L(M) sigma(G) for every M, also if a class hardly takes part."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 7))
    gradient = rng.normal(size=(n_classes, 9))
    if idle:
        gradient[0] *= 1e-9
    gradient -= gradient.mean(axis=0)
    pairs = pair_weights(rng, n_classes, spread=12)
    polar = shortest_flow(np.ascontiguousarray(gradient.T), pairs)
    laplacian = np.diag(pairs.sum(axis=0)) - pairs
    for ridge in (0.0, 1e-3, 1.0):
        M = np.linalg.pinv(laplacian + ridge * np.eye(n_classes)) @ gradient
        modulus = lipschitz(M, "l2", np.ones(9))
        assert np.vdot(M, gradient) <= modulus * polar * (1 + 1e-12)
    assert polar <= np.linalg.norm(gradient, axis=1).sum() * (1 + 1e-6)


@pytest.mark.tiny
@pytest.mark.parametrize("n_columns", [2, 6, 7, 20])
def test_the_l2_polar_does_not_depend_on_how_the_gradient_is_given(n_columns):
    """With fewer columns than classes, as many, and more: added columns of zeros change
    nothing."""
    rng = np.random.default_rng(n_columns)
    gradient = rng.normal(size=(n_columns, 6))
    gradient -= gradient.mean(axis=1, keepdims=True)
    pairs = pair_weights(rng, 6, spread=2)
    wide = np.vstack([gradient, np.zeros((9, 6))])
    found, other = (shortest_flow(each, pairs) for each in (gradient, wide))
    # The factor of a Gram matrix pays for its rounding.
    assert found == pytest.approx(other, rel=1e-6)


def random_row(rng, n_classes):
    factor = rng.normal(size=(n_classes, n_classes))
    metric = factor @ factor.T
    return metric, 3 * rng.normal(size=n_classes), float(rng.uniform(0.1, 2.0))


class OneRow:
    """A row of its own, without columns, for the kernels to settle."""

    def __init__(self, duals, cost, label, q, scores, r=0.3):
        none = StoredMatrix(
            np.zeros(2, dtype=np.intp), np.empty(0, dtype=np.int32), np.empty(0)
        )
        free = FreeTable(np.zeros((0, len(scores))), np.ones(0))
        rows = SampleArrays(
            none, none, np.array([label]), np.ones(1), cost, *np.array([[q], [r]]), 0.0
        )
        self.samples = samples_of(rows, duals, free)
        self.scores, self.change = scores.copy(), np.empty_like(scores)

    def settle(self, price, metric, tol, is_unit=False):
        arrays = self.scores, self.change
        return settle_row(self.samples, 0, price, metric, tol, *arrays, is_unit)


@pytest.mark.tiny
@pytest.mark.parametrize("seed", range(10))
def test_a_row_without_flips_ends_balanced(seed):
    rng = np.random.default_rng(seed)
    metric, scores, q = random_row(rng, 5)
    duals = Duals(0.7 * np.eye(5)[[2]], np.empty((0, 5)), np.empty((0, 5)))
    row = OneRow(duals, np.empty((0, 5)), 2, q, scores)
    assert row.settle(Price(1.0, 1.0), metric, 1e-6)
    first, scores, change, alpha = scores, row.scores, row.change, duals.alpha[0]
    values = scores + (np.arange(5) != 2)
    assert alpha.sum() == pytest.approx(0.7)
    assert values.max() - values[alpha > 0].min() <= 1e-6
    np.testing.assert_allclose(change, alpha - np.eye(5)[2] * 0.7)
    moved = (q * metric + 0.3 * np.eye(5)) @ change
    np.testing.assert_allclose(scores, first - moved, atol=1e-12)


@pytest.mark.tiny
@pytest.mark.parametrize("seed", range(10))
def test_a_row_with_flips_ends_balanced_and_pays_for_them(seed):
    rng = np.random.default_rng(seed)
    metric, scores, q = random_row(rng, 4)
    duals = Duals(0.7 * np.eye(4)[[1]], *np.zeros((2, 1, 4)))
    cost = np.array([0.3, np.inf, 0.6, np.inf])
    price = Price(0.5, 1.0)
    price.centre, price.response = 0.0, 2.0
    row = OneRow(duals, cost[None], 1, q, scores)
    moved = np.zeros(4)
    # One call makes a bounded number of moves: call until a row asks for none.
    while row.settle(price, metric, 1e-9):
        moved += row.change
    scores, ((alpha,), (phi,), (beta,)) = row.scores, duals
    assert alpha.sum() + phi.sum() == pytest.approx(0.7)
    assert beta.sum() == pytest.approx(phi.sum())
    spent = phi[0] * 0.3 + phi[2] * 0.6
    assert price.spent == pytest.approx(spent, abs=1e-15)
    assert price.lam == pytest.approx(0.5 + 2.0 * spent)
    label = scores + (np.arange(4) != 1) - scores[1]
    flip = 1.0 - scores - price.lam * cost
    best = max(label.max(), scores.max() + flip.max())
    held = alpha @ label + beta @ scores + phi[[0, 2]] @ flip[[0, 2]]
    assert 0.7 * best - held <= 1e-8
    g = alpha - 0.7 * np.eye(4)[1] + beta - phi + phi.sum() * np.eye(4)[1]
    np.testing.assert_allclose(moved, g, atol=1e-12)


@pytest.mark.tiny
@pytest.mark.parametrize("seed", range(10))
def test_a_row_with_misplaced_mass_ends_balanced(seed):
    """Mass starts on all labels, winners and flips, so that moves of every kind occur."""
    rng = np.random.default_rng(seed)
    metric, scores, q = random_row(rng, 4)
    phi = rng.uniform(size=4) * [0.1, 0.0, 0.1, 0.0]
    alpha, beta = rng.dirichlet(np.ones(4), size=2)
    beta *= phi.sum()
    alpha *= 0.7 - phi.sum()
    duals = Duals(alpha[None].copy(), phi[None].copy(), beta[None].copy())
    cost = np.array([0.3, np.inf, 0.6, np.inf])
    price = Price(0.5, 1.0)
    price.centre, price.response = 0.0, 0.1
    row = OneRow(duals, cost[None], 1, q, scores)
    moved = np.zeros(4)
    for _ in range(200):
        if not row.settle(price, metric, 1e-9):
            break
        moved += row.change
    else:
        pytest.fail("the row asks for moves for ever")
    scores, ((end,), (flipped,), (winners,)) = row.scores, duals
    assert end.sum() + flipped.sum() == pytest.approx(0.7)
    assert winners.sum() == pytest.approx(flipped.sum())
    spent = (flipped - phi)[[0, 2]] @ cost[[0, 2]]
    assert price.spent == pytest.approx(spent, abs=1e-12)
    label = scores + (np.arange(4) != 1) - scores[1]
    flip = 1.0 - scores - price.lam * cost
    best = max(label.max(), scores.max() + flip.max())
    held = end @ label + winners @ scores + flipped[[0, 2]] @ flip[[0, 2]]
    assert 0.7 * best - held <= 1e-8
    changes = end - alpha + winners - beta - flipped + phi
    changes[1] -= (end - alpha).sum()
    np.testing.assert_allclose(moved, changes, atol=1e-12)


@pytest.mark.parametrize("loss", ["crammer-singer", "logistic"])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_where_calls_into_compiled_code_end_changes_nothing(monkeypatch, norm, loss):
    """An interrupt is looked for between calls: any number of them gives the same."""
    problem = replace(wide(norm, 0.5), loss=LOSSES[loss])
    whole = ascended(problem, 2).block.coef
    monkeypatch.setattr(tables, "FIRST_ORDER", replace(FIRST_ORDER, max_call_work=1.0))
    np.testing.assert_array_equal(ascended(problem, 2).block.coef, whole)


def test_calls_into_compiled_code_are_short():
    rows = Ascent(wide("l2", 0.5), None, seed=0).rows
    few, smooth = (tables.rows_a_call(rows, 100, flag) for flag in (False, True))
    assert 1 <= smooth < few <= FIRST_ORDER.max_call_work / 100**2


@pytest.mark.parametrize(("radius", "ends_early"), [(0.03, True), (0.3, False)])
def test_a_trial_gives_up_unless_it_promises_to_succeed(radius, ends_early):
    rng = np.random.default_rng(0)
    y = np.arange(600) % 10
    X = 0.5 * rng.normal(size=(10, 30))[y] + rng.normal(size=(600, 30))
    ball, weight = WassersteinBall(radius), np.full(600, 1 / 600)
    problem = RobustProblem.of(X, y, weight, ball, 10)
    patient = SolverSettings(tol=1e-3, max_iter=40)
    whole = first_order(problem, patient)
    trial = first_order(problem, replace(patient, gives_up=True))
    assert (trial.n_iter < whole.n_iter) == ends_early
    assert (whole.status is SolverStatus.CONVERGED) != ends_early


def test_a_long_trial_goes_on_after_a_wide_first_gap():
    """On scaled pixels, say, the first checks tell nothing, but some hundred epochs do."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 6
    X = rng.normal(size=(6, 20))[y] + 1.2 * rng.normal(size=(300, 20))
    ball, weight = WassersteinBall(5e-3), np.full(300, 1 / 300)
    problem = RobustProblem.of(40 * X, y, weight, ball, 6)
    settings = SolverSettings(tol=1e-3, max_iter=1000, gives_up=True)
    check = replace(settings, max_iter=FIRST_ORDER.first_check, gives_up=False)
    first = first_order(problem, check).certificate
    assert first.gap > 0.5 * first.objective
    found = first_order(problem, settings)
    assert found.status is SolverStatus.CONVERGED
    short = first_order(problem, replace(settings, max_iter=50))
    assert short.n_iter == FIRST_ORDER.first_check


@pytest.mark.parametrize("loss", ["crammer-singer", "logistic"])
@pytest.mark.parametrize("norm", NORMS)
def test_one_class_alone_has_the_constant_classifier(norm, loss):
    X, y = np.random.default_rng(0).normal(size=(6, 3)), np.zeros(6, dtype=np.intp)
    ball = WassersteinBall(0.1, norm=norm)
    problem = RobustProblem.of(X, y, np.full(6, 1 / 6), ball, 1, loss=LOSSES[loss])
    found = first_order(problem, SolverSettings())
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.objective == found.certificate.dual_bound == 0
    assert not found.coef.any()
