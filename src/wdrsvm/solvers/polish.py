r"""Polish: from a nearly optimal point to the gap asked for.

Rows far from a kink are fixed to their largest piece, which turns them into one linear
term and makes the objective smaller nowhere than it is allowed to be: the smaller problem
is a minorant of the whole, its multipliers, with whole weights on the fixed pieces, are
multipliers of the whole, and its optimum is the whole's if no fixed row changes its mind.
The interior point solves it; the certificate judges on all rows; while the gap is too
large, more rows are left free.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..problem import Multipliers
from ..problem.multipliers import RowMultipliers
from .passes import Passes, SoftmaxMultipliers
from .primal_dual import Iterate, ScaledData
from .result import History, Incumbent

Floats = NDArray[np.float64]

# Rows are near a kink if their two largest pieces differ by less than this many mu.
NEAR = 25.0
WIDER = 5.0
# Below this share of the gap asked for the smaller problem is solved.
FINER = 0.05
# A smoothing so small that a softmax is a maximum.
HARD_MU = 1e-13


@dataclass(frozen=True, eq=False)
class FixedAndFree:
    """Multipliers: fixed rows carry their whole weight on one piece."""

    fixed: SoftmaxMultipliers
    free_rows: NDArray[np.intp]
    free: Multipliers

    @property
    def flow(self) -> Floats | None:
        return self.free.flow

    @property
    def gradient(self) -> Floats | None:
        return self.free.gradient

    def rows(self, rows: slice) -> RowMultipliers:
        part: RowMultipliers = self.fixed.rows(rows)
        first, last = np.searchsorted(self.free_rows, [rows.start, rows.stop])
        inside = self.free_rows[first:last] - rows.start
        free = self.free.rows(slice(int(first), int(last)))
        for whole, some in zip(part, free, strict=True):
            whole[inside] = some
        return part


def polish(
    passes: Passes,
    coef: Floats,
    lam: float,
    mu: float,
    best: Incumbent,
    tol: float,
    iterations: range,
    history: History,
) -> int:
    """Improve ``best`` from the point (coef, lam) until its gap is ``tol``; returns the
    number of interior point iterations, counted in ``iterations``."""
    problem, width = passes.problem, NEAR * mu
    n_iter, max_iter = 0, len(iterations)
    fixed = SoftmaxMultipliers(
        passes, *passes.scaling.original(coef), lam, HARD_MU, None, None
    )
    margin = passes.margins(coef, lam)
    while n_iter < max_iter and not best.certificate.holds(tol):
        free = np.flatnonzero(margin <= max(width, _width_for(margin, 2 * coef.size)))
        iterate = _reduced(passes, coef, lam, free)
        solved = FINER * tol if len(free) < problem.n_rows else 0.0
        while n_iter < max_iter and not best.certificate.holds(tol):
            iterate.predictor_corrector()
            n_iter += 1
            at_limit = iterate.is_stuck or n_iter == max_iter
            if _is_within(iterate, tol) or at_limit:
                point = passes.scaling.original(iterate.coef)
                multipliers = FixedAndFree(fixed, free, iterate.multipliers())
                best.judge(problem, *point, multipliers, tol)
            if _is_within(iterate, solved) or at_limit:
                break
        history.add(iterations.start + n_iter, best.objective, best.dual_bound)
        if len(free) == problem.n_rows:
            break
        width *= WIDER
    return n_iter


def _is_within(iterate: Iterate, tol: float) -> bool:
    return iterate.gap <= tol * max(iterate.objective, 1e-2)


def _width_for(margin: Floats, n_rows: int) -> float:
    """The width that leaves that many rows free."""
    if n_rows >= len(margin):
        return np.inf
    return float(np.partition(margin, n_rows)[n_rows])


def _reduced(passes: Passes, coef: Floats, lam: float, free: NDArray[np.intp]) -> Iterate:
    """The problem on the free rows, the others as a linear term."""
    problem = passes.problem
    weight = problem.weight.copy()
    weight[free] = 0.0
    others = replace(passes, problem=replace(problem, weight=weight))
    rest = others.evaluate(coef, lam, HARD_MU)
    trust = problem.label_trust
    part = replace(
        problem,
        X=problem.features(free),
        y=problem.y[free],
        weight=problem.weight[free],
        label_trust=None if trust is None else trust[free],
    )
    data = ScaledData.of(part, passes.scaling, rest.gradient, rest.on_flips)
    return Iterate(data, problem.norm)
