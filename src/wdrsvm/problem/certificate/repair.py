"""The repair of approximate multipliers: row by row, then tilted into the equalities.

All steps need only sums over rows.  Therefore one reduction over blocks of rows works for
data of any size, in memory or on dask workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from ...arrays import Flags, Floats, Matrix
from ...cached import cached_property
from ...rows.reduce import added
from ..problem import RobustProblem
from .equalities import BoundTotals, Equalities, Sums, dense
from .multipliers import Loosened, MultiplierSource, RowDuals
from .settings import CERTIFICATE
from .smooth import RowTangents
from .tilts import (
    EQUALITY_ROUNDING,
    solve_by_products,
    solve_dense,
    tilted_until_equal,
)
from .trusted import TrustedTangents

TiltSolver = Literal["dense", "products"]


class RepairedRows(NamedTuple):
    """Multipliers of some rows after the repair, their columns e and their flip costs."""

    duals: RowDuals
    columns: Matrix
    cost: Floats


Part = Callable[[RobustProblem, slice], RepairedRows]


@dataclass(frozen=True, eq=False)
class Repair:
    """Multipliers of a problem that are made feasible row by row, then tilted.

    Flips that are not free are multiplied by ``flip_share``.  ``solver`` says how the
    system of a tilt is solved; only ``"dense"`` works for rows on a cluster.  ``before`` is
    the same repair without its last tilt.
    """

    problem: RobustProblem
    multipliers: MultiplierSource
    equalities: Equalities
    flip_share: float = 1.0
    solver: TiltSolver = "dense"
    tilts: tuple[Floats, ...] = ()
    before: Repair | None = None

    def balanced(self) -> Repair:
        """Tilted until all equalities hold, or else at least the strict ones."""
        strict = self.equalities.strict
        stages = (strict,) if strict.all() else (np.ones_like(strict), strict)
        return tilted_until_equal(self, stages)

    @property
    def is_feasible(self) -> bool:
        """Whether the strict equalities hold."""
        return self.miss(self.equalities.strict) <= EQUALITY_ROUNDING

    def miss(self, columns: Flags) -> float:
        return self.equalities.miss(self.sums, columns)

    def lacking(self, columns: Flags) -> float:
        return self.equalities.lacking(self.sums, columns)

    def tilted(self, ridge: float, columns: Flags) -> Repair:
        lack = self.equalities.lack(self.sums)
        if self.solver == "dense":
            tilt = solve_dense(self.system, lack, ridge, columns)
        else:
            tilt = solve_by_products(*self._products, lack, ridge, columns)
        return replace(self, tilts=(*self.tilts, tilt), before=self)

    @cached_property
    def sums(self) -> Sums:
        """Sums over all rows.

        One tilt mostly suffices, so the system of a second tilt is summed only when needed.
        With few rows a reduction is cheap, and even the first system waits.  Totals wait,
        too, until the multipliers are balanced, unless they would repeat the repair.
        """
        many = self.problem.n_rows > CERTIFICATE.few_rows
        with_system = many and not self.tilts and self.solver == "dense"
        return self._summed(with_system, not self._totals_wait)

    @property
    def _totals_wait(self) -> bool:
        if self.problem.is_distributed:
            return False
        return self._kept is not None or (
            self.problem.n_features > CERTIFICATE.few_features
        )

    @cached_property
    def system(self) -> Floats:
        """The dense linear system of the next tilt, (C, E, C, E).

        Smooth multipliers take the system of the last tilt again if that tilt did nearly
        all: with many classes a system costs as much as all other sums.
        """
        if self.sums.system is not None:
            return self.sums.system
        if self.before is not None and self._was_quick(self.before):
            return self.before.system
        return np.asarray(self._summed(True, False).system)

    def _was_quick(self, before: Repair) -> bool:
        every = np.ones_like(self.equalities.strict)
        is_smooth = self.problem.loss.temperature > 0
        many = self.problem.n_classes >= CERTIFICATE.many_classes
        quick = CERTIFICATE.quick_of_many if many else CERTIFICATE.quick
        return is_smooth and self.lacking(every) <= quick * before.lacking(every)

    @cached_property
    def totals(self) -> BoundTotals:
        """What a bound needs beside the sums."""
        if self.sums.totals is not None:
            return self.sums.totals
        found: BoundTotals = self._folded(
            partial(_totals_of_rows, self._part, self.equalities)
        )
        return found

    def value_drawn(self, share: float) -> float:
        """The value of tangents of trusted labels that are drawn towards the labels.

        The sums of their slopes are ``share`` times as large, and so equalities hold.
        """
        return float(self._folded(partial(_value_drawn, self._part, share)))

    def rows(self) -> RowDuals:
        """The tilted multipliers of all rows, which must be in memory."""
        return self._part(self.problem, slice(0, self.problem.n_rows)).duals

    def blocks_of_rows(self) -> Iterator[RowDuals]:
        """The same, a block of rows after the other, for tables that are too large."""
        if self._kept is not None:
            yield self._kept.duals
            return
        for rows in self.problem.blocks():
            yield self._part(self.problem, rows).duals

    @property
    def _part(self) -> Part:
        if self._kept is not None:
            return partial(_the_kept, self._kept)
        return partial(
            _repaired, self.multipliers, self.equalities, self.tilts, self.flip_share
        )

    @cached_property
    def _kept(self) -> RepairedRows | None:
        """The repair of all rows, kept for the next tilt; None if it would be too large."""
        problem = self.problem
        entries = problem.n_rows * (3 * problem.n_classes + len(self.equalities.strict))
        if problem.is_distributed or entries > CERTIFICATE.max_kept_entries:
            return None
        if self.before is None or self.before._kept is None:
            sources = self.multipliers, self.equalities, self.tilts, self.flip_share
            return _repaired(*sources, problem, slice(0, problem.n_rows))
        kept = self.before._kept
        pull = self.equalities.pull(self.tilts[-1], kept.columns)
        return kept._replace(duals=kept.duals.tilted(pull))

    def _summed(self, with_system: bool, with_totals: bool) -> Sums:
        sums: Sums = self._folded(
            partial(_sums_of_rows, self._part, self.equalities, with_system, with_totals)
        )
        return sums

    def _folded(self, work: Callable[[RobustProblem, slice], Any]) -> Any:
        if self._kept is not None:
            return work(self.problem, slice(0, self.problem.n_rows))
        with self.problem.reduction() as reduction:
            return reduction.fold(work, added)

    @cached_property
    def _products(self) -> tuple[Callable[[Floats], Floats], Floats]:
        """The product  S -> A S  with the system of the next tilt, and its diagonal."""
        part, columns, _ = self._part(self.problem, slice(0, self.problem.n_rows))

        def product(tilt: Floats) -> Floats:
            return np.asarray(part.response(columns @ tilt.T).T @ columns)

        return product, np.asarray(part.own_response().T @ columns**2)


def repaired(
    problem: RobustProblem, multipliers: MultiplierSource, solver: TiltSolver = "dense"
) -> Repair | None:
    """Multipliers that meet the strict equalities, before scaling; None if out of reach."""
    fixed = np.isinf(problem.attainable_feature_cost())
    equalities = Equalities.of(problem, fixed)
    # Products with the system see little of multipliers that are zero: loosened at once.
    sources = (multipliers, Loosened(multipliers))[solver == "products" :]
    for source in sources:
        found = Repair(problem, source, equalities, solver=solver).balanced()
        if found.is_feasible:
            return found
    return None


def _the_kept(kept: RepairedRows, problem: RobustProblem, rows: slice) -> RepairedRows:
    return kept


def _repaired(
    multipliers: MultiplierSource,
    equalities: Equalities,
    tilts: tuple[Floats, ...],
    flip_share: float,
    problem: RobustProblem,
    rows: slice,
) -> RepairedRows:
    y, weight = problem.y[rows], problem.weight[rows]
    # Where labels are trusted all costs are infinite: an array without a copy.
    cost = np.broadcast_to(np.inf, (len(y), problem.n_classes))
    if not problem.trusts_labels:
        cost = problem.attainable_flip_cost(rows)
    given = multipliers.rows(problem, rows)
    if not given.belong_to(problem.loss):
        raise ValueError(f"these multipliers are not those of the loss {problem.loss}.")
    part = given.restored(weight, y, cost, flip_share)
    columns = equalities.rows(problem, rows)
    for tilt in tilts:
        part = part.tilted(equalities.pull(tilt, columns))
    return RepairedRows(part, columns, cost)


def _sums_of_rows(
    part: Part,
    equalities: Equalities,
    with_system: bool,
    with_totals: bool,
    problem: RobustProblem,
    rows: slice,
) -> Sums:
    repaired = duals, columns, cost = part(problem, rows)
    return Sums(
        duals.spending(cost),
        duals.on_columns(problem.y[rows], columns),
        duals.moved(problem.weight[rows], problem.y[rows]),
        duals.curvature(dense(columns)) if with_system else None,
        _totals(repaired, equalities, problem, rows) if with_totals else None,
    )


def _totals_of_rows(
    part: Part, equalities: Equalities, problem: RobustProblem, rows: slice
) -> BoundTotals:
    return _totals(part(problem, rows), equalities, problem, rows)


def _value_drawn(part: Part, share: float, problem: RobustProblem, rows: slice) -> float:
    duals, told = part(problem, rows).duals, (problem.y[rows], problem.weight[rows])
    if isinstance(duals, RowTangents):
        duals = TrustedTangents.at(problem.loss, duals.points, *told)
    if not isinstance(duals, TrustedTangents):
        return -np.inf
    return duals.drawn(share).value(problem.weight[rows], problem.y[rows])


def _totals(
    repaired: RepairedRows, equalities: Equalities, problem: RobustProblem, rows: slice
) -> BoundTotals:
    y, features = problem.y[rows], equalities.features(problem, rows)
    slopes = repaired.duals.slopes(y)
    return BoundTotals(
        repaired.duals.value(problem.weight[rows], y),
        np.asarray((features.T @ slopes).T),
        _sizes(slopes, repaired.columns, equalities),
    )


def _sizes(slopes: Floats, columns: Matrix, equalities: Equalities) -> Floats:
    """Absolute values summed, which only equalities on features ask for."""
    if not len(equalities.columns):
        return np.zeros_like(equalities.aim)
    return np.asarray(np.abs(slopes).T @ np.abs(columns))
