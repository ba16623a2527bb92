r"""Where flips of labels do not pay: the ball that trusts labels gives the same classifier.

The ball that trusts labels is the smaller one.  So each classifier has no more risk in it,
and a lower bound of its optimum is one for both balls.  If a flip costs as much as a move
across the data, it gains less than it costs.  Then the classifier trained with trusted
labels has the same risk in both balls, and is optimal in both.  It takes a fraction of the
time, because rows have one kind of multipliers in place of three.

A classifier along the class means tells beforehand, on a sample of the rows, whether flips
pay.  The risk of the classifier that was trained decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy import sparse

from ...arrays import Floats
from ...problem import Certificate, RobustProblem
from ..auto import choose, quick_trials
from ..newton.products.choice import in_products
from ..result import SolverResult, SolverSettings, SolverStatus

# A solver of problems with trusted labels.
SolveTrusted: TypeAlias = Callable[[RobustProblem], SolverResult]


@dataclass(frozen=True)
class NeedlessFlipSettings:
    """When labels are trusted for a trial.

    Parameters
    ----------
    least_tol : float
        Smaller tolerances have not been measured.
    max_sampled_rows : int
        Rows on which the classifier of the class means is looked at.
    max_raised_share : float
        The trial is made if flips raise the risk of that classifier by no more than this
        share.
    """

    least_tol: float = 1e-3
    max_sampled_rows: int = 2000
    max_raised_share: float = 3e-4


NEEDLESS_FLIPS = NeedlessFlipSettings()


def without_flips(
    problem: RobustProblem, settings: SolverSettings, solve_trusted: SolveTrusted
) -> SolverResult | None:
    """A classifier trained with trusted labels that flips cannot hurt, or None."""
    if problem.trusts_labels:
        return None
    trusted = replace(problem, ball=replace(problem.ball, label_cost=np.inf))
    if not _is_faster(problem, trusted, settings) or _flips_pay(problem, trusted):
        return None
    result = solve_trusted(trusted)
    risk = problem.risk(result.coef, result.intercept)
    found = Certificate(risk.value, result.certificate.dual_bound, risk.lam)
    if not found.holds(settings.tol):
        return None
    return replace(result, certificate=found, status=SolverStatus.CONVERGED)


def _is_faster(
    problem: RobustProblem, trusted: RobustProblem, settings: SolverSettings
) -> bool:
    """Whether flips make the method slower."""
    if problem.is_bounded or problem.is_distributed or problem.radius == 0:
        return False
    if settings.tol < NEEDLESS_FLIPS.least_tol:
        return False
    # A class that only flips can reach has no trusted counterpart.
    if not trusted.reachable.all():
        return False
    chosen = choose(trusted, settings.tol)
    if chosen == "first-order" or in_products(trusted):
        return True
    return bool(quick_trials(trusted, settings.tol, chosen))


def _flips_pay(problem: RobustProblem, trusted: RobustProblem) -> bool:
    """Whether flips raise the risk of a classifier along the class means."""
    step = -(-problem.n_rows // NEEDLESS_FLIPS.max_sampled_rows)
    sample, sure = (_sampled(each, step) for each in (problem, trusted))
    coef, intercept = _along_class_means(sample)
    least = sure.risk(coef, intercept).value
    raised = sample.risk(coef, intercept).value - least
    return raised > NEEDLESS_FLIPS.max_raised_share * least


def _sampled(problem: RobustProblem, step: int) -> RobustProblem:
    """One row of so many, with the weight of all."""
    if step <= 1:
        return problem
    chosen = problem.take(np.arange(0, problem.n_rows, step))
    share = chosen.weight.sum() / problem.weight.sum()
    return chosen.with_rows(weight=chosen.weight / share) if share > 0 else problem


def _along_class_means(problem: RobustProblem) -> tuple[Floats, Floats]:
    """Weighted sums of the classes about the centre, scaled to a mean score of 1 for the
    rows' own labels, and intercepts."""
    every, weight = np.arange(problem.n_rows), problem.weight
    shape = problem.n_classes, problem.n_rows
    mass = sparse.csr_array((weight, (problem.y, every)), shape)
    sums = mass @ problem.features(slice(None))
    sums = sums.toarray() if sparse.issparse(sums) else np.asarray(sums)
    centre = np.zeros(problem.n_features)
    if problem.fit_intercept:
        centre = sums.sum(axis=0) / weight.sum()
    coef = sums - np.asarray(mass.sum(axis=1))[:, None] * centre
    coef /= max(float((coef * coef).sum()), np.finfo(float).tiny)
    return coef, -coef @ centre
