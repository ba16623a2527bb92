"""What a run keeps: its best point and its best bound."""

import numpy as np

from wdrsvm.problem import Multipliers
from wdrsvm.solvers.interior_point.loop import interior_point
from wdrsvm.solvers.result import Incumbent, SolverSettings

from ..agreement.instances import random_problem


def spoilt(found):
    """Good multipliers with noise that scaling alone cannot mend."""
    rng = np.random.default_rng(0)
    arrays = (found.alpha, found.phi, found.beta)
    noisy = (each * rng.lognormal(sigma=1e-3, size=each.shape) for each in arrays)
    return Multipliers(*noisy, flow=found.flow, gradient=found.gradient)


def test_the_best_point_and_the_best_bound_are_kept_apart():
    problem = random_problem(3, radius=1e-4)
    best = interior_point(problem, SolverSettings(tol=1e-8))
    kept = Incumbent(np.zeros_like(best.coef), np.zeros_like(best.intercept))
    assert not kept.certificate.holds(1e-2)
    kept.certify(problem, best.coef, best.intercept, spoilt(best.multipliers), 1.0)
    assert kept.dual_bound < 0.9 * kept.objective
    kept.certify(problem, 0 * best.coef, best.intercept, spoilt(best.multipliers), 1e-6)
    assert kept.dual_bound >= 0.999 * kept.objective
    kept.certify(problem, 0 * best.coef, best.intercept, no_multipliers(problem), 1e-6)
    assert kept.coef is best.coef
    assert kept.certificate.holds(1e-3)
    assert kept.certificate.objective == best.certificate.objective


def no_multipliers(problem):
    return Multipliers(*np.zeros((3, problem.n_rows, problem.n_classes)))


def test_a_bound_above_the_objective_by_rounding_is_the_objective():
    kept = Incumbent(np.zeros((2, 1)), np.zeros(2), objective=0.5, dual_bound=0.5 + 1e-12)
    assert kept.certificate.gap == 0.0
