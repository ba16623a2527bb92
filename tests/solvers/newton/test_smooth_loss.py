"""Newton's method on smooth losses: certified at every corner of the model."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.problem import LOSSES, Loss, RobustProblem, WassersteinBall
from wdrsvm.solvers import SolverSettings, SolverStatus, Start, choose, solve
from wdrsvm.solvers.newton import smooth_loss as module
from wdrsvm.solvers.newton.settings import NEWTON
from wdrsvm.solvers.scaling import Scaling

from ...agreement.instances import describe, random_problem

SMOOTHED = Loss(temperature=0.1, margin=1.0)
FAMILY = [LOSSES["logistic"], SMOOTHED, Loss(0.01, 1.0)]


def blobs(n_rows=400, n_features=3, n_classes=3, spread=1.0, seed=0, **ball):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    X = spread * rng.normal(size=(n_rows, n_features)) + rng.normal(size=(3, n_features))[y]
    ball = WassersteinBall(**{"radius": 0.05, "label_cost": 2.0} | ball)
    return RobustProblem.of(X, y, np.full(n_rows, 1 / n_rows), ball, n_classes)


@pytest.mark.parametrize("loss", FAMILY, ids=str)
def test_random_instances_are_certified(loss):
    for seed in range(40):
        problem = replace(random_problem(seed), loss=loss)
        result = solve(problem, "newton")
        assert result.status is SolverStatus.CONVERGED, (seed, describe(problem))
        assert result.certificate.holds(1e-6)


@pytest.mark.parametrize("loss", FAMILY[:2], ids=str)
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("label_cost", [0.5, np.inf])
def test_many_rows_are_certified(norm, label_cost, loss):
    problem = replace(blobs(3000, norm=norm, label_cost=label_cost), loss=loss)
    result = solve(problem, "newton")
    assert result.status is SolverStatus.CONVERGED
    assert result.n_iter < 80


def test_softmax_and_barrier_find_the_same(monkeypatch):
    problem = replace(blobs(1500), loss=SMOOTHED)
    many = solve(problem, "newton").certificate
    never = replace(NEWTON, softmax_rows_per_coefficient=np.inf)
    monkeypatch.setattr(module, "NEWTON", never)
    few = solve(problem, "newton").certificate
    assert many.objective == pytest.approx(few.objective, abs=1e-6)
    assert max(many.dual_bound, few.dual_bound) <= min(many.objective, few.objective)


def test_a_softmax_that_is_not_fine_enough_gives_way_to_the_barrier(monkeypatch):
    monkeypatch.setattr(module, "NEWTON", replace(NEWTON, last_softmax_mu=0.1))
    result = solve(replace(blobs(1500), loss=SMOOTHED), "newton")
    assert result.status is SolverStatus.CONVERGED


def test_separable_data_without_an_adversary_end_at_zero():
    problem = blobs(60, spread=0.05, radius=0.0, label_cost=np.inf)
    found = solve(replace(problem, loss=LOSSES["logistic"]), "newton")
    assert found.status is SolverStatus.CONVERGED
    assert 0 <= found.certificate.objective < 1e-7
    assert np.isfinite(found.coef).all()


def test_a_start_at_the_solution_saves_steps():
    problem = replace(blobs(1500), loss=SMOOTHED)
    cold = solve(problem, "newton")
    start = Start(cold.coef, cold.intercept, cold.certificate.lam)
    warm = solve(problem, "newton", start=start)
    assert warm.status is SolverStatus.CONVERGED
    assert warm.certificate.objective == pytest.approx(cold.certificate.objective, abs=1e-6)
    assert warm.n_iter <= cold.n_iter


def test_iterations_are_limited():
    result = solve(replace(blobs(), loss=SMOOTHED), "newton", SolverSettings(max_iter=3))
    assert result.status is SolverStatus.MAX_ITER
    assert result.n_iter <= 3
    assert result.certificate.gap >= 0


@pytest.mark.parametrize(
    "name", ["interior-point", "subgradient", "stochastic", "clarabel"]
)
def test_solvers_that_need_kinks_say_who_does_not(name):
    problem = replace(blobs(), loss=LOSSES["logistic"])
    with pytest.raises(ValueError, match="use one of 'auto', 'newton', 'first-order'"):
        solve(problem, name)


def test_auto_takes_newton_or_for_wide_data_first_order():
    assert choose(replace(blobs(), loss=SMOOTHED), 1e-6) == "newton"
    wide = replace(blobs(n_features=2000, norm="l1"), loss=SMOOTHED)
    assert choose(wide, 1e-6) == "first-order"


@pytest.mark.parametrize("share", [NEWTON.smooth_settled, NEWTON.smooth_well_settled])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_the_step_after_the_last_one_would_promise_little(norm, share):
    for seed in range(6):
        problem = blobs(150, seed=seed, norm=norm, label_cost=np.inf)
        problem = replace(problem, loss=LOSSES["logistic"])
        with problem.reduction() as reduction:
            scaling = Scaling.of(problem)
            smoothed = module.SmoothedLabelRisk.over(problem, scaling, reduction)
            newton = module.LabelNewtonSteps(smoothed, np.random.default_rng(0))
            newton.settle(100, share)
            assert newton.n_iter < 12
            assert newton._step() <= share * newton.resolution


def test_promises_are_foreseen_by_quadratic_convergence():
    assert module.foreseen_promise(1e-2, 1e-5) == pytest.approx(1e-11)
    # The first step tells nothing about the next one, and neither does a slow one.
    assert module.foreseen_promise(np.inf, 1e-5) == 1e-5
    assert module.foreseen_promise(1e-2, 5e-3) == 5e-3
