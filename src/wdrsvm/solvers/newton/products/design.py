"""Passes over rows held in the solver's columns: one matrix product in, one out.

In between, a compiled softmax goes over a block of scores that lies in the cache.  Blocks
do not depend on threads, and their sums have the size of the coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ....arrays import Codes, Floats
from ....cached import cached_property
from ....problem import RobustProblem
from ....rows.reduce import MemoryReduction, Reduction, Work, accumulated, added
from ...scaling import Scaling
from .. import kernels
from .curvature.heavy_rows import HeavyCurvature
from .curvature.own_rows import OwnRows
from .curvature.principal_axes import Axes, moment, second_moment_of, squares, squares_of
from .curvature.sums import (
    CurvatureSums,
    Spread,
    curvature_of_others,
    curvature_sums,
    heavy_curvature,
)
from .flips.label_shares import LabelShares
from .settings import PRODUCTS

if TYPE_CHECKING:
    from .line import BlockScores


class At(NamedTuple):
    """The point of a pass: coefficients (C, Q), the price of a flip, which is infinite for
    trusted labels, the smoothing of the maximum over labels, and the scores if they are
    kept."""

    coef: Floats
    price: float = np.inf
    mu: float = 1.0
    scores: BlockScores | None = None

    def some(self, every: int, problem: RobustProblem, rows: slice) -> ScoredBlock:
        """One row out of ``every`` in a block, at its scores."""
        some = slice(rows.start, rows.stop, every)
        if self.scores is None:
            return ScoredBlock.of(self.coef, problem, some)
        return ScoredBlock.at(self.scores[rows][:, ::every].copy(), problem, some)


class LossSums(NamedTuple):
    """The mean loss and its gradient (C, Q).

    Where labels are trusted: the loss's curvature along the coefficients themselves.  Where
    labels can be flipped: the mass of the flips, each times the trust in the label;
    what flips add to the loss; how far the smoothed loss is below the largest one, as far
    as the shares of the labels tell; and the price of a flip, which a design may choose.
    """

    loss: float
    gradient: Floats
    flipped: float = 0.0
    added: float = 0.0
    smoothing: float = 0.0
    price: float | None = None
    bend: float = 0.0


def in_columns(scaling: Scaling, kind: Any, problem: RobustProblem) -> RobustProblem:
    """The problem with its rows in the solver's columns."""
    design = np.empty((problem.n_rows, scaling.n_columns), dtype=kind)
    for rows in problem.blocks():
        design[rows] = scaling.design(problem.X[rows])
    return problem.with_rows(X=design)


@dataclass(frozen=True, eq=False)
class Design:
    """Rows in the solver's columns, numbers of ``kind``, and the passes over them.

    Sums for steps, unlike sums for a certificate, may take one row out of ``every``.
    ``is_principal``: the columns are principal axes of the rows; with ``axes`` the rows do
    not have these columns, and what goes in and out is turned.  ``basis``: axes that serve
    the preconditioner alone.  It takes ``n_heavy`` rows of each class as they are, if they
    are in memory.  ``keeps_scores``: a few numbers for each row and class fit into memory,
    so that steps may keep them.
    """

    scaling: Scaling
    reduction: Reduction
    kind: Any = np.float64
    every: int = 1
    is_principal: bool = False
    axes: Axes | None = None
    basis: Axes | None = None
    n_heavy: int = 0
    keeps_scores: bool = False

    @property
    def problem_of_rows(self) -> RobustProblem:
        """The problem in the solver's columns; its rows must be in memory."""
        return self.reduction.subject  # type: ignore[attr-defined, no-any-return]

    def evaluate(self, at: At) -> LossSums:
        """The loss and its gradient."""
        work = partial(_loss_sums, self.seen(at))
        sums: LossSums = self.reduction.fold(work, added)
        return sums._replace(gradient=self.along(sums.gradient), price=at.price)

    def seen(self, at: At) -> At:
        """The point with its coefficients on the columns of the rows."""
        return at._replace(coef=self.on_columns(at.coef))

    def on_columns(self, coef: Floats) -> Floats:
        """Coefficients (C, Q) on the columns of the rows."""
        return coef if self.axes is None else self.axes.on_columns(coef)

    def along(self, rows: Floats) -> Floats:
        """Rows or gradients (..., Q) in the solver's columns."""
        return rows if self.axes is None else self.axes.along(rows)

    @property
    def moment(self) -> Any:
        """How the second moment of weighted rows is taken."""
        known = self.axes or self.basis
        if known is not None:
            return known.moment
        return squares if self.is_principal else moment

    def shares(self, at: At) -> Floats | LabelShares | None:
        """The shares of the labels, or what tells them; None if labels are trusted."""
        return None

    def learn(self, at: At) -> None:
        """Nothing: trusted labels have no shares."""

    def curvature(self, at: At) -> CurvatureSums:
        """The sums from which the preconditioner is made."""
        return self.curvature_by(partial(_spread, self.seen(at), self.every))

    def curvature_by(self, spread: Spread) -> CurvatureSums:
        """The same, where ``spread`` tells the curvature of each score."""
        own = self.own_rows
        work: Work = partial(curvature_sums, spread, self.every, self.moment)
        if own is not None:
            of_own = np.zeros(self.problem_of_rows.n_rows)
            work = partial(curvature_of_others, spread, own.step, self.moment, of_own)
        # Results of a cluster's tasks are not the fold's own.
        add = accumulated if self.keeps_scores else added
        sums = self.placed(self.reduction.fold(work, add))
        return sums if own is None else sums._replace(own=own.weighted(of_own))

    def placed(self, sums: CurvatureSums) -> CurvatureSums:
        """Sums of blocks in the solver's columns."""
        basis = None if self.basis is None else self.basis.whole
        return sums._replace(first=self.along(sums.first), basis=basis)

    def heavy_curvature(self, at: At) -> HeavyCurvature:
        """Mass and first sums of the curvature, and the rows that have most of it."""
        return self.heaviest_by(partial(_spread, self.seen(at), self.every))

    def heaviest_by(self, spread: Spread) -> HeavyCurvature:
        """The largest entries of all blocks, and the sums in the solver's columns."""
        work = partial(heavy_curvature, spread, self.every, self.n_heavy)
        join = partial(HeavyCurvature.joined, count=self.n_heavy)
        found: HeavyCurvature = self.reduction.fold(work, join)
        return found._replace(first=self.along(found.first))

    def features(self, rows: Codes) -> Floats:
        """Some rows in the solver's columns; they must be in memory."""
        return self.along(np.asarray(self.problem_of_rows.X[rows]))

    @cached_property
    def own_rows(self) -> OwnRows | None:
        """The rows of each class, if they are few, in memory, and all of them visited."""
        if self.every > 1 or not isinstance(self.reduction, MemoryReduction):
            return None
        return OwnRows.of(self.problem_of_rows, self.features)

    def class_sums(self) -> Floats:
        """Sums of w x for each label (C, Q)."""
        sums: Floats = self.reduction.fold(_class_sums, added)
        return self.along(sums)

    def second_moment(self) -> Floats:
        """sum w x x' (Q, Q), or its diagonal (Q,) in principal columns."""
        if self.axes is not None:
            return self.axes.squares
        of_rows = squares_of if self.is_principal else second_moment_of
        second: Floats = self.reduction.fold(partial(of_rows, self.every), added)
        return second


def keeps_scores(problem: RobustProblem, kind: Any) -> bool:
    """Whether scores, in numbers of ``kind``, are few enough to be kept, and too many to be
    found again quickly."""
    n_scores = problem.n_rows * problem.n_classes
    n_bytes = n_scores * np.dtype(kind).itemsize
    return n_scores >= PRODUCTS.least_kept_scores and n_bytes <= PRODUCTS.max_kept_bytes


class ScoredBlock(NamedTuple):
    """Some rows, their scores (C, n), labels, weights, and trusts in the labels."""

    rows: Any
    scores: Floats
    y: Codes
    weight: Floats
    trust: Floats | None

    @classmethod
    def of(cls, coef: Floats, problem: RobustProblem, rows: slice) -> ScoredBlock:
        block = problem.X[rows]
        return cls.at(coef.astype(block.dtype, copy=False) @ block.T, problem, rows)

    @classmethod
    def at(cls, scores: Floats, problem: RobustProblem, rows: slice) -> ScoredBlock:
        """At scores that are known."""
        block, trust = problem.X[rows], problem.label_trust
        y, weight = map(np.ascontiguousarray, (problem.y[rows], problem.weight[rows]))
        trust = None if trust is None else np.ascontiguousarray(trust[rows])
        return cls(block, scores, y, weight, trust)

    @property
    def trusts(self) -> Floats:
        return np.ones(len(self.y)) if self.trust is None else self.trust

    def excess(self, price: float) -> Floats:
        """What each flip (C, n) adds to the loss beyond its price, and minus infinity
        where there is none."""
        own = self.scores[self.y, np.arange(len(self.y))]
        cost = np.where(np.isfinite(self.trusts), self.trusts * price, np.inf)
        found = own - cost - self.scores
        found[self.y, np.arange(len(self.y))] = -np.inf
        return np.asarray(found)

    def gradient(self, slopes: Floats) -> Floats:
        """sum_n slope_n x_n' (C, Q)."""
        return np.asarray(self._times_rows(slopes), dtype=np.float64)

    def _times_rows(self, slopes: Floats) -> Floats:
        return np.asarray(slopes.astype(self.rows.dtype, copy=False) @ self.rows)

    def own_and_others(self, spread: Floats) -> tuple[Floats, Floats]:
        """Sums of the curvature (C, n), (C, 2), and of the curvature times the rows,
        (C, 2, Q): over the rows of each class, and over all others."""
        own = spread[self.y, np.arange(len(self.y))].astype(np.float64)
        mass = np.bincount(self.y, own, len(spread))
        others = spread.sum(axis=1, dtype=np.float64) - mass
        first = np.empty((len(spread), 2, self.rows.shape[1]))
        first[:, 0] = by_label(own, self.y, self.rows, len(spread))
        first[:, 1] = self._times_rows(spread)
        first[:, 1] -= first[:, 0]
        return np.stack([mass, others], axis=1), first


def by_label(factor: Floats, y: Codes, rows: Floats, n_classes: int) -> Floats:
    """Sums (C, Q) of the rows of each label, each times its factor."""
    sums, rows = np.zeros((n_classes, rows.shape[1])), np.ascontiguousarray(rows)
    kernels.add_by_label(factor, y, rows, sums)
    return sums


def soften(is_spread: bool, problem: RobustProblem, block: ScoredBlock) -> LossSums:
    """Replace the scores by slopes or spreads; the sums have these as their gradient."""
    scores, loss = block.scores, problem.loss
    told = block.y, block.weight, loss.temperature, loss.margin, is_spread
    total, bend = SOFTEN[scores.dtype.char](scores, *told)
    return LossSums(total, scores, bend=bend)


SOFTEN = {"f": kernels.soften_singles, "d": kernels.soften_columns}


def _loss_sums(at: At, problem: RobustProblem, rows: slice) -> LossSums:
    block = ScoredBlock.of(at.coef, problem, rows)
    sums = soften(False, problem, block)
    return sums._replace(gradient=block.gradient(sums.gradient))


def _spread(
    at: At, every: int, problem: RobustProblem, rows: slice
) -> tuple[ScoredBlock, Floats]:
    """Some rows of a block and their curvature (C, n)."""
    block = at.some(every, problem, rows)
    return block, soften(True, problem, block).gradient


def _class_sums(problem: RobustProblem, rows: slice) -> Floats:
    weight, y = map(np.ascontiguousarray, (problem.weight[rows], problem.y[rows]))
    return by_label(weight, y, problem.X[rows], problem.n_classes)
