r"""Train for the worst-case error: lower the ramp bound of ``problem.ramp``.

The bound is not convex.  For a given set of rows that are classified rightly it is, one of
our trusted problems on these rows, which any solver here solves and certifies.  A round

1. fits a classifier to the rows that the last one has right, without the others,
2. scales it so that its bound is least,

and rounds go on while the bound falls.  Where they end depends on where they begin: at the
robust fit itself, at one to a smaller radius, and at one without the rows that are wrong by
far.  These descents fit roughly; the best end goes on with the accuracy asked for.  Each
fit begins anew: started at the last classifier, some took a hundred times as long.

With trusted labels, or one label cost for all rows, rounds end at an optimum of the convex
problem on the rows kept.  With several label costs the convex problem knows only how much
of the budget goes to labels, and rounds descend without that promise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from ..problem import Certificate
from ..problem.label_noise import Beliefs
from ..problem.ramp import RampPoint, RampProblem
from .descent_settings import DESCENT
from .label_noise import Descent, Fit, solve_as_chosen
from .result import History, SolverResult, SolverSettings, Start

# The last fit to each set of rows, and the dual bound there.
Seen: TypeAlias = dict[bytes, tuple[SolverResult, float]]


class RampEnd(NamedTuple):
    """Where a descent ended: the point, the last fit to the rows kept there, what that
    proves, and whether nothing more was to be gained."""

    point: RampPoint
    last: SolverResult | None
    dual_bound: float
    settled: bool = True


def minimise_ramp(
    ramp: RampProblem,
    settings: SolverSettings,
    start: Start | None = None,
    solve: Fit = solve_as_chosen,
) -> tuple[SolverResult, bool]:
    """A classifier with a low ramp bound, and whether the descent to it has settled.

    ``start`` is one more point to begin at.  The result's certificate has the bound, and
    as its dual bound that of the convex problem on the rows kept.
    """
    exact = Descent(solve, settings, History(settings.callback))
    rough = Descent(solve, replace(settings, tol=max(settings.tol, DESCENT.rough_tol)))
    first = exact.fit(ramp.problem, None)
    begun = ramp.scaled(first.coef, first.intercept)
    seen: Seen = {}
    points = [
        descended(ramp, rough, point, DESCENT.ramp_rough_rounds, seen).point
        for point in (begun, *_other_starts(ramp, rough, first, start))
    ]
    best = min(points, key=lambda each: each.value)
    end = descended(ramp, exact, best, DESCENT.max_rounds, {})
    constant = ramp.constant()
    if constant.value < end.point.value:
        end = RampEnd(constant, None, ramp.lost(constant))
    n_iter = exact.n_iter + rough.n_iter
    return _as_result(end, end.last or first, n_iter, exact.history), end.settled


def descended(
    ramp: RampProblem,
    descent: Descent,
    point: RampPoint,
    max_rounds: int,
    seen: Seen,
) -> RampEnd:
    """Rounds from a point down, unless they come to rows that were ``seen`` before."""
    for _ in range(max_rounds):
        kept = ramp.doubted.beliefs(point.coef, point.intercept)
        rows = kept.belief.tobytes() + np.float64(point.moving).tobytes()
        if rows in seen:
            return RampEnd(point, *seen[rows])
        if not ramp.has_two_classes(kept):
            return RampEnd(point, None, ramp.lost(point))
        last = descent.round(ramp.trusted(point.moving), kept, None)
        bound = last.piece.value(last.found.certificate.dual_bound)
        seen[rows] = last.found, bound
        descent.history.add(descent.n_iter, point.value, bound)
        new = ramp.scaled(last.found.coef, last.found.intercept)
        enough = DESCENT.negligible_fall * descent.settings.tol * point.value
        if not new.value < point.value - enough:
            return RampEnd(point, last.found, bound)
        point = new
    return RampEnd(point, None, -np.inf, settled=False)


def _other_starts(
    ramp: RampProblem, rough: Descent, first: SolverResult, start: Start | None
) -> Iterator[RampPoint]:
    radius, doubted = ramp.problem.radius, ramp.doubted
    if np.isfinite(ramp.flip_cost).any():
        yield _fitted(ramp, rough, radius, doubted.all_believed)
    yield _fitted(ramp, rough, DESCENT.ramp_smaller_radius * radius, doubted.all_believed)
    kept = doubted.dearer(DESCENT.ramp_far_wrong).beliefs(first.coef, first.intercept)
    if ramp.has_two_classes(kept):
        yield _fitted(ramp, rough, radius, kept)
    if start is not None:
        yield ramp.scaled(start.coef, start.intercept)


def _fitted(ramp: RampProblem, rough: Descent, radius: float, kept: Beliefs) -> RampPoint:
    """The fit to the rows kept at a radius."""
    found = rough.round(ramp.trusted(radius), kept, None).found
    return ramp.scaled(found.coef, found.intercept)


def _as_result(
    end: RampEnd, last: SolverResult, n_iter: int, history: History
) -> SolverResult:
    point = end.point
    return replace(
        last,
        coef=point.coef,
        intercept=point.intercept,
        # At an optimum rounding may put the dual bound a hair above the value.
        certificate=Certificate(point.value, min(end.dual_bound, point.value), point.lam),
        multipliers=None,
        dual_point=None,
        n_iter=n_iter,
        history=tuple(history.records),
    )
