"""Training in matrix products against other methods, by certificates alone."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from wdrsvm.problem import LOSSES, Loss, RobustProblem, WassersteinBall, certify
from wdrsvm.solvers import SolverSettings, SolverStatus, Start, solve
from wdrsvm.solvers.newton.products.curvature import own_rows
from wdrsvm.solvers.newton.products.loop import product_newton
from wdrsvm.solvers.newton.products.settings import PRODUCTS
from wdrsvm.solvers.newton.smooth_loss import label_newton

from ....rows.chunked import chunked

LOGISTIC = LOSSES["logistic"]


def blobs(n_rows=300, n_features=8, n_classes=20, seed=0, loss=LOGISTIC, **options):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    X = (
        rng.normal(size=(n_rows, n_features))
        + 2 * rng.normal(size=(n_classes, n_features))[y]
    )
    weight = rng.uniform(0.5, 1.5, n_rows)
    ball = {"radius": 0.05, "label_cost": np.inf, "norm": "l2"} | options.pop("ball", {})
    return RobustProblem.of(
        X,
        y,
        weight / weight.sum(),
        WassersteinBall(**ball),
        n_classes,
        loss=loss,
        **options,
    )


def bound_holds(result):
    return result.certificate.dual_bound <= result.certificate.objective


@pytest.mark.usefixtures("both_searches")
@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-6])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_it_certifies_what_newton_finds(norm, tol):
    problem = blobs(ball={"norm": norm})
    found = product_newton(problem, SolverSettings(tol=tol))
    other = label_newton(problem, SolverSettings(tol=1e-7)).certificate
    assert found.status is SolverStatus.CONVERGED
    assert bound_holds(found)
    assert found.certificate.dual_bound <= other.objective
    assert other.dual_bound <= found.certificate.objective
    value = problem.risk(found.coef, found.intercept).value
    assert value == pytest.approx(found.certificate.objective, rel=1e-12)


@pytest.mark.usefixtures("both_searches")
@pytest.mark.parametrize(
    "options",
    [
        {"fit_intercept": False},
        {"loss": Loss(temperature=0.3, margin=1.0)},
        {"ball": {"feature_cost": np.linspace(0.5, 2.0, 8)}},
        {"n_classes": 50},
        {"n_rows": 40, "n_features": 60, "n_classes": 5},
        {"n_classes": 2},
    ],
    ids=str,
)
def test_every_kind_of_problem_it_knows(options):
    problem = blobs(**options)
    found = product_newton(problem, SolverSettings(tol=1e-5))
    other = solve(problem, "first-order", SolverSettings(tol=1e-4)).certificate
    assert found.status is SolverStatus.CONVERGED
    assert bound_holds(found)
    assert found.certificate.dual_bound <= other.objective
    assert other.dual_bound <= found.certificate.objective


@pytest.mark.usefixtures("both_searches")
def test_radii_of_all_sizes():
    for radius in (1e-3, 0.01, 0.3, 1.0, 30.0):
        problem = blobs(ball={"radius": radius})
        found = solve(problem, "newton", SolverSettings(tol=1e-4))
        assert found.status is SolverStatus.CONVERGED, radius
        assert bound_holds(found)


def test_a_neighbours_classifier_saves_steps():
    problem = blobs()
    near = product_newton(problem.with_radius(0.055), SolverSettings(tol=1e-4))
    start = Start(near.coef, near.intercept, near.certificate.lam)
    warm = product_newton(problem, SolverSettings(tol=1e-4), start)
    cold = product_newton(problem, SolverSettings(tol=1e-4))
    assert warm.status is SolverStatus.CONVERGED
    assert warm.n_iter < cold.n_iter


def test_a_loose_tolerance_is_cheap():
    problem = blobs()
    steps = [
        product_newton(problem, SolverSettings(tol=tol)).n_iter for tol in (1e-2, 1e-6)
    ]
    assert 3 * steps[0] <= steps[1]


def test_the_limit_of_steps_holds_and_what_is_returned_is_certified():
    problem = blobs()
    found = product_newton(problem, SolverSettings(tol=1e-6, max_iter=3))
    assert found.n_iter == 3
    assert found.status is SolverStatus.MAX_ITER
    assert found.certificate.objective < np.log(20)
    assert bound_holds(found)


def test_rows_of_no_weight_do_not_count():
    problem = blobs()
    idle = np.arange(problem.n_rows) % 3 == 0
    weight = np.where(idle, 0.0, problem.weight)
    weighted = problem.with_rows(weight=weight / weight.sum())
    some = weighted.take(np.flatnonzero(~idle))
    one, other = (product_newton(p, SolverSettings(tol=1e-4)) for p in (weighted, some))
    np.testing.assert_array_equal(one.coef, other.coef)


def test_threads_change_nothing(monkeypatch):
    problem = replace(blobs(6000), fit_intercept=True)
    first = product_newton(problem, SolverSettings(tol=1e-3))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    second = product_newton(problem, SolverSettings(tol=1e-3))
    np.testing.assert_array_equal(first.coef, second.coef)


def test_flips_that_are_rare():
    problem = blobs(ball={"label_cost": 6.0, "radius": 0.1}, n_classes=6)
    found = product_newton(problem, SolverSettings(tol=1e-2))
    trusted = blobs(ball={"radius": 0.1}, n_classes=6)
    other = label_newton(problem, SolverSettings(tol=1e-7)).certificate
    assert other.objective > label_newton(trusted, SolverSettings()).certificate.objective
    assert found.status is SolverStatus.CONVERGED
    assert bound_holds(found)
    assert found.certificate.dual_bound <= other.objective
    assert other.dual_bound <= found.certificate.objective


def test_flips_of_labels_that_are_trusted_more_or_less():
    trust = np.tile([1.0, 1.0, 2.0, 2.0], 75)
    plain = blobs(ball={"label_cost": 6.0, "radius": 0.1}, n_classes=6)
    problem = plain.with_rows(label_trust=trust)
    found = product_newton(problem, SolverSettings(tol=1e-2))
    other = label_newton(problem, SolverSettings(tol=1e-7)).certificate
    same = label_newton(plain, SolverSettings(tol=1e-7)).certificate
    assert abs(other.objective - same.objective) > 1e-4
    assert found.status is SolverStatus.CONVERGED
    assert bound_holds(found)
    assert found.certificate.dual_bound <= other.objective
    assert other.dual_bound <= found.certificate.objective


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize(
    ("label_cost", "radius"),
    [(0.1, 0.05), (0.5, 0.05), (1.0, 0.3), (3.0, 0.3), (3.0, 0.01)],
)
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_flips_that_use_up_the_radius(norm, label_cost, radius, tol):
    ball = {"label_cost": label_cost, "radius": radius, "norm": norm}
    problem = blobs(ball=ball, n_classes=8)
    found = product_newton(problem, SolverSettings(tol=tol))
    other = label_newton(problem, SolverSettings(tol=1e-7)).certificate
    assert found.status is SolverStatus.CONVERGED
    assert bound_holds(found)
    assert found.certificate.dual_bound <= other.objective
    assert other.dual_bound <= found.certificate.objective
    value = problem.risk(found.coef, found.intercept).value
    assert value == pytest.approx(found.certificate.objective, rel=1e-12)


@pytest.mark.parametrize("label_cost", [0.5, 2.0, np.inf])
def test_others_can_recompute_the_bound(label_cost):
    problem = blobs(ball={"label_cost": label_cost, "radius": 0.1}, n_classes=6)
    result = product_newton(problem, SolverSettings(tol=1e-3))
    again = certify(problem, result.coef, result.intercept, result.multipliers)
    assert again.dual_bound == pytest.approx(result.certificate.dual_bound, rel=1e-9)


def test_flips_take_few_passes_more_than_trusted_labels():
    steps = [
        product_newton(
            blobs(ball={"label_cost": cost, "radius": 0.01}, n_rows=600),
            SolverSettings(tol=1e-3),
        ).n_iter
        for cost in (np.inf, 2.0)
    ]
    assert steps[1] <= 5 * steps[0]


@pytest.mark.parametrize(
    ("label_cost", "solved"),
    [(1.0, partial(solve, name="newton")), (np.inf, product_newton)],
)
def test_features_that_are_all_zero_leave_a_constant_classifier(label_cost, solved):
    y = np.arange(60) % 12
    weight = np.full(60, 1 / 60)
    ball = WassersteinBall(0.1, label_cost)
    problem = RobustProblem.of(np.zeros((60, 6)), y, weight, ball, 12, loss=LOGISTIC)
    found = solved(problem, settings=SolverSettings(tol=1e-6))
    assert found.certificate.objective == pytest.approx(np.log(12))
    assert found.certificate.holds(1e-6)


@pytest.mark.parametrize("label_cost", [np.inf, 2.0, 0.5])
def test_rows_in_chunks_are_trained_where_they_are(label_cost, monkeypatch):
    pytest.importorskip("dask")
    # Chunks do not tell the preconditioner the rows of each class.
    monkeypatch.setattr(own_rows, "PRODUCTS", replace(PRODUCTS, own_rows=0))
    ball = {"label_cost": label_cost}
    problem = blobs(n_rows=900, n_features=120, n_classes=40, ball=ball)
    here, there = (
        solve(each, "newton", SolverSettings(tol=1e-2))
        for each in (problem, chunked(problem, 4))
    )
    assert there.status is SolverStatus.CONVERGED
    value = problem.risk(there.coef, there.intercept).value
    assert value == pytest.approx(there.certificate.objective, rel=1e-9)
    assert there.certificate.dual_bound <= here.certificate.objective
    assert here.certificate.dual_bound <= there.certificate.objective
    # Learnt shares make the passes of a cluster as few as those in memory.
    assert there.n_iter <= 1.2 * here.n_iter + 2


def test_a_small_tolerance_is_reached_where_weights_of_pairs_are_far_apart():
    """Lengths of flows from a Gram matrix have no digits left there."""
    rng = np.random.default_rng(104)
    y = np.arange(900) % 9
    X = rng.standard_normal((9, 10))[y] + 1.5 * rng.standard_normal((900, 10))
    ball = WassersteinBall(1e-3)
    problem = RobustProblem.of(
        X, y, np.full(900, 1 / 900), ball, 9, loss=LOSSES["logistic"]
    )
    found = product_newton(problem, SolverSettings(tol=1e-6, max_iter=100))
    assert found.certificate.holds(1e-6)


def test_rows_far_from_zero_are_trained_in_double_precision():
    """Without an intercept no centre can be taken from them."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 40
    X = 10 + 0.1 * (0.2 * rng.normal(size=(40, 100))[y] + rng.normal(size=(400, 100)))
    weight, ball = np.full(400, 1 / 400), WassersteinBall(4e-4)
    problem = RobustProblem.of(X, y, weight, ball, 40, False, loss=LOSSES["logistic"])
    found = product_newton(problem, SolverSettings(tol=1e-3))
    assert found.certificate.holds(1e-3)
    exact = product_newton(problem, SolverSettings(tol=1e-6)).certificate
    assert found.certificate.dual_bound <= exact.objective
    assert exact.dual_bound <= found.certificate.objective
