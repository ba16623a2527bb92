r"""Stochastic subgradients: mini-batches, for epochs over data in memory and for streams.

The constraint becomes a penalty, exact from the factor ``radius`` on, because that is the
most its multiplier can be:

    F(M, b, lam) + 2 radius max(L(M) - lam, 0),         lam >= 0.

Any norm costs one look at its steepest pair of classes.  A step on a batch

1. finds the active pieces of its rows (``active_rows``), hence a noisy subgradient g;
2. moves by  reach / sqrt(sum of all ||g||^2)  against it, the reach being the largest
   distance from the start so far: no step size needs to be known;
3. updates a mean of the iterates in which late ones count more; the mean is the model.

Lengths are measured where features have mean 0 and variance 1 over all rows seen, and lam
in units of a cheap label flip: lam has to grow before coefficients can.  What a stream
must remember (``StreamState``) does not grow with its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..problem import RobustProblem, dual_bound
from ..problem.norms import NORMS, class_pairs
from .active_rows import Point, active_pieces, flip_costs, require_crammer_singer
from .passes import Passes, SoftmaxMultipliers
from .result import (
    History,
    Incumbent,
    SolverResult,
    SolverSettings,
    SolverStatus,
    Start,
)
from .scaling import Scaling, dense_rows

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

BATCH = 32
# Rows that are made dense and standardised at a time.
BLOCK = 4096
PENALTY = 2.0
# The first reach, in scores; the power of time that the mean weighs iterates by.
FIRST_REACH = 1e-2
MEAN_POWER = 3
# lam's unit as a share of the cheapest flip.
FLIP_SHARE = 0.1
MAX_EPOCHS = 100
# Smoothing with which multipliers for a bound are made at the end.
BOUND_MU = (0.1, 0.03, 0.01)


@dataclass(frozen=True)
class StochasticSettings(SolverSettings):
    """Settings of the stochastic method.

    Parameters
    ----------
    tol, max_iter, seed, callback
        As for every solver; ``max_iter`` counts epochs, 100 if None.
    batch_size : int, default=32
        Rows a step.
    validation_share : float, default=0.1
        Share of the rows that is held out to decide when to stop.  Where that is fewer
        than ``min_validation`` rows, all rows serve for training and for stopping.
    min_validation : int, default=500
        See ``validation_share``.
    patience : int, default=5
        Epochs without progress after which to stop.
    progress : float, default=1e-3
        What counts as progress: a fall of the risk by this share.
    """

    batch_size: int = BATCH
    validation_share: float = 0.1
    min_validation: int = 500
    patience: int = 5
    progress: float = 1e-3

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise ValueError(f"batch_size must be >= 1, got {self.batch_size!r}.")
        if not 0 <= self.validation_share < 1:
            raise ValueError(
                f"validation_share must be >= 0 and < 1, got {self.validation_share!r}."
            )

    @classmethod
    def of(cls, settings: SolverSettings) -> StochasticSettings:
        """These settings, or the defaults of this method around plain ones."""
        if isinstance(settings, cls):
            return settings
        common = {f.name: getattr(settings, f.name) for f in fields(SolverSettings)}
        return cls(**common)


class Moments(NamedTuple):
    """Rows, weight, mean and mean square (P,) of the features seen."""

    n_rows: int
    mass: float
    mean: Floats
    square: Floats

    def with_rows(self, problem: RobustProblem, mass: float) -> Moments:
        """Moments after the rows of a problem, which weigh ``mass`` in all."""
        mean, square = np.zeros_like(self.mean), np.zeros_like(self.mean)
        for rows in problem.blocks():
            X, weight = problem.X[rows], problem.weight[rows]
            mean += np.asarray(weight @ X)
            square += np.asarray(weight @ (X * X))
        share = mass / (self.mass + mass)
        return Moments(
            self.n_rows + problem.n_rows,
            self.mass + mass,
            self.mean + share * (mean - self.mean),
            self.square + share * (square - self.square),
        )


class Units(NamedTuple):
    """Where lengths are measured: features centred and scaled (P,), lam times ``price``."""

    centre: Floats
    scale: Floats
    price: float

    @classmethod
    def of(cls, problem: RobustProblem, moments: Moments) -> Units:
        centre = moments.mean if problem.fit_intercept else np.zeros_like(moments.mean)
        variance = np.maximum(moments.square - centre**2, 0.0)
        # What is left of a constant feature is rounding.
        variance[variance <= 1e-12 * moments.square] = 0.0
        scale = np.where(variance > 0, np.sqrt(variance), 1.0)
        cost = problem.feature_cost
        moved = (scale * cost)[np.isfinite(cost) & (variance > 0)]
        price = float(np.sqrt(np.mean(moved**2))) if len(moved) else 1.0
        flips = problem.label_cost[np.isfinite(problem.label_cost)]
        cheapest = float(flips[flips > 0].min(initial=np.inf))
        return cls(centre, scale, min(price, FLIP_SHARE * cheapest))

    def into(self, point: Point) -> Point:
        intercept = point.intercept + point.coef @ self.centre
        return Point(point.coef * self.scale, intercept, point.lam * self.price)

    def back(self, point: Point) -> Point:
        coef = point.coef / self.scale
        return Point(coef, point.intercept - coef @ self.centre, point.lam / self.price)


@dataclass(frozen=True, eq=False)
class StreamState:
    """All that a stream remembers: C (P + 1) numbers three times, and moments.

    ``at`` is the iterate, ``mean`` the model, ``origin`` where the stream began, all in
    the units of the data.
    """

    at: Point
    mean: Point
    origin: Point
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
        point, none = Point(*start), np.zeros(n_features)
        return cls(point, point, point, Moments(0, 0.0, none, none))

    def after(
        self,
        problem: RobustProblem,
        rng: np.random.Generator,
        mass: float | None = None,
        batch_size: int = BATCH,
    ) -> StreamState:
        """The state after one pass over the rows of a problem, in random order.

        ``mass`` is what the rows weigh in all; it says how much they count beside the
        rows of other calls, and is their number if None.
        """
        mass = float(problem.n_rows) if mass is None else mass
        moments = self.moments.with_rows(problem, mass)
        walk = Walk(self, problem, Units.of(problem, moments))
        # Weights that are 1 on average over all rows seen.
        factor = mass * moments.n_rows / moments.mass
        for batch in walk.batches(rng, batch_size):
            walk.step(batch, factor)
        return walk.state(moments)


class Batch(NamedTuple):
    """Standardised rows (m, P), their labels, rows of flip costs and weights."""

    Z: Floats
    y: Codes
    cost_row: Codes
    weight: Floats


class Walk:
    """A stream's state in the units of its lengths, on its way through some rows."""

    def __init__(self, state: StreamState, problem: RobustProblem, units: Units):
        self.problem, self.units = problem, units
        self.at, self.mean, self.origin = (
            units.into(point) for point in (state.at, state.mean, state.origin)
        )
        first = FIRST_REACH * (1.0 + np.sqrt(self.origin.square))
        self.reach = max(state.reach, first)
        self.squares, self.n_steps = state.squares, state.n_steps
        self.flip_cost, self.cost_row = flip_costs(problem)
        self.steepness = Steepness(problem, units)

    def batches(self, rng: np.random.Generator, size: int) -> Iterator[Batch]:
        """All rows once, in random order, in batches of nearly equal size."""
        problem, order = self.problem, rng.permutation(self.problem.n_rows)
        for start in range(0, len(order), BLOCK):
            rows = order[start : start + BLOCK]
            Z = (dense_rows(problem.X[rows]) - self.units.centre) / self.units.scale
            parts = problem.y[rows], self.cost_row[rows], problem.weight[rows]
            n_batches = max(1, len(rows) // size)
            ends = np.linspace(0, len(rows), n_batches + 1).astype(int).tolist()
            for low, high in zip(ends[:-1], ends[1:], strict=True):
                yield Batch(Z[low:high], *(part[low:high] for part in parts))

    def step(self, batch: Batch, factor: float) -> None:
        """Move against the subgradient of a batch."""
        slope = self.steepness.added(self._slope(batch, factor / len(batch.y)), self.at)
        self.squares += slope.square
        length = self.reach / np.sqrt(self.squares) if self.squares > 0 else 0.0
        coef, intercept, lam = self.at.plus(-length, slope)
        self.at = Point(coef, intercept, max(lam, 0.0))
        self.n_steps += 1
        share = (MEAN_POWER + 1.0) / (self.n_steps + MEAN_POWER)
        self.mean = self.mean.plus(share, self.at.plus(-1.0, self.mean))
        away = self.at.plus(-1.0, self.origin).square
        self.reach = max(self.reach, float(np.sqrt(away)))

    def _slope(self, batch: Batch, factor: float) -> Point:
        scores = batch.Z @ self.at.coef.T + self.at.intercept
        slope, pieces = np.empty_like(scores), np.empty((len(scores), 2), dtype=np.intp)
        lam, weight = self.at.lam / self.units.price, factor * batch.weight
        _, spent = active_pieces(
            scores, batch.y, self.flip_cost, batch.cost_row, weight, lam, slope, pieces
        )
        d_intercept = slope.sum(axis=0) * self.problem.fit_intercept
        d_lam = (self.problem.radius - spent) / self.units.price
        return Point(slope.T @ batch.Z, d_intercept, d_lam)

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
        self.weight = PENALTY * problem.radius
        self.pairs = class_pairs(problem.n_classes)

    def added(self, slope: Point, at: Point) -> Point:
        """A subgradient with that of the penalty added; the arrays are reused."""
        if not (self.weight > 0 and len(self.touchable)):
            return slope
        scaled = at.coef[:, self.touchable] / self.cost
        i, j = self.pairs
        differences = scaled[i] - scaled[j]
        modulus = NORMS[self.norm].dual_of_rows(differences)
        worst = int(modulus.argmax())
        if modulus[worst] <= at.lam / self.price:
            return slope
        pull = self.weight * DIRECTIONS[self.norm](differences[worst]) / self.cost
        slope.coef[i[worst], self.touchable] += pull
        slope.coef[j[worst], self.touchable] -= pull
        return slope._replace(lam=slope.lam - self.weight / self.price)


def _largest_entry(difference: Floats) -> Floats:
    direction = np.zeros_like(difference)
    largest = int(np.abs(difference).argmax())
    direction[largest] = np.sign(difference[largest])
    return direction


def _unit_length(difference: Floats) -> Floats:
    return np.asarray(difference / np.linalg.norm(difference))


# A subgradient of the dual norm at a point other than 0.
DIRECTIONS = {"l1": _largest_entry, "l2": _unit_length, "linf": np.sign}


def stochastic(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Epochs over the rows until the risk on held-out rows stops falling."""
    require_crammer_singer(problem, "stochastic")
    own, history = StochasticSettings.of(settings), History(settings.callback)
    rng = np.random.default_rng(own.seed)
    training, watched = _split(problem, own, rng)
    state = StreamState.begin(problem.n_classes, problem.n_features, start)
    kept = Incumbent(state.mean.coef, state.mean.intercept)
    max_epochs = MAX_EPOCHS if own.max_iter is None else own.max_iter
    epoch, progress, reference = 0, 0, np.inf
    while epoch < max_epochs and epoch - progress < own.patience:
        epoch += 1
        state = state.after(training, rng, batch_size=own.batch_size)
        risk = watched.risk(state.mean.coef, state.mean.intercept)
        kept.offer(state.mean.coef, state.mean.intercept, risk)
        history.add(epoch, risk.value, -np.inf)
        if risk.value < reference * (1 - own.progress):
            reference, progress = risk.value, epoch
    return _certified(problem, own, kept, epoch, epoch < max_epochs, history)


def _split(
    problem: RobustProblem, settings: StochasticSettings, rng: np.random.Generator
) -> tuple[RobustProblem, RobustProblem]:
    """Rows to train on and rows to watch."""
    n_watched = int(settings.validation_share * problem.n_rows)
    if n_watched < max(settings.min_validation, 1):
        return problem, problem
    order = rng.permutation(problem.n_rows)
    watched, trained = np.sort(order[:n_watched]), np.sort(order[n_watched:])
    return _rows_of(problem, trained), _rows_of(problem, watched)


def _rows_of(problem: RobustProblem, rows: Codes) -> RobustProblem:
    weight, trust = problem.weight[rows], problem.label_trust
    return replace(
        problem,
        X=problem.X[rows],
        y=problem.y[rows],
        weight=weight / weight.sum(),
        label_trust=None if trust is None else trust[rows],
    )


def _certified(
    problem: RobustProblem,
    settings: StochasticSettings,
    kept: Incumbent,
    epoch: int,
    stopped: bool,
    history: History,
) -> SolverResult:
    """The classifier kept, judged on all rows; its softmax multipliers give a bound."""
    best, risk = (
        Incumbent(kept.coef, kept.intercept),
        problem.risk(kept.coef, kept.intercept),
    )
    best.offer(kept.coef, kept.intercept, risk)
    passes = Passes.over(problem, Scaling.of(problem), map)
    for mu in BOUND_MU:
        lam = risk.lam * passes.scaling.unit
        soft = SoftmaxMultipliers(passes, kept.coef, kept.intercept, lam, mu, None, None)
        best.raise_bound(dual_bound(problem, soft), soft)
    history.add(epoch, best.objective, best.dual_bound)
    status = SolverStatus.STALLED if stopped else SolverStatus.MAX_ITER
    if best.certificate.holds(settings.tol):
        status = SolverStatus.CONVERGED
    return best.result("stochastic", status, epoch, history)
