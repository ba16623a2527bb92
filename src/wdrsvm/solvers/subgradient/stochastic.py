"""Stochastic training: epochs of mini-batches, stopped by rows that are held out.

An epoch is one pass of a stream (``stream``) over the training rows, in random order.
After each, the mean of the iterates is evaluated on the rows held out; when their risk has
not fallen for some epochs, the best mean is the classifier.  Its softmax multipliers then
give a bound, as wide as the data's noise: this is a method for approximate answers.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ...arrays import Codes
from ...problem import RobustProblem, dual_bound
from ..newton.smoothing import PieceSmoothing, Point, SoftmaxMultipliers
from ..result import History, Incumbent, SolverResult, SolverSettings, Start
from ..scaling import Scaling
from .stream import BATCH, StreamState

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


def stochastic(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Epochs over the rows until the risk on held-out rows stops falling."""
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
    part = problem.take(rows)
    return part.with_rows(weight=part.weight / part.weight.sum())


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
    smoothing = PieceSmoothing(Scaling.of(problem))
    lam = risk.lam * smoothing.scaling.unit
    for mu in BOUND_MU:
        at = Point(kept.coef, kept.intercept, lam, mu)
        soft = SoftmaxMultipliers(smoothing, at)
        best.raise_bound(dual_bound(problem, soft), soft)
    history.add(epoch, best.objective, best.dual_bound)
    return best.result("stochastic", settings.tol, stopped, epoch, history)
