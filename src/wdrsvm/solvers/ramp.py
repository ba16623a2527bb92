r"""Train for the worst-case error of rows that are yet to come.

The least worst-case error of the training rows is not the aim: whoever reaches it has
learned these rows by heart.  A classifier is chosen among a few

1. the convex robust fit,
2. the ends of descents from there on the smooth stand-in of ``smooth_error``, one
   at the radius and one at a share of it,
3. the best constant classifier,

by both errors of rows left out, where the same is done without them: the one with the
least worst-case error plus a share of the plain error.  At large radii the least worst-case
error alone gives up whole classes for little.

The result is certified by the ramp bound of ``problem.ramp`` at the best scale.  Its dual
bound is that of the convex problem on the rows that the classifier has right.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..problem import Certificate, RobustProblem
from ..problem.ramp import Errors, RampPoint, RampProblem
from .descent_settings import DESCENT
from .label_noise import AlternatingDescent, Fit, folds_of, solve_as_chosen
from .result import History, SolverResult, SolverSettings
from .smooth_error.descent import Classifier, softened


def minimise_ramp(
    ramp: RampProblem, settings: SolverSettings, solve: Fit = solve_as_chosen
) -> SolverResult:
    """A classifier with low worst-case and plain errors, and its ramp bound."""
    exact = AlternatingDescent(solve, settings, History(settings.callback))
    rough = AlternatingDescent(
        solve, replace(settings, tol=max(settings.tol, DESCENT.rough_tol))
    )
    first = exact.fit(ramp.problem, None)
    errors = _cross_checked(ramp, rough)
    if errors:
        # Only the end that is kept has to be reached.
        end = end_from(ramp, first, best_of(errors))
    else:
        ends = ends_from(ramp, first)
        end = ends[best_of([ramp.errors(*each) for each in ends])]
    point = ramp.scaled(*end)
    last, bound = _proven(ramp, exact, point)
    exact.history.add(exact.n_iter + rough.n_iter, point.value, bound)
    return replace(
        last or first,
        coef=point.coef,
        intercept=point.intercept,
        # At an optimum rounding may put the dual bound a hair above the value.
        certificate=Certificate(point.value, min(bound, point.value), point.lam),
        multipliers=None,
        dual_point=None,
        n_iter=exact.n_iter + rough.n_iter,
        history=tuple(exact.history.records),
    )


def ends_from(ramp: RampProblem, found: SolverResult) -> list[Classifier]:
    """The classifiers to choose from, always in the same order."""
    return [end_from(ramp, found, k) for k in range(len(DESCENT.radius_shares) + 2)]


def end_from(ramp: RampProblem, found: SolverResult, k: int) -> Classifier:
    """The k-th of them: the convex fit, the ends of descents, the best constant one."""
    convex = Classifier(found.coef, found.intercept)
    if k == 0:
        return convex
    if k <= len(DESCENT.radius_shares):
        return softened(ramp.at_share(DESCENT.radius_shares[k - 1]), convex)
    constant = ramp.constant()
    return Classifier(constant.coef, constant.intercept)


def best_of(errors: list[Errors]) -> int:
    """The first with the least worst-case error plus a share of the plain error."""
    prices = [each.worst + DESCENT.plain_weight * each.plain for each in errors]
    return int(np.argmin(prices))


def _cross_checked(ramp: RampProblem, rough: AlternatingDescent) -> list[Errors]:
    """Both errors of each end on rows left out; nothing if there are too few rows."""
    problem, found, mass = ramp.problem, [], []
    fold = folds_of(problem.y, problem.n_classes)
    for k in range(DESCENT.n_folds):
        judged = np.flatnonzero(fold == k)
        others = np.flatnonzero(fold != k)
        if not len(judged):
            return []
        rest = _normalised(problem.take(others))
        learned = RampProblem(rest)
        ends = ends_from(learned, rough.fit(rest, None))
        left_out = RampProblem(_normalised(problem.take(judged)))
        found.append([left_out.errors(*end) for end in ends])
        mass.append(problem.weight[judged].sum())
    return [Errors(*each) for each in np.average(found, axis=0, weights=mass).tolist()]


def _normalised(problem: RobustProblem) -> RobustProblem:
    return problem.with_rows(weight=problem.weight / problem.weight.sum())


def _proven(
    ramp: RampProblem, exact: AlternatingDescent, point: RampPoint
) -> tuple[SolverResult | None, float]:
    """The convex fit to the rows that are right, and the bound that it proves."""
    kept = ramp.doubted.beliefs(point.coef, point.intercept)
    if not point.coef.any() or not ramp.has_two_classes(kept):
        return None, ramp.lost(point)
    last = exact.round(ramp.trusted(point.moving), kept, None)
    return last.found, last.piece.value(last.found.certificate.dual_bound)
