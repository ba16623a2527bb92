r"""Without a budget, separable data need no solver.

Where some classifier gives every row's own class the largest score, its multiples have
losses that fall to 0, a floor of every risk.  Ridge regression on the classes,

    min  sum_n w_n ||M x_n + b - (e_y - 1/C)||^2 + ridge ||M||^2,

finds one wherever the rows' features are linearly independent, as those of a kernel mostly
are, and often elsewhere.  The largest ridge that separates leaves the least steep scores.
Where none does, nothing is said of the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ...arrays import Floats
from ...problem import RobustProblem
from ...problem.certificate.gap import LEAST_SCALE
from ...rows.blocks import dense_rows
from ..result import History, Incumbent, SolverResult, SolverSettings


@dataclass(frozen=True)
class SeparableSettings:
    """Which ridges are tried, and where trying them takes a moment only.

    Parameters
    ----------
    ridges : tuple of float
        Ridges as shares of the mean diagonal of the system, from the least steep scores
        on.
    max_entries : int
        Entries of X up to which a look takes a moment only.
    max_system : int
        The same for the unknowns of the smaller system.
    left_of_gap : float
        Share of the allowed gap that a smooth loss may leave.
    margin_excess : float
        By how much, relative to the margin, scores exceed it so that rounding leaves no
        loss.
    """

    ridges: tuple[float, ...] = (1e-1, 1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-13)
    max_entries: int = 20_000_000
    max_system: int = 2500
    left_of_gap: float = 0.1
    margin_excess: float = 1e-9


SEPARABLE = SeparableSettings()


def separated(problem: RobustProblem, settings: SolverSettings) -> SolverResult | None:
    """A classifier of no loss, up to the gap asked for, or None where none was found."""
    if not _is_worth_a_look(problem):
        return None
    history = History(settings.callback)
    for n_iter, (coef, intercept) in enumerate(_ridge_classifiers(problem), start=1):
        least = _least_margin(problem, coef, intercept)
        if not least > 0:
            continue
        factor = _margin_wanted(problem, settings.tol) / least
        best = Incumbent(factor * coef, factor * intercept, dual_bound=0.0)
        best.offer(best.coef, best.intercept, problem.risk(best.coef, best.intercept))
        if best.certificate.holds(settings.tol):
            history.add(n_iter, best.objective, best.dual_bound)
            return best.result("ridge", settings.tol, False, n_iter, history)
    return None


def _is_worth_a_look(problem: RobustProblem) -> bool:
    if problem.radius > 0 or problem.is_distributed or not problem.weight.all():
        return False
    if problem.n_rows * problem.n_features > SEPARABLE.max_entries:
        return False
    free_flips = np.isfinite(problem.attainable_flip_cost()).any()
    return min(problem.X.shape) <= SEPARABLE.max_system and not free_flips


def _ridge_classifiers(problem: RobustProblem) -> Iterator[tuple[Floats, Floats]]:
    """coef and intercept for falling ridges, from the smaller of the two systems."""
    rows = dense_rows(problem.X)
    centre = np.zeros(problem.n_features)
    aim = np.eye(problem.n_classes)[problem.y] - 1 / problem.n_classes
    offset = np.zeros(problem.n_classes)
    if problem.fit_intercept:
        share = problem.weight / problem.weight.sum()
        centre, offset = share @ rows, share @ aim
    root = np.sqrt(problem.weight)[:, None]
    rows, aim = root * (rows - centre), root * (aim - offset)
    wide = rows.shape[1] > rows.shape[0]
    system = rows @ rows.T if wide else rows.T @ rows
    diagonal = np.diag(system).copy()
    for ridge in SEPARABLE.ridges:
        np.fill_diagonal(system, diagonal + ridge * diagonal.mean())
        try:
            factor = linalg.cho_factor(system, lower=True)
        except linalg.LinAlgError:
            return
        right = aim if wide else rows.T @ aim
        found = linalg.cho_solve(factor, right)
        coef = np.asarray((rows.T @ found if wide else found).T)
        yield coef, offset - coef @ centre


def _least_margin(problem: RobustProblem, coef: Floats, intercept: Floats) -> float:
    """By how much the own class leads, in the row where it leads least."""
    least = np.inf
    for rows in problem.blocks():
        scores = problem.scores(coef, intercept, rows)
        at = np.arange(len(scores)), problem.y[rows]
        own = scores[at].copy()
        scores[at] = -np.inf
        least = min(least, float((own - scores.max(axis=1)).min()))
    return least


def _margin_wanted(problem: RobustProblem, tol: float) -> float:
    """A lead at which the loss is nothing, or small beside the gap asked for:

    temperature log(1 + (C - 1) exp((margin - lead) / temperature)) <= what may be left.
    """
    loss, rivals = problem.loss, problem.n_classes - 1
    if loss.temperature == 0:
        return loss.margin * (1 + SEPARABLE.margin_excess)
    left = SEPARABLE.left_of_gap * tol * LEAST_SCALE / loss.temperature
    return float(loss.margin + loss.temperature * np.log(rivals / np.expm1(left)))
