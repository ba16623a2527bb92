"""The class means prove a constant classifier optimal where they can, and only there."""

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import WassersteinBall
from wdrsvm.problem import LOSSES, RobustProblem
from wdrsvm.problem.class_means import class_means
from wdrsvm.solvers import SolverSettings, solve
from wdrsvm.solvers.shortcuts.constant_optimum import (
    CONSTANT_OPTIMUM,
    _best_constant,
    constant_optimum,
)

N_ROWS, N_FEATURES, N_CLASSES = 25_000, 4, 3
SETTINGS = SolverSettings(tol=1e-5)


def means_solver(problem, settings):
    return solve(problem, "auto", settings)


def problem_of(radius, *, shift=0.0, label_cost=2.0, norm="l2", of=np.asarray, **options):
    """Noise, but for a shift of the class means along the first feature."""
    rng = np.random.default_rng(0)
    y = rng.integers(N_CLASSES, size=N_ROWS)
    X = rng.standard_normal((N_ROWS, N_FEATURES))
    X[:, 0] += shift * y
    weight = np.full(N_ROWS, 1 / N_ROWS)
    ball = WassersteinBall(radius, label_cost, norm, options.pop("feature_cost", None))
    return RobustProblem.of(of(X), y, weight, ball, N_CLASSES, **options)


CASES = [
    {},
    {"label_cost": np.inf},
    {"norm": "l1"},
    {"norm": "linf", "label_cost": np.inf},
    {"feature_cost": np.linspace(0.5, 2.0, N_FEATURES)},
    {"fit_intercept": False},
    {"of": sparse.csr_array},
    {"loss": LOSSES["logistic"], "label_cost": np.inf},
    {"loss": LOSSES["logistic"], "label_cost": np.inf, "fit_intercept": False},
]


@pytest.mark.parametrize("options", CASES)
def test_noise_needs_no_solver(options):
    problem = problem_of(0.1, **options)
    found = constant_optimum(problem, SETTINGS, means_solver)
    assert found.solver == "class-means"
    assert not found.coef.any()
    assert found.certificate.holds(SETTINGS.tol)
    risk = problem.risk(found.coef, found.intercept).value
    assert found.certificate.objective == pytest.approx(risk, rel=1e-12)
    solved = solve(problem, "newton", SolverSettings(tol=1e-4)).certificate
    assert solved.dual_bound <= found.certificate.objective * (1 + 1e-9)
    assert found.certificate.dual_bound <= solved.objective * (1 + 1e-9)


def test_the_best_constant_of_the_logistic_loss_is_not_solved_for():
    """Its probabilities are the weights of the classes; a solver finds the same ones."""
    problem = problem_of(0.1, loss=LOSSES["logistic"], label_cost=np.inf)
    means = class_means(problem.with_rows(weight=problem.weight * (1 + problem.y)))
    exact = SolverSettings(tol=1e-9)
    intercept, risk = _best_constant(means, exact, lambda *_: pytest.fail("solved"))
    solved = solve(means.with_rows(X=np.zeros_like(means.X)), settings=exact)
    assert risk == pytest.approx(solved.certificate.objective, rel=1e-8)
    there = means.risk(np.zeros((N_CLASSES, means.n_features)), intercept)
    assert risk == pytest.approx(there.value, rel=1e-12)


def test_with_flips_the_best_constant_is_found_only_where_it_may_be_optimal():
    """The constant of trusted labels, which has less risk, is worse than a direction."""
    told = {"loss": LOSSES["logistic"], "label_cost": 2.0}
    problem = problem_of(0.1, shift=3.0, **told)
    solver = lambda *_: pytest.fail("solved")  # noqa: E731
    assert constant_optimum(problem, SETTINGS, solver) is None
    calls = []

    def counted(problem, settings):
        calls.append(problem)
        return means_solver(problem, settings)

    noise = problem_of(0.5, **told)
    found = constant_optimum(noise, SETTINGS, counted)
    assert len(calls) == 2
    assert found.certificate.holds(SETTINGS.tol)


def test_it_is_tried_first():
    assert solve(problem_of(0.1), settings=SETTINGS).solver == "class-means"


@pytest.mark.parametrize("shift", [1.0, 3.0])
@pytest.mark.parametrize("label_cost", [2.0, np.inf])
def test_nothing_is_claimed_where_a_classifier_is_better(shift, label_cost):
    problem = problem_of(0.01, shift=shift, label_cost=label_cost)
    assert constant_optimum(problem, SETTINGS, means_solver) is None
    assert solve(problem, settings=SolverSettings(tol=1e-3)).coef.any()


@pytest.mark.parametrize("trust", [0.5, np.inf])
def test_trusted_rows_are_not_taken_for_doubtful_ones(trust):
    label_trust = np.where(np.arange(N_ROWS) % 2, 1.0, trust)
    problem = problem_of(0.3, label_cost=0.2, label_trust=label_trust)
    found = constant_optimum(problem, SETTINGS, means_solver)
    assert found is None or found.certificate.holds(SETTINGS.tol)


def test_rounds_of_small_data_cost_no_more_than_before():
    problem = problem_of(0.1)
    few = problem.take(np.arange(CONSTANT_OPTIMUM.min_entries // N_FEATURES - 1))
    assert constant_optimum(few, SETTINGS, means_solver) is None
