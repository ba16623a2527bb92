"""The tie of a constant classifier: of those within the gap, one that ranks the classes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...problem import Certificate, RobustProblem
from ...solvers import SolverResult, SolverSettings, solve
from .radius_max import LimitClassifier

# Enough for a direction that breaks ties, and for whether it changes any score.
ROUGHLY = SolverSettings(tol=1e-3)
# Entries times classes that are enough for a direction, and rows a class for anything.
ENOUGH_ENTRIES = 300_000
ROWS_A_CLASS = 20


def nominal_classifier(problem: RobustProblem) -> SolverResult:
    """Roughly the best classifier without an adversary, of some rows where there are many.

    Advice and a direction that breaks ties must not cost a second fit.
    """
    problem = sampled(problem, ENOUGH_ENTRIES)
    harmless = replace(problem.ball, radius=0.0, label_cost=np.inf)
    return solve(replace(problem, ball=harmless), settings=ROUGHLY)


def sampled(problem: RobustProblem, n_entries: int) -> RobustProblem:
    """About so many entries times classes, the same rows every time; or all rows."""
    n_classes = problem.n_classes
    n_rows = n_entries // (n_classes * (problem.n_features + 1))
    n_rows = max(n_rows, ROWS_A_CLASS * n_classes)
    if problem.n_rows <= n_rows:
        return problem
    draw = np.random.default_rng(0)
    rows = np.sort(draw.choice(problem.n_rows, n_rows, replace=False))
    part = problem.take(rows).without_idle_rows()
    total = part.weight.sum()
    has_two_classes = len(np.unique(part.y)) > 1
    return part.with_rows(weight=part.weight / total) if has_two_classes else problem


def is_constant(
    problem: RobustProblem, bound: float, limit: LimitClassifier, tol: float
) -> bool:
    """Whether it is proven that no classifier promises more than the constant one."""
    proven = bound >= limit.risk * (1 - 1.01 * tol)
    return problem.radius > 0 and proven


def break_ties(
    problem: RobustProblem,
    result: SolverResult,
    limit: LimitClassifier,
    nominal: SolverResult,
    tol: float,
    nominal_risk: float | None = None,
) -> SolverResult:
    """A step from the constant classifier towards the nominal one.

    A constant classifier does not rank the classes of a row.  By convexity the step costs
    at most half of what ``tol`` allows.  However short it is, the scores then rank the
    classes as the nominal classifier does.
    """
    bound = result.certificate.dual_bound
    spare = bound - limit.risk + tol * limit.risk
    if nominal_risk is None:
        nominal_risk = problem.risk(nominal.coef, nominal.intercept).value
    slope = nominal_risk - limit.risk
    if spare <= 0 or slope <= 0:
        return result
    step = min(1.0, 0.5 * spare / slope)
    coef = limit.coef + step * (nominal.coef - limit.coef)
    intercept = limit.intercept + step * (nominal.intercept - limit.intercept)
    risk = problem.risk(coef, intercept)
    certificate = Certificate(risk.value, min(bound, risk.value), risk.lam)
    return replace(result, coef=coef, intercept=intercept, certificate=certificate)
