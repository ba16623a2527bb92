r"""Where the class means already prove that no classifier beats a constant one.

The problem of the class means has one row per class.  Its optimum is a lower bound of the
optimum of all rows (``problem.class_means``).  Where the bound reaches the risk of the best
constant classifier, that classifier is optimal.  This takes one pass over the rows in place
of a solve, in which nearly every row would sit on a kink of its loss.  Classifiers that
point from class mean to class mean show beforehand whether this can be the case.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ...arrays import Floats
from ...problem import RobustProblem
from ...problem.certificate.gap import allowed_gap
from ...problem.class_means import class_means
from ..result import History, Incumbent, SolverResult, SolverSettings

# A solver of problems with one row per class.
SolveMeans: TypeAlias = Callable[[RobustProblem, SolverSettings], SolverResult]


@dataclass(frozen=True)
class ConstantOptimumSettings:
    """When the class means are looked at.

    Parameters
    ----------
    min_entries : int
        Entries of X from which a solve takes longer than one pass over the rows.
    max_classes : int
        Classes up to which the problem of the class means is solved in a moment.
    scales : tuple of float
        Scales of the classifiers that point from class mean to class mean, relative to
        the one that would separate the means by the margin.
    share_of_gap : float
        Share of the allowed gap to which the problem of the class means is solved.
    """

    min_entries: int = 100_000
    max_classes: int = 30
    scales: tuple[float, ...] = (1.0, 0.3, 0.1, 0.03, 0.01)
    share_of_gap: float = 0.1


CONSTANT_OPTIMUM = ConstantOptimumSettings()


def constant_optimum(
    problem: RobustProblem, settings: SolverSettings, solve_means: SolveMeans
) -> SolverResult | None:
    """A constant classifier that is optimal up to the gap asked for, or None."""
    if not _is_worth_a_look(problem):
        return None
    means = class_means(problem)
    if _surely_pays(means, settings.tol):
        return None
    exact = SolverSettings(tol=CONSTANT_OPTIMUM.share_of_gap * settings.tol)
    intercept, risk = _best_constant(means, exact, solve_means)
    hoped = risk - allowed_gap(settings.tol, risk)
    if _some_direction_pays(means, intercept, hoped):
        return None
    bound = solve_means(means, exact)
    if bound.certificate.dual_bound < hoped:
        return None
    coef = np.zeros((problem.n_classes, problem.n_features))
    best = Incumbent(coef, intercept, dual_bound=bound.certificate.dual_bound)
    best.offer(coef, intercept, problem.risk(coef, intercept))
    if not best.certificate.holds(settings.tol):
        return None
    history = History(settings.callback)
    history.add(bound.n_iter, best.objective, best.dual_bound)
    return best.result("class-means", settings.tol, False, bound.n_iter, history)


def _surely_pays(means: RobustProblem, tol: float) -> bool:
    """Whether some direction is better than any constant classifier can be.

    Flips only raise the risk of the best constant classifier, which is known without them.
    """
    known = _by_weights(means)
    if known is None:
        return False
    intercept, least = known
    return _some_direction_pays(means, intercept, least - allowed_gap(tol, least))


def _by_weights(means: RobustProblem) -> tuple[Floats, float] | None:
    """The best constant of the logistic loss if labels are trusted, and its risk.

    The best probabilities are the weights of the classes, and the risk is their entropy.
    """
    loss = means.loss
    weights = np.bincount(means.y, means.weight, means.n_classes)
    is_free = means.fit_intercept and (weights > 0).all()
    if not is_free or loss.temperature == 0 or loss.margin != 0:
        return None
    logs = loss.temperature * np.log(weights / weights.sum())
    return logs, -float(weights @ logs)


def _best_constant(
    means: RobustProblem, settings: SolverSettings, solve_means: SolveMeans
) -> tuple[Floats, float]:
    """The intercepts (C,) of the best constant classifier, and its risk."""
    known = _by_weights(means)
    if known is not None and means.trusts_labels:
        return known
    found = solve_means(means.with_rows(X=np.zeros_like(means.X)), settings)
    return found.intercept, found.certificate.objective


def _is_worth_a_look(problem: RobustProblem) -> bool:
    n_entries = problem.n_rows * problem.n_features
    return (
        problem.radius > 0
        and not problem.is_bounded
        and n_entries >= CONSTANT_OPTIMUM.min_entries
        and problem.n_classes <= CONSTANT_OPTIMUM.max_classes
        and bool(np.isfinite(problem.feature_cost).all())
    )


def _some_direction_pays(means: RobustProblem, intercept: Floats, hoped: float) -> bool:
    """Whether a classifier along the class means is better than ``hoped``."""
    centred = means.X - means.weight @ means.X
    direction = np.zeros((means.n_classes, means.n_features))
    np.add.at(direction, means.y, centred)
    length = float((direction**2).sum(axis=1).max())
    if length == 0:
        return False
    offset = direction @ (means.weight @ means.X)
    return any(
        means.risk(step * direction, intercept - step * offset).value < hoped
        for step in np.asarray(CONSTANT_OPTIMUM.scales) / length
    )
