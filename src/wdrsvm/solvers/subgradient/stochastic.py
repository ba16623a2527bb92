"""Stochastic training: epochs of mini-batches; held-out rows decide when to stop.

An epoch is one pass of a stream (``stream``) over the training rows, in random order.
After each epoch, the mean of the iterates is evaluated on the held-out rows.  If their risk
does not fall for some epochs, the method stops, and the best mean is the classifier.  The
softmax multipliers of this classifier give a lower bound.  The gap is of the size of the
noise in the data, because this is a method for approximate solutions.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Codes
from ...problem import RobustProblem, dual_bound
from ..newton.smoothing import EvaluationPoint, PieceSmoothing, SoftmaxMultipliers
from ..result import History, Incumbent, SolverResult, SolverSettings, Start
from ..scaling import Scaling
from .settings import StochasticSettings
from .stream import StreamState

__all__ = ["StochasticSettings", "stochastic"]


def stochastic(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Run epochs over the rows until the risk on held-out rows stops falling."""
    own, history = StochasticSettings.of(settings), History(settings.callback)
    rng = np.random.default_rng(own.seed)
    training, watched = _split(problem, own, rng)
    state = StreamState.begin(problem.n_classes, problem.n_features, start)
    kept = Incumbent(state.mean.coef, state.mean.intercept)
    max_epochs = own.default_max_iter if own.max_iter is None else own.max_iter
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
    """Split the rows into training rows and held-out rows."""
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
    """The best classifier with its risk on all rows, and a bound by softmax multipliers."""
    best, risk = (
        Incumbent(kept.coef, kept.intercept),
        problem.risk(kept.coef, kept.intercept),
    )
    best.offer(kept.coef, kept.intercept, risk)
    smoothing = PieceSmoothing(Scaling.of(problem))
    lam = risk.lam * smoothing.scaling.unit
    for mu in settings.bound_mus:
        at = EvaluationPoint(kept.coef, kept.intercept, lam, mu)
        soft = SoftmaxMultipliers(smoothing, at)
        best.raise_bound(dual_bound(problem, soft), soft)
    history.add(epoch, best.objective, best.dual_bound)
    return best.result("stochastic", settings.tol, stopped, epoch, history)
