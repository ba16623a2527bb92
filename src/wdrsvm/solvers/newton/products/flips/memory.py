r"""Passes over rows in memory whose labels can be flipped.

At given scores the multiplier lam of the ball is the least one, and at least the diameter,
at which flips cost no more than the radius.  A pass therefore has two halves with one
equation in one unknown between them: the first one finds the span of each row, the second
one the slopes at the price that follows.

The maximum over the labels of a row is smoothed by mu around shares of the labels.  The
shares are learnt as those of the diameter are: where the smoothed risk is least, the
slopes Q become the new shares.  So mu need not become small (the exponential method of
multipliers).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from .....arrays import Codes, Floats
from .....problem import RobustProblem
from .....rows.reduce import added
from ... import kernels
from ..curvature.heavy_rows import HeavyCurvature
from ..curvature.sums import CurvatureSums
from ..design import At, Design, LossSums, ScoredBlock
from ..settings import PRODUCTS
from .close import CloseFlips, Look, Priors
from .price import lowest_price
from .spanned import Spanned

# Blocks between the halves of a pass, by the number of the first row, if they are kept.
Held: TypeAlias = dict[int, Spanned] | None
SecondHalf: TypeAlias = Callable[[At, Spanned, slice], Any]


def first_flipped(budget: float) -> float:
    """The share of the flips that the first shares of the labels count on."""
    return min(PRODUCTS.most_flipped, budget)


@dataclass(frozen=True, eq=False)
class FlipDesign(Design):
    """``problem`` has rows in the solver's columns; ``budget`` is radius / flip cost.

    ``priors`` has the logarithms of the shares (C, n) of each block of rows, by the number
    of the first row.
    """

    problem: RobustProblem = field(kw_only=True)
    budget: float = field(kw_only=True)
    priors: Priors = field(default_factory=dict)

    def evaluate(self, at: At) -> LossSums:
        """At the price in ``at``, or at the higher one that the flips need."""
        price, sums = self._pass(at, self._slopes)
        assert isinstance(sums, LossSums)
        return sums._replace(gradient=self.along(sums.gradient), price=price)

    def curvature(self, at: At) -> CurvatureSums:
        return self.curvature_by(partial(self._spread, self.seen(at)))

    def heavy_curvature(self, at: At) -> HeavyCurvature:
        return self.heaviest_by(partial(self._spread, self.seen(at)))

    def shares(self, at: At) -> Floats:
        """The share of each label (N, C)."""
        masses = np.empty((self.problem.n_rows, self.problem.n_classes), self.kind)

        def fill(at: At, spanned: Spanned, rows: slice) -> None:
            self._soften(at, spanned, rows)
            masses[rows] = spanned.shares.T

        self._pass(at, fill)
        return masses

    def learn(self, at: At) -> None:
        """Let the labels' shares at this point be those around which is smoothed."""
        learnt: Priors = {}
        self._pass(at, partial(self._keep, learnt))
        self.priors.update(learnt)

    def look(self, at: At, band: float, most: int) -> Look:
        """At most so many flips that are worth their price, or nearly, up to ``band``."""
        found: dict[int, Look] = {}

        def keep(at: At, spanned: Spanned, rows: slice) -> None:
            excess, learnt = spanned.block.excess(at.price), dict[int, Floats]()
            gain = np.maximum(excess.max(axis=0), 0.0) @ spanned.block.weight
            self._keep(learnt, at, spanned, rows)
            close = CloseFlips.of(spanned, excess, rows.start, band)
            found[rows.start] = Look(close, learnt, float(gain))

        self._pass(at, keep)
        # Threads may end in any order.
        return Look.joined([found[first] for first in sorted(found)], most)

    def _keep(self, learnt: Priors, at: At, spanned: Spanned, rows: slice) -> None:
        """Soften a block and keep the logarithms of its shares."""
        self._soften(at, spanned, rows)
        shares = np.maximum(spanned.shares, PRODUCTS.least_share)
        learnt[rows.start] = np.log(shares).astype(self.kind)

    def _pass(self, at: At, second: SecondHalf) -> tuple[float, Any]:
        """The price, and the sum of the second half's results.

        Scores are kept between the halves if they are not too many.
        """
        entries = self.problem.n_rows * self.problem.n_classes
        held: Held = {} if entries <= PRODUCTS.max_held else None
        spans, at = np.empty(self.problem.n_rows), self.seen(at)
        self.reduction.fold(partial(self._fill_spans, at, spans, held), added)
        at = at._replace(price=self.price(at, spans))
        work = partial(self._second_half, at, held, second)
        return at.price, self.reduction.fold(work, added)

    def price(self, at: At, spans: Floats, guess: float = 0.0) -> float:
        """The price in ``at``, or the higher one that the flips of these spans need."""
        weight, trust = self.problem.weight, self.problem.label_trust
        trust = np.ones(len(spans)) if trust is None else trust
        weight, trust = map(np.ascontiguousarray, (weight, trust))
        return lowest_price(
            lambda price: kernels.count_flips(price, spans, weight, trust, at.mu),
            lambda: kernels.highest_price(spans, trust, at.mu),
            self.budget,
            at.price,
            guess=guess,
        )

    def _fill_spans(
        self, at: At, spans: Floats, held: Held, problem: RobustProblem, rows: slice
    ) -> None:
        spanned = self._spanned(at, problem, rows)
        spans[rows] = spanned.spans
        if held is not None:
            held[rows.start] = spanned

    def _second_half(
        self,
        at: At,
        held: Held,
        second: SecondHalf,
        problem: RobustProblem,
        rows: slice,
    ) -> Any:
        if held is not None:
            return second(at, held.pop(rows.start), rows)
        return second(at, self._spanned(at, problem, rows), rows)

    def _spanned(
        self, at: At, problem: RobustProblem, rows: slice, every: int = 1
    ) -> Spanned:
        block = at.some(every, problem, rows)
        return Spanned.of(block, self.prior(rows, every), at.mu)

    def prior(self, rows: slice, every: int = 1) -> Floats:
        """The logarithms of the shares."""
        if rows.start not in self.priors:
            self.priors[rows.start] = self._first_prior(self.problem.y[rows])
        prior = self.priors[rows.start]
        return prior if every == 1 else np.ascontiguousarray(prior[:, ::every])

    def _first_prior(self, y: Codes) -> Floats:
        """Shares as if the flips that the radius can pay were those of all rows."""
        n_classes, flipped = self.problem.n_classes, first_flipped(self.budget)
        shape, other = (n_classes, len(y)), np.log(flipped / (n_classes - 1))
        prior = np.full(shape, other, dtype=self.kind)
        prior[y, np.arange(len(y))] = np.log(1 - flipped)
        return prior

    def _soften(
        self,
        at: At,
        spanned: Spanned,
        rows: slice,
        every: int = 1,
        is_spread: bool = False,
    ) -> LossSums:
        prior = self.prior(rows, every)
        return spanned.soften(at, prior, self.problem.loss.temperature, is_spread)

    def _slopes(self, at: At, spanned: Spanned, rows: slice) -> LossSums:
        sums = self._soften(at, spanned, rows)
        return sums._replace(gradient=spanned.block.gradient(sums.gradient))

    def _spread(
        self, at: At, problem: RobustProblem, rows: slice
    ) -> tuple[ScoredBlock, Floats]:
        """The curvature (C, n) of a block at the price in ``at``."""
        spanned = self._spanned(at, problem, rows, self.every)
        spread = self._soften(at, spanned, rows, self.every, is_spread=True).gradient
        return spanned.block, spread
