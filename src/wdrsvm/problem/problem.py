r"""The robust training problem and its objective.

For scores z = X M' + b, radius eps, label cost k[n, c] of row n and weights w, minimise

    F(M, b, lam) = eps lam + sum_n w_n max( l(z_n, y_n), max_c l(z_n, c) - lam k[n, c] )

over (M, b) and lam >= L(M).  For fixed (M, b), finding the best lam is a fractional
knapsack.  The adversary spends eps on label flips, best gain per cost first, as long as
flips pay more than L(M), the rate at which moving features pays.

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
from .label_flips import NO_FLIPS, FlipChoices, Flips, Purchase, flip_envelope, spend
from .loss import LOSSES, Loss
from .norms import TRIANGLE, lipschitz
from .rounding.exact_sums import affine
from .subgradient import Subgradient, subgradient

# A column whose middle is this many times its range away from zero is centred, because
# its products lose digits otherwise.
FAR_AWAY = 10.0


@dataclass(frozen=True, eq=False)
class RobustProblem:
    """Rows, ball and loss: all that a solver needs to know.

    ``lipschitz`` selects L(M): ``"exact"``, or ``"triangle"``, the published upper bound of
    kernel models.
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

    # Arrays of rows in memory; distributed rows have only reductions.
    X = property(lambda self: self.rows.X)
    y = property(lambda self: self.rows.y)
    weight = property(lambda self: self.rows.weight)
    label_trust = property(lambda self: self.rows.label_trust)
    first_row = property(lambda self: self.rows.first_row)

    @property
    def norm(self) -> str:
        """The name under which the norm's formulas are found: a norm, or ``"triangle"``."""
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
    def trusts_labels(self) -> bool:
        """Whether no label can be flipped at a finite cost, whatever the trust."""
        return self.ball.trusts_labels(self.n_classes)

    @cached_property
    def feature_cost(self) -> Floats:
        """Feature costs (P,); a categorical column has the cost of a change of category."""
        cost = self.ball.feature_costs(self.n_features).copy()
        for group in self.ball.groups(self.n_features):
            cost[group.columns] = group.cost
        return cost

    @cached_property
    def reachable(self) -> Flags:
        """Labels that some row with weight has, or can be flipped to at a finite cost."""
        with self.reduction() as reduction:
            reached: Flags = reduction.fold(_reachable_from, np.logical_or)
        return reached

    @cached_property
    def centre(self) -> Floats:
        """The middle of each column that is far from zero relative to its range, else 0.

        It is 0 also without an intercept, which has to absorb the shift, and for sparse
        rows.
        """
        if not (self.fit_intercept and self.n_rows):
            return np.zeros(self.n_features)
        with self.reduction() as reduction:
            low, high = reduction.fold(_range_of, _wider)
        middle = low / 2 + high / 2
        return np.where(np.abs(middle) > FAR_AWAY * (high - low), middle, 0.0)

    @property
    def is_bounded(self) -> bool:
        """Whether a box or categories limit the adversary, and the radius is positive."""
        return self.ball.is_bounded and self.radius > 0

    @cached_property
    def moves(self) -> BoundedMoves:
        """The possible moves of features in a bounded ball."""
        moves = BoundedMoves(self)
        moves.check()
        return moves

    @property
    def is_distributed(self) -> bool:
        """Whether dask holds the rows, so that only reductions and ``take`` reach them."""
        return self.rows.are_distributed

    def reduction(self) -> AbstractContextManager[Reduction]:
        """A context with the reduction that visits all rows."""
        return self.rows.reduction(self._of_rows)

    @property
    def _of_rows(self) -> Callable[[MemoryRows], RobustProblem]:
        """A function that puts other rows into this problem.

        The function does not contain distributed rows, because it is sent to the workers.
        """
        if not self.is_distributed:
            return partial(_with_rows, self)
        nothing = self.rows.take(np.empty(0, dtype=np.intp))
        return partial(_with_rows, replace(self, rows=nothing))

    def take(self, rows: Any) -> RobustProblem:
        """The problem of some rows only, in memory, with unchanged weights."""
        return replace(self, rows=self.rows.take(rows))

    def with_rows(self, **changes: Any) -> RobustProblem:
        """The same problem with some arrays of its rows replaced, in memory."""
        return replace(self, rows=replace(cast(MemoryRows, self.rows), **changes))

    def by_chunks(self, change: Callable[[RobustProblem], RobustProblem]) -> RobustProblem:
        """The problem after a change that treats each row alone; chunks stay in place."""
        if not isinstance(self.rows, ChunkedRows):
            return change(self)
        changed = change(self.take(np.empty(0, dtype=np.intp)))
        rows = self.rows.changed(partial(_rows_after, self._of_rows, change))
        return replace(changed, rows=rows)

    def with_radius(self, radius: float) -> RobustProblem:
        return replace(self, ball=replace(self.ball, radius=radius))

    def without_idle_rows(self) -> RobustProblem:
        """The same problem without rows of zero weight, which chunks never have."""
        if self.is_distributed or self.weight.all():
            return self
        return self.take(np.flatnonzero(self.weight))

    def blocks(self) -> Iterator[slice]:
        """Slices of rows that fit into a cache; they do not depend on threads."""
        # A bounded ball has a score for each pair of classes.
        n_scores = self.n_classes ** (2 if self.is_bounded else 1)
        return row_blocks(self.X, n_scores)

    def features(self, rows: Any) -> Matrix:
        """Some rows of X as float64."""
        return as_floats(self.X[rows])

    def flip_cost(self, rows: Any = slice(None)) -> Floats:
        """Cost of flipping each row to each label, (N, C); inf for the row's own label."""
        y = self.y[rows]
        cost = self.label_cost[y]
        if self.label_trust is not None:
            trust = self.label_trust[rows, None]
            # Infinite trust or infinite cost forbids a flip, also if the other one is 0.
            possible = np.isfinite(trust) & np.isfinite(cost)
            cost = np.multiply(trust, cost, out=np.full_like(cost, np.inf), where=possible)
        cost[np.arange(len(y)), y] = np.inf
        return np.asarray(cost)

    def attainable_flip_cost(self, rows: Any = slice(None)) -> Floats:
        """Flip costs (N, C) with inf for flips that the budget cannot buy at all."""
        cost = self.flip_cost(rows)
        return np.where(cost > 0, np.inf, 0.0) if self.radius == 0 else cost

    def label_price(self, rows: Any = slice(None), attainable: bool = False) -> Floats:
        """Cost of each label for each row, (N, C); the row's own label costs 0."""
        cost = self.attainable_flip_cost(rows) if attainable else self.flip_cost(rows)
        cost[np.arange(len(cost)), self.y[rows]] = 0.0
        return cost

    def flip_cost_table(self, rows: Any = slice(None)) -> tuple[Floats, Codes]:
        """Attainable flip costs without repetition (K, C), and each row's line (N,)."""
        if self.label_trust is None:
            return self._flip_cost_of_labels, self.y[rows]
        cost = self.attainable_flip_cost(rows)
        return cost, np.arange(len(cost))

    @cached_property
    def _flip_cost_of_labels(self) -> Floats:
        each = np.arange(self.n_classes)
        return self.with_rows(y=each, label_trust=None).attainable_flip_cost()

    def attainable_feature_cost(self) -> Floats:
        """Feature costs (P,) with inf for features that the budget cannot move."""
        return np.full(self.n_features, np.inf) if self.radius == 0 else self.feature_cost

    def scores(self, coef: Floats, intercept: Floats, rows: slice = slice(None)) -> Floats:
        if not self.centre.any():
            return np.asarray(self.features(rows) @ coef.T + intercept)
        # For features far from zero, M x and b cancel.  The cancellation is computed once,
        # at the centre, with twice the digits.
        moved = (self.features(rows) - self.centre) @ coef.T
        return np.asarray(moved + affine(coef, self.centre, intercept))

    def modulus(self, coef: Floats) -> float:
        """L(M)."""
        return lipschitz(coef, self.norm, self.feature_cost, self.reachable)

    def risk(self, coef: Floats, intercept: Floats) -> RobustRisk:
        """min over lam >= L(M) of F(M, b, lam), in closed form.

        In a bounded ball, the minimum of another convex function of lam, which
        ``bounded/worst_case.py`` states.
        """
        if self.is_bounded:
            worst = self.moves.worst_plans(coef, intercept)
            return RobustRisk(worst.risk, worst.lam)
        if self.is_distributed:
            return risk_by_rate(self, coef, intercept)
        return self.risk_of_choices(self.flip_choices(coef, intercept), coef)

    def risk_of_choices(self, choices: FlipChoices, coef: Floats) -> RobustRisk:
        """The risk of a classifier with these ``flip_choices``."""
        bought = self.spend(choices.flips, coef)
        return RobustRisk(float(self.weight @ choices.loss) + bought.gain, bought.rate)

    def flip_choices(self, coef: Floats, intercept: Floats) -> FlipChoices:
        """Loss and label of each row after free flips, and the flips that are not free."""
        with row_threads(self.n_rows) as run:
            choose = partial(self.flip_choices_of, coef, intercept)
            parts: list[FlipChoices] = list(run(choose, self.blocks()))
        if len(parts) == 1:
            return parts[0]
        loss, label, flips = zip(*parts, strict=True)
        joined = (np.concatenate(part) for part in zip(*flips, strict=True))
        return FlipChoices(np.concatenate(loss), np.concatenate(label), Flips(*joined))

    def flip_choices_of(self, coef: Floats, intercept: Floats, rows: slice) -> FlipChoices:
        """The same for some rows."""
        scores, y = self.scores(coef, intercept, rows), self.y[rows]
        if self.trusts_labels:
            return FlipChoices(self.loss.of_own_labels(scores, y), y, NO_FLIPS)
        found = flip_envelope(self.loss.of_labels(scores), y, self.flip_cost(rows))
        return found._replace(flips=found.flips._replace(row=found.flips.row + rows.start))

    def spend(self, flips: Flips, coef: Floats) -> Purchase:
        """The flips that the budget buys, and the budget left for moving features."""
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
    """Labels that some of these rows, with weight, have or can be flipped to."""
    y, carried = problem.y[rows], problem.weight[rows] > 0
    present = np.bincount(y[carried], minlength=problem.n_classes) > 0
    if problem.label_trust is None:
        cost = problem.label_cost[present]
    else:
        cost = problem.flip_cost(rows)[carried]
    return np.asarray(present | np.isfinite(cost).any(axis=0))


def _range_of(problem: RobustProblem, rows: slice) -> tuple[Floats, Floats]:
    """Least and largest entry of each column; -1 and 1 for sparse rows, never centred."""
    block = problem.X[rows]
    if sparse.issparse(block):
        ones = np.ones(problem.n_features)
        return -ones, ones
    low, high = block.min(axis=0), block.max(axis=0)
    return low.astype(np.float64), high.astype(np.float64)


def _wider(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> Any:
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])
