r"""A stream: subgradient steps on mini-batches, in bounded memory.

A penalty replaces the norm constraint.  It is exact if its factor is at least ``radius``,
because the multiplier of the constraint is at most ``radius``:

    F(M, b, lam) + 2 radius max(L(M) - lam, 0),         lam >= 0.

For any norm, the penalty only needs the pair of classes with the largest distance.  A step
on a batch

1. finds the active pieces of its rows (``active_pieces``), or for smooth losses the labels
   of largest loss (``active_tangents``), which give a noisy subgradient g;
2. moves by  reach / sqrt(sum of all ||g||^2)  against g.  The reach is the largest distance
   from the start so far (Ivgi, Hinder and Carmon 2023, "DoG is SGD's best friend").  This
   needs no step size;
3. updates a mean of the iterates in which later iterates have more weight.  The mean is the
   model.

Lengths are measured in units in which features have mean 0 and variance 1 over all rows so
far.  The unit of lam is that of a cheap label flip, because lam must grow before the
coefficients can.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Codes, Floats
from ...problem import RobustProblem
from ...problem.norms import NORMS, class_pairs
from ...rows.blocks import dense_rows
from ..newton.kernels import ScoredRows, active_tangents
from ..result import Start
from .active_pieces import ParameterVector, flip_costs
from .kernels import active_pieces
from .settings import STREAM


class Moments(NamedTuple):
    """Number and weight of the rows so far, mean and variance (P,) of their features."""

    n_rows: int
    mass: float
    mean: Floats
    variance: Floats

    @classmethod
    def none(cls, n_features: int) -> Moments:
        return cls(0, 0.0, np.zeros(n_features), np.zeros(n_features))

    def with_rows(self, problem: RobustProblem, mass: float) -> Moments:
        """Moments with the rows of a problem added; ``mass`` is their total weight."""
        moments = self
        for start in range(0, problem.n_rows, STREAM.block_rows):
            rows = slice(start, start + STREAM.block_rows)
            weight = mass * problem.weight[rows]
            moments = moments._joined(dense_rows(problem.X[rows]), weight)
        return moments

    def _joined(self, X: Floats, weight: Floats) -> Moments:
        added = float(weight.sum())
        mean = weight @ X / added
        variance = weight @ (X - mean) ** 2 / added
        share, shift = added / (self.mass + added), mean - self.mean
        between = share * (1.0 - share) * shift**2
        return Moments(
            self.n_rows + len(X),
            self.mass + added,
            self.mean + share * shift,
            self.variance + share * (variance - self.variance) + between,
        )


class Units(NamedTuple):
    """The units of lengths: features centred and scaled (P,), lam times ``price``."""

    centre: Floats
    scale: Floats
    price: float

    @classmethod
    def of(cls, problem: RobustProblem, moments: Moments) -> Units:
        centre, square = moments.mean, moments.variance
        if not problem.fit_intercept:
            centre, square = np.zeros_like(centre), square + centre**2
        scale = np.sqrt(np.where(square > 0, square, 1.0))
        cost = problem.feature_cost
        moved = (scale * cost)[np.isfinite(cost) & (square > 0)]
        price = float(np.sqrt(np.mean(moved**2))) if len(moved) else 1.0
        flips = problem.label_cost[np.isfinite(problem.label_cost)]
        cheapest = float(flips[flips > 0].min(initial=np.inf))
        return cls(centre, scale, min(price, STREAM.flip_share * cheapest))

    def into(self, point: ParameterVector) -> ParameterVector:
        intercept = point.intercept + point.coef @ self.centre
        return ParameterVector(point.coef * self.scale, intercept, point.lam * self.price)

    def back(self, point: ParameterVector) -> ParameterVector:
        coef = point.coef / self.scale
        return ParameterVector(
            coef, point.intercept - coef @ self.centre, point.lam / self.price
        )


@dataclass(frozen=True, eq=False)
class StreamState:
    """The complete state of a stream: three points of C (P + 1) numbers, and moments.

    ``at`` is the iterate, ``mean`` is the model, and ``origin`` is the start of the stream.
    All three are in the units of the data.
    """

    at: ParameterVector
    mean: ParameterVector
    origin: ParameterVector
    moments: Moments
    reach: float = 0.0
    squares: float = 0.0
    n_steps: int = 0

    @classmethod
    def begin(
        cls, n_classes: int, n_features: int, start: Start | None = None
    ) -> StreamState:
        if start is None:
            zeros = np.zeros((n_classes, n_features))
            start = Start(zeros, np.zeros(n_classes), 0.0)
        point = ParameterVector(start.coef, start.intercept, start.lam)
        return cls(point, point, point, Moments.none(n_features))

    @property
    def parts(self) -> dict[str, Any]:
        """The state as tuples, arrays and numbers, so that files do not need this class."""
        found = vars(self).items()
        return {
            name: tuple(part) if isinstance(part, tuple) else part for name, part in found
        }

    @classmethod
    def of_parts(cls, parts: dict[str, Any]) -> StreamState:
        """The state from its ``parts``."""
        points = {name: ParameterVector(*parts[name]) for name in ("at", "mean", "origin")}
        return cls(**parts | points | {"moments": Moments(*parts["moments"])})

    def after(
        self,
        problem: RobustProblem,
        rng: np.random.Generator,
        mass: float | None = None,
        batch_size: int = STREAM.batch_size,
    ) -> StreamState:
        """The state after one pass over the rows of a problem, in random order.

        ``mass`` is the total weight of the rows, relative to the rows of other calls.  None
        takes the number of rows.
        """
        mass = float(problem.n_rows) if mass is None else mass
        moments = self.moments.with_rows(problem, mass)
        walk = Walk(self, problem, Units.of(problem, moments))
        # This factor makes the weights 1 on average over all rows so far.
        factor = mass * moments.n_rows / moments.mass
        for batch in walk.batches(rng, batch_size):
            walk.step(batch, factor)
        return walk.state(moments)


class Batch(NamedTuple):
    """Standardised rows (m, P), their labels, numbers of flip cost rows, and weights."""

    Z: Floats
    y: Codes
    cost_row: Codes
    weight: Floats

    def between(self, low: int, high: int) -> Batch:
        part = slice(low, high)
        return Batch(self.Z[part], self.y[part], self.cost_row[part], self.weight[part])


class Walk:
    """One pass of a stream over some rows; its state is in the units of lengths."""

    def __init__(self, state: StreamState, problem: RobustProblem, units: Units):
        self.problem, self.units = problem, units
        self.at, self.mean, self.origin = (
            units.into(point) for point in (state.at, state.mean, state.origin)
        )
        first = STREAM.first_reach * (1.0 + np.sqrt(self.origin.square))
        self.reach = max(state.reach, first)
        self.squares, self.n_steps = state.squares, state.n_steps
        self.flip_cost, self.cost_row = flip_costs(problem)
        self.steepness = Steepness(problem, units)

    def batches(self, rng: np.random.Generator, size: int) -> Iterator[Batch]:
        """All rows once, in random order, in batches of at most ``size``."""
        problem, order = self.problem, rng.permutation(self.problem.n_rows)
        for start in range(0, len(order), STREAM.block_rows):
            rows = order[start : start + STREAM.block_rows]
            Z = (dense_rows(problem.X[rows]) - self.units.centre) / self.units.scale
            all_rows = Batch(Z, problem.y[rows], self.cost_row[rows], problem.weight[rows])
            n_batches = -(-len(rows) // size)
            ends = np.linspace(0, len(rows), n_batches + 1).astype(int).tolist()
            for low, high in pairwise(ends):
                yield all_rows.between(low, high)

    def step(self, batch: Batch, factor: float) -> None:
        """Move against the subgradient of a batch."""
        slope = self.steepness.added(self._slope(batch, factor / len(batch.y)), self.at)
        self.squares += slope.square
        length = self.reach / np.sqrt(self.squares) if self.squares > 0 else 0.0
        coef, intercept, lam = self.at.plus(-length, slope)
        self.at = ParameterVector(coef, intercept, max(lam, 0.0))
        self.n_steps += 1
        share = (STREAM.mean_power + 1.0) / (self.n_steps + STREAM.mean_power)
        self.mean = self.mean.plus(share, self.at.plus(-1.0, self.mean))
        away = self.at.plus(-1.0, self.origin).square
        self.reach = max(self.reach, float(np.sqrt(away)))

    def _slope(self, batch: Batch, factor: float) -> ParameterVector:
        scores = batch.Z @ self.at.coef.T + self.at.intercept
        slope, loss = np.empty_like(scores), self.problem.loss
        lam, weight = self.at.lam / self.units.price, factor * batch.weight
        rows = scores, batch.y, self.flip_cost, batch.cost_row, weight, lam
        if loss.temperature > 0:
            spent = active_tangents(ScoredRows(*rows), loss.temperature, loss.margin, slope)
        else:
            pieces = np.empty((len(scores), 2), dtype=np.intp)
            _, spent = active_pieces(*rows, slope, pieces)
        d_intercept = slope.sum(axis=0) * self.problem.fit_intercept
        d_lam = (self.problem.radius - spent) / self.units.price
        return ParameterVector(slope.T @ batch.Z, d_intercept, d_lam)

    def state(self, moments: Moments) -> StreamState:
        at, mean, origin = map(self.units.back, (self.at, self.mean, self.origin))
        return StreamState(
            at, mean, origin, moments, self.reach, self.squares, self.n_steps
        )


class Steepness:
    """The penalty 2 radius max(L(M) - lam, 0) in the units of a walk."""

    def __init__(self, problem: RobustProblem, units: Units):
        cost = problem.attainable_feature_cost()
        self.touchable = np.flatnonzero(np.isfinite(cost))
        self.cost = (cost * units.scale)[self.touchable]
        self.norm, self.price = problem.ball.norm, units.price
        self.weight = STREAM.penalty * problem.radius
        self.pairs = class_pairs(problem.n_classes)

    def added(self, slope: ParameterVector, at: ParameterVector) -> ParameterVector:
        """Add the penalty's subgradient to a subgradient; the arrays are reused."""
        if not (self.weight > 0 and len(self.touchable)):
            return slope
        scaled = at.coef[:, self.touchable] / self.cost
        i, j = self.pairs
        differences = scaled[i] - scaled[j]
        modulus = NORMS[self.norm].dual_of_rows(differences)
        worst = int(modulus.argmax())
        if modulus[worst] <= at.lam / self.price:
            return slope
        pull = self.weight * NORMS[self.norm].steepest(differences[worst]) / self.cost
        slope.coef[i[worst], self.touchable] += pull
        slope.coef[j[worst], self.touchable] -= pull
        return slope._replace(lam=slope.lam - self.weight / self.price)
