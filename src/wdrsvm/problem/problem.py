r"""The robust training problem and its objective.

For scores z = X M' + b, radius eps, label cost k[n, c] of row n and weights w

    F(M, b, lam) = eps lam + sum_n w_n max( l(z_n, y_n), max_c l(z_n, c) - lam k[n, c] )

is minimised over lam >= L(M).  For fixed (M, b) the best lam is a fractional knapsack:
the adversary spends eps on label flips, best gain per cost first, as long as they pay
more than L(M), the rate at which moving features pays.

==========  =========  =======================================================
X           (N, P)     features, dense (any numbers, any layout) or CSR
y           (N,)       label codes 0 ... C-1
weight      (N,)       nominal distribution, sums to 1
coef        (C, P)     M, one row per class
intercept   (C,)       b, outside every norm
==========  =========  =======================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from scipy import sparse

from ..arrays import Codes, Flags, Floats, Matrix
from ..cached import cached_property
from ..rows.blocks import as_floats, row_blocks
from ..rows.dask_rows import ChunkedRows
from ..rows.memory_rows import MemoryRows, Rows
from ..rows.reduce import Reduction
from ..rows.threads import row_threads
from .ball import WassersteinBall
from .bounded.worst_case import BoundedMoves, RobustRisk
from .flip_rates import risk_by_rate
from .label_flips import FlipChoices, Flips, Purchase, flip_envelope, spend
from .loss import LOSSES, Loss
from .norms import TRIANGLE, lipschitz
from .subgradient import Subgradient, subgradient

# Columns this many times as far from zero as they are wide lose digits by that.
FAR_AWAY = 10.0


@dataclass(frozen=True, eq=False)
class RobustProblem:
    """Rows, ball and loss: everything a solver may know.

    ``lipschitz`` says how L(M) is bounded: ``"exact"``, or ``"triangle"``, the published
    upper bound of kernel models.
    """

    rows: Rows
    ball: WassersteinBall
    n_classes: int
    fit_intercept: bool = True
    loss: Loss = LOSSES["crammer-singer"]
    lipschitz: str = "exact"

    @classmethod
    def of(
        cls,
        X: Matrix,
        y: Codes,
        weight: Floats,
        ball: WassersteinBall,
        n_classes: int,
        fit_intercept: bool = True,
        label_trust: Floats | None = None,
        **options: Any,
    ) -> RobustProblem:
        """A problem of rows in memory."""
        rows = MemoryRows(X, y, weight, label_trust)
        return cls(rows, ball, n_classes, fit_intercept, **options)

    # What rows in memory hold; rows that are elsewhere have only reductions.
    @property
    def _here(self) -> MemoryRows:
        return cast(MemoryRows, self.rows)

    @property
    def X(self) -> Matrix:  # noqa: N802
        return self._here.X

    @property
    def y(self) -> Codes:
        return self._here.y

    @property
    def weight(self) -> Floats:
        return self._here.weight

    @property
    def label_trust(self) -> Floats | None:
        return self._here.label_trust

    @property
    def first_row(self) -> int:
        """Where these rows begin in the data of which they are a chunk."""
        return self._here.first_row

    @property
    def norm(self) -> str:
        """The key of the norm's formulas: the ball's norm, or the triangle bound."""
        return TRIANGLE if self.lipschitz == "triangle" else self.ball.norm

    @property
    def radius(self) -> float:
        return self.ball.radius

    @property
    def n_rows(self) -> int:
        return self.rows.n_rows

    @property
    def n_features(self) -> int:
        return self.rows.n_features

    @cached_property
    def label_cost(self) -> Floats:
        return self.ball.label_cost_matrix(self.n_classes)

    @cached_property
    def feature_cost(self) -> Floats:
        """Feature costs; a column of a categorical feature costs what switching does."""
        cost = self.ball.feature_costs(self.n_features).copy()
        for group in self.ball.groups(self.n_features):
            cost[group.columns] = group.cost
        return cost

    @cached_property
    def reachable(self) -> Flags:
        """Labels that some mass carries or can be given at a finite cost."""
        with self.reduction() as reduction:
            reached: Flags = reduction.fold(_reachable_from, np.logical_or)
        return reached

    @cached_property
    def centre(self) -> Floats:
        """The middle of columns that are far from zero beside their spread, else 0.

        0 too where no intercept could take up the shift, and for sparse rows.
        """
        if not (self.fit_intercept and self.n_rows):
            return np.zeros(self.n_features)
        with self.reduction() as reduction:
            low, high = reduction.fold(_range_of, _wider)
        middle = low / 2 + high / 2
        return np.where(np.abs(middle) > FAR_AWAY * (high - low), middle, 0.0)

    @property
    def is_bounded(self) -> bool:
        """Whether a box or categories limit what the budget can do."""
        return self.ball.is_bounded and self.radius > 0

    @cached_property
    def moves(self) -> BoundedMoves:
        """Where features can go in a bounded ball."""
        if self.is_distributed:
            raise ValueError(
                "a ball with support or categorical needs rows in memory, got a dask "
                "collection: compute it first."
            )
        if self.loss != LOSSES["crammer-singer"]:
            raise ValueError(
                f"support and categorical need the Crammer-Singer loss, got {self.loss}."
            )
        return BoundedMoves(self)

    @property
    def is_distributed(self) -> bool:
        """Whether the rows are elsewhere, within reach of reductions and ``take`` alone."""
        return self.rows.are_distributed

    def reduction(self) -> AbstractContextManager[Reduction]:
        """The way to visit all rows, while the context lasts."""
        return self.rows.reduction(self._of_rows)

    @property
    def _of_rows(self) -> Callable[[MemoryRows], RobustProblem]:
        """The same problem of other rows, without the present ones on its way to them."""
        if not self.is_distributed:
            return partial(_with_rows, self)
        nothing = self.rows.take(np.empty(0, dtype=np.intp))
        return partial(_with_rows, replace(self, rows=nothing))

    def take(self, rows: Any) -> RobustProblem:
        """A problem of some rows, in memory, with the weights they have."""
        return replace(self, rows=self.rows.take(rows))

    def with_rows(self, **changes: Any) -> RobustProblem:
        """The same problem with other arrays of its rows, which are in memory."""
        return replace(self, rows=replace(self._here, **changes))

    def by_chunks(self, change: Callable[[RobustProblem], RobustProblem]) -> RobustProblem:
        """A change that each row can make alone, made where the rows are."""
        if not isinstance(self.rows, ChunkedRows):
            return change(self)
        changed = change(self.take(np.empty(0, dtype=np.intp)))
        rows = self.rows.changed(partial(_rows_after, self._of_rows, change))
        return replace(changed, rows=rows)

    def with_radius(self, radius: float) -> RobustProblem:
        return replace(self, ball=replace(self.ball, radius=radius))

    def without_idle_rows(self) -> RobustProblem:
        """The same problem without its rows of zero weight; chunks have none."""
        if self.is_distributed or self.weight.all():
            return self
        return self.take(np.flatnonzero(self.weight))

    def blocks(self) -> Iterator[slice]:
        """Slices of rows whose products are small, the same for any number of threads."""
        return row_blocks(self.X, self.n_classes)

    def features(self, rows: Any) -> Matrix:
        """Some rows of X as float64."""
        return as_floats(self.X[rows])

    def flip_cost(self, rows: Any = slice(None)) -> Floats:
        """Cost of each label for each row; the row's own label, no flip, costs inf."""
        y = self.y[rows]
        cost = self.label_cost[y]
        if self.label_trust is not None:
            trust = self.label_trust[rows, None]
            # A verified label, or an impossible confusion, stays so at any price.
            possible = np.isfinite(trust) & np.isfinite(cost)
            cost = np.multiply(trust, cost, out=np.full_like(cost, np.inf), where=possible)
        cost[np.arange(len(y)), y] = np.inf
        return np.asarray(cost)

    def attainable_flip_cost(self, rows: Any = slice(None)) -> Floats:
        """Flip costs with inf for what the budget cannot buy any mass of."""
        cost = self.flip_cost(rows)
        return np.where(cost > 0, np.inf, 0.0) if self.radius == 0 else cost

    def label_price(self, rows: Any = slice(None), attainable: bool = False) -> Floats:
        """Cost of each label for each row, where its own costs nothing."""
        cost = self.attainable_flip_cost(rows) if attainable else self.flip_cost(rows)
        cost[np.arange(len(cost)), self.y[rows]] = 0.0
        return cost

    def flip_cost_table(self, rows: Any = slice(None)) -> tuple[Floats, Codes]:
        """Attainable flip costs without repetition (K, C), and which line a row has."""
        if self.label_trust is None:
            return self._flip_cost_of_labels, self.y[rows]
        cost = self.attainable_flip_cost(rows)
        return cost, np.arange(len(cost))

    @cached_property
    def _flip_cost_of_labels(self) -> Floats:
        each = np.arange(self.n_classes)
        return self.with_rows(y=each, label_trust=None).attainable_flip_cost()

    def attainable_feature_cost(self) -> Floats:
        """Feature costs with inf for what the budget cannot move."""
        return np.full(self.n_features, np.inf) if self.radius == 0 else self.feature_cost

    def scores(self, coef: Floats, intercept: Floats, rows: slice = slice(None)) -> Floats:
        if not self.centre.any():
            return np.asarray(self.features(rows) @ coef.T + intercept)
        # Far from zero the two terms cancel: their difference is taken once, exactly.
        exact = [part.astype(np.longdouble) for part in (coef, self.centre, intercept)]
        middle = exact[0] @ exact[1] + exact[2]
        moved = (self.features(rows) - self.centre) @ coef.T
        return np.asarray(moved + middle.astype(np.float64))

    def modulus(self, coef: Floats) -> float:
        """L(M)."""
        return lipschitz(coef, self.norm, self.feature_cost, self.reachable)

    def risk(self, coef: Floats, intercept: Floats) -> RobustRisk:
        """min over lam >= L(M) of F(M, b, lam), in closed form.

        In a bounded ball with a budget, the minimum of its own convex function of lam.
        """
        if self.is_bounded:
            worst = self.moves.worst_plans(coef, intercept)
            return RobustRisk(worst.risk, worst.lam)
        if self.is_distributed:
            return risk_by_rate(self, coef, intercept)
        choices = self.flip_choices(coef, intercept)
        bought = self.spend(choices.flips, coef)
        return RobustRisk(float(self.weight @ choices.loss) + bought.gain, bought.rate)

    def flip_choices(self, coef: Floats, intercept: Floats) -> FlipChoices:
        """What changing labels can do to each row."""
        with row_threads(self.n_rows) as run:
            choose = partial(self.flip_choices_of, coef, intercept)
            parts = list(run(choose, self.blocks()))
        loss, label, flips = zip(*parts, strict=True)
        joined = (np.concatenate(part) for part in zip(*flips, strict=True))
        return FlipChoices(np.concatenate(loss), np.concatenate(label), Flips(*joined))

    def flip_choices_of(self, coef: Floats, intercept: Floats, rows: slice) -> FlipChoices:
        """The same for some rows."""
        losses = self.loss.of_labels(self.scores(coef, intercept, rows))
        found = flip_envelope(losses, self.y[rows], self.flip_cost(rows))
        return found._replace(flips=found.flips._replace(row=found.flips.row + rows.start))

    def spend(self, flips: Flips, coef: Floats) -> Purchase:
        """The flips that the budget buys, and what is left for moving features."""
        return spend(flips, self.weight[flips.row], self.radius, self.modulus(coef))

    def subgradient(self, coef: Floats, intercept: Floats, lam: float) -> Subgradient:
        """A subgradient of F at (M, b, lam), Crammer-Singer loss."""
        return subgradient(self, coef, intercept, lam)


def _with_rows(problem: RobustProblem, rows: MemoryRows) -> RobustProblem:
    return problem if rows is problem.rows else replace(problem, rows=rows)


def _rows_after(
    problem_of: Callable[[MemoryRows], RobustProblem],
    change: Callable[[RobustProblem], RobustProblem],
    rows: MemoryRows,
) -> MemoryRows:
    return cast(MemoryRows, change(problem_of(rows)).rows)


def _reachable_from(problem: RobustProblem, rows: slice) -> Flags:
    """Labels that the mass of some rows carries or can be given."""
    y, carried = problem.y[rows], problem.weight[rows] > 0
    present = np.bincount(y[carried], minlength=problem.n_classes) > 0
    if problem.label_trust is None:
        cost = problem.label_cost[present]
    else:
        cost = problem.flip_cost(rows)[carried]
    return np.asarray(present | np.isfinite(cost).any(axis=0))


def _range_of(problem: RobustProblem, rows: slice) -> tuple[Floats, Floats]:
    """Least and largest entry of each column; sparse ones have both signs."""
    block = problem.X[rows]
    if sparse.issparse(block):
        ones = np.ones(problem.n_features)
        return -ones, ones
    low, high = block.min(axis=0), block.max(axis=0)
    return low.astype(np.float64), high.astype(np.float64)


def _wider(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> Any:
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])
