r"""Polish: from a nearly optimal point to the requested gap.

Rows far from a kink are fixed to their largest piece.  Together they become one linear
term.  The reduced problem has the other rows, which are free.  Its objective is nowhere
above that of the whole problem.  Its multipliers, with the whole weight of each fixed row
on its piece, are multipliers of the whole problem.  Its optimum is the optimum of the whole
problem if the fixed pieces are still the largest there.

The interior point solves the reduced problem.  The certificate uses all rows.  While the
gap is too large, more rows become free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, Protocol, TypeVar

import numpy as np

from ...arrays import Codes, Floats
from ...problem import Multipliers, RobustProblem
from ...problem.certificate.multipliers import RowMultipliers
from ...rows.reduce import Kept, Reduction, added, joined
from ..interior_point.loop import farther_lams
from ..interior_point.point import Iterate, ScaledData
from ..result import History, Incumbent
from .settings import NEWTON
from .smoothed_risk import SmoothedRisk
from .smoothing import SoftmaxMultipliers

# A smoothing so small that a softmax is a maximum in floating point.
HARD_MU = 1e-13


@dataclass(frozen=True, eq=False)
class FixedAndFree:
    """Multipliers: each fixed row has its whole weight on one piece."""

    fixed: SoftmaxMultipliers
    free_rows: Codes
    free: Multipliers

    @property
    def flow(self) -> Floats | None:
        return self.free.flow

    @property
    def gradient(self) -> Floats | None:
        return self.free.gradient

    def rows(self, problem: RobustProblem, rows: slice) -> RowMultipliers:
        part: RowMultipliers = self.fixed.rows(problem, rows)
        begin, end = problem.first_row + rows.start, problem.first_row + rows.stop
        first, last = np.searchsorted(self.free_rows, [begin, end])
        inside = self.free_rows[first:last] - begin
        free = self.free.rows(problem, slice(int(first), int(last)))
        for whole, some in zip(part, free, strict=True):
            whole[inside] = some
        return part


def polish(
    smoothed: SmoothedRisk,
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
    problem, near = (
        smoothed.problem,
        _near_rows(smoothed, coef, lam, NEWTON.near_margin * mu),
    )
    n_iter, max_iter = 0, len(iterations)
    at = smoothed.point(coef, lam, HARD_MU)
    fixed = SoftmaxMultipliers(smoothed.smoothing, at)

    def holds(free: Codes, iterate: Iterate) -> bool:
        point = smoothed.scaling.original(iterate.coef)
        multipliers = FixedAndFree(fixed, free, iterate.multipliers())
        best.certify(problem, *point, multipliers, tol)
        return best.certificate.holds(tol)

    while n_iter < max_iter and not best.certificate.holds(tol) and near.are_few:
        free = near.rows()
        on_all = len(free) == problem.n_rows
        solved = 0.0 if on_all else NEWTON.polished * tol
        # Few rows have not been smoothed: nothing is known of the size of lam.
        for iterate in _starts(near, coef, lam, free, on_all and n_iter == 0):
            left = max_iter - n_iter
            n_iter += _follow(iterate, left, solved, tol, partial(holds, free))
            if best.certificate.holds(tol):
                break
        history.add(iterations.start + n_iter, best.objective, best.dual_bound)
        if on_all:
            break
        near = near.wider()
    return n_iter


def _starts(
    near: NearRows[SmoothedRisk], coef: Floats, lam: float, free: Codes, several: bool
) -> Iterator[Iterate]:
    """Where the interior point begins: at the default lam, and perhaps at farther ones."""
    problem = near.smoothed.problem
    first = _reduced(near, coef, lam, free)
    yield first
    if several and problem.radius > 0:
        for farther in farther_lams(first.data):
            yield Iterate(first.data, problem.norm, farther)


def _follow(
    iterate: Iterate,
    max_iter: int,
    solved: float,
    tol: float,
    holds: Callable[[Iterate], bool],
) -> int:
    """Run until the certificate holds, the gap is ``solved``, or no step is possible;
    returns the number of iterations."""
    n_iter = 0
    while n_iter < max_iter:
        n_iter += len(iterate.run(max_iter - n_iter, tol))
        at_limit = iterate.is_stuck or n_iter == max_iter
        if (iterate.is_near(tol) or at_limit) and holds(iterate):
            break
        if iterate.is_near(solved) or at_limit:
            break
    return n_iter


class _HasRows(Protocol):
    """A smoothed risk, as far as it concerns the choice of rows."""

    @property
    def problem(self) -> RobustProblem: ...
    @property
    def reduction(self) -> Reduction: ...


Smoothed = TypeVar("Smoothed", bound=_HasRows)


@dataclass(frozen=True, eq=False)
class NearRows(Generic[Smoothed]):
    """The rows whose margin is at most ``width``, and at least a few."""

    smoothed: Smoothed
    margins: Kept
    least_width: float
    width: float

    def wider(self, factor: float = NEWTON.widening) -> NearRows[Smoothed]:
        return replace(self, width=factor * self.width)

    @property
    def reach(self) -> float:
        return max(self.width, self.least_width)

    @property
    def are_few(self) -> bool:
        """Whether they fit into memory; rows that are in memory already do."""
        problem = self.smoothed.problem
        if not problem.is_distributed:
            return True
        count = partial(_count_near, self.reach)
        n_rows: int = self.smoothed.reduction.fold(count, added, self.margins)
        return n_rows * problem.n_features <= NEWTON.max_gathered_entries

    def rows(self) -> Codes:
        """Their numbers, sorted."""
        pick = partial(_pick_near, self.reach)
        found = self.smoothed.reduction.fold_picked(pick, self.margins, _numbers, joined)
        return np.concatenate(found)


def _near_rows(
    smoothed: SmoothedRisk, coef: Floats, lam: float, width: float
) -> NearRows[SmoothedRisk]:
    few = 2 * coef.size
    least, margins = smoothed.margins(coef, lam, few + 1)
    return NearRows(smoothed, margins, least[few] if few < len(least) else np.inf, width)


def _count_near(reach: float, problem: RobustProblem, rows: slice, margins: Floats) -> int:
    return int(np.count_nonzero(margins <= reach))


def _pick_near(reach: float, problem: RobustProblem, margins: Floats) -> Codes:
    return np.flatnonzero(margins <= reach)


def _numbers(problem: RobustProblem, rows: Codes) -> list[Codes]:
    return [rows + problem.first_row]


def _reduced(
    near: NearRows[SmoothedRisk], coef: Floats, lam: float, free: Codes
) -> Iterate:
    """The problem on the free rows, the others as a linear term."""
    smoothed = near.smoothed
    rest = smoothed.evaluate_far(coef, lam, HARD_MU, near.margins, near.reach)
    part = smoothed.problem.take(free)
    data = ScaledData.of(part, smoothed.scaling, rest.gradient, rest.on_flips)
    return Iterate(data, part.norm)
