r"""Passes over rows on a cluster whose labels can be flipped.

They find what passes in memory find (``memory``), but a worker keeps no more than one
number per row, the span, and only until the price is found.  The shares of the labels
follow from sums as large as the coefficients (``label_shares``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from .....arrays import Floats
from .....problem import RobustProblem
from .....rows.reduce import Kept, added
from ... import kernels
from ..curvature.sums import CurvatureSums, curvature_of
from ..design import At, Design, LossSums, ScoredBlock
from ..settings import PRODUCTS
from .label_shares import LabelShares
from .price import lowest_price
from .spanned import Spanned


@dataclass(eq=False)
class Lessons:
    """The shares of the labels as learnt so far, and the last price of a flip."""

    shares: LabelShares
    price: float = 0.0


@dataclass(frozen=True, eq=False)
class ClusterFlipDesign(Design):
    """``budget`` is radius / flip cost."""

    budget: float = field(kw_only=True)
    lessons: Lessons = field(kw_only=True)

    def evaluate(self, at: At) -> LossSums:
        """At the price in ``at``, or at the higher one that the flips need."""
        shares = self.lessons.shares
        first = partial(_spans, at, shares)
        counted, spans = self.reduction.fold_keeping(first, Counted.joined)
        at = at._replace(price=self._price(at, counted, spans))
        sums: LossSums = self.reduction.fold(partial(_slopes, at, shares), added)
        return sums._replace(price=at.price)

    def curvature(self, at: At) -> CurvatureSums:
        work = partial(_spreads, at, self.lessons.shares, self.every)
        sums: CurvatureSums = self.reduction.fold(work, added)
        return sums

    def learn(self, at: At) -> None:
        self.lessons.shares = self.lessons.shares.learnt(at.coef, at.price, at.mu)

    def shares(self, at: At) -> LabelShares:
        """The shares at a point, for the problem's own columns."""
        found = self.lessons.shares.learnt(at.coef, at.price, at.mu)
        coef, intercept = self.scaling.original(found.coef)
        return found._replace(coef=coef, intercept=intercept)

    def _price(self, at: At, counted: Counted, spans: Kept) -> float:
        def count(price: float) -> tuple[float, float]:
            if price == at.price:
                return counted.flipped, counted.slope
            work = partial(_count, price, at.mu)
            sums: tuple[float, float] = self.reduction.fold(work, added, spans)
            return sums

        self.lessons.price = lowest_price(
            count,
            lambda: counted.highest,
            self.budget,
            at.price,
            PRODUCTS.price_rtol,
            self.lessons.price,
        )
        return self.lessons.price


class Counted(NamedTuple):
    """Flips at the least price, minus their slope in it, and a price that nobody pays."""

    flipped: float
    slope: float
    highest: float

    def joined(self, other: Counted) -> Counted:
        highest = max(self.highest, other.highest)
        return Counted(self.flipped + other.flipped, self.slope + other.slope, highest)


def _spans(
    at: At, shares: LabelShares, problem: RobustProblem, rows: slice
) -> tuple[Counted, Floats]:
    spanned = _spanned(at, shares, problem, rows)[0]
    trusts = spanned.block.trusts
    highest = kernels.highest_price(spanned.spans, trusts, at.mu)
    counted = _count(at.price, at.mu, problem, rows, spanned.spans)
    return Counted(*counted, highest), spanned.spans


def _count(
    price: float, mu: float, problem: RobustProblem, rows: slice, spans: Floats
) -> tuple[float, float]:
    trust = problem.label_trust
    trusts = np.ones(len(spans)) if trust is None else np.ascontiguousarray(trust[rows])
    weight = np.ascontiguousarray(problem.weight[rows])
    counted: tuple[float, float] = kernels.count_flips(price, spans, weight, trusts, mu)
    return counted


def _spanned(
    at: At, shares: LabelShares, problem: RobustProblem, rows: slice
) -> tuple[Spanned, Floats]:
    """A block with its spans, and the logarithms of the shares (C, n)."""
    block = ScoredBlock.of(at.coef, problem, rows)
    found = shares.of(ScoredBlock.of(shares.coef, problem, rows).scores.T, *block[2::2])
    logs = np.log(np.maximum(found, PRODUCTS.least_share))
    prior = np.ascontiguousarray(logs.T, dtype=block.scores.dtype)
    return Spanned.of(block, prior, at.mu), prior


def _slopes(at: At, shares: LabelShares, problem: RobustProblem, rows: slice) -> LossSums:
    spanned, prior = _spanned(at, shares, problem, rows)
    sums = spanned.soften(at, prior, problem.loss.temperature, False)
    return sums._replace(gradient=spanned.block.gradient(sums.gradient))


def _spreads(
    at: At, shares: LabelShares, every: int, problem: RobustProblem, rows: slice
) -> CurvatureSums:
    some = slice(rows.start, rows.stop, every)
    spanned, prior = _spanned(at, shares, problem, some)
    spread = spanned.soften(at, prior, problem.loss.temperature, True).gradient
    return curvature_of(spanned.block, spread, every)
