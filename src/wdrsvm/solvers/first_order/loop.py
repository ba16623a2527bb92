r"""First-order training for high dimensions: no dense system, sparse data stay sparse.

A proximal point method on (M, b, lam).  Dual coordinate ascent, one sample at a time,
solves its subproblems.  An epoch

1. sweeps over the rows in random order.  Rows at rest are visited in a few epochs only.
   For each row the best multipliers are found exactly.  The coefficients, the price lam and
   the norm's multipliers change with each row (``native.hinge_ascent``,
   ``native.smooth_loss_ascent``, and one file per norm in ``norms``);
2. moves the proximal centres of M, the free columns and lam to the end of the sweep
   (``state``);
3. after some epochs, computes a certificate (``feasible_multipliers``), which decides
   whether to stop, or an estimate of it (``places_of_rows``) that says it is not yet worth
   asking.  Both make the proximal steps longer if the bound is worse than the objective,
   and shorter in the opposite case.

A sweep needs about 2 nnz(X) C multiply-adds.  The method is for C P from some thousands
on, where second-order systems do not fit into memory.  It is slow on small dense data with
tiny radii.
"""

from __future__ import annotations

import math

import numpy as np

from ...problem import RobustProblem
from ...problem.certificate.gap import allowed_gap
from ..result import (
    History,
    Incumbent,
    Progress,
    SolverResult,
    SolverSettings,
    Start,
)
from .settings import FIRST_ORDER
from .state import Ascent


def first_order(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Train by proximal point and dual coordinate ascent; see the module."""
    best = _first_incumbent(problem, start)
    if problem.n_classes == 1:
        # There are no pairs of classes, and equal scores have no risk.
        best.raise_bound(0.0, None)
        return best.result("first-order", settings.tol, False, 0, History(None))
    ascent = Ascent(problem, start, settings.seed)
    last = _epoch_limit(problem, ascent, settings.max_iter)
    checks = Checks(ascent, best, settings, last)
    due = min(FIRST_ORDER.first_check, last)
    for epoch in range(1, last + 1):
        ascent.sweep()
        ascent.recentre()
        if epoch < due:
            continue
        if ascent.has_run_away:
            best.raise_bound(0.0, None)
            if ascent.recall():
                ascent.certify(best, foreseen=True)
            checks.stalled = True
            break
        if checks.end_here(epoch):
            break
        due = min(checks.next_look(), last)
    ascent.confirm(best)
    return best.result("first-order", settings.tol, checks.stalled, epoch, checks.history)


class Checks:
    """Certificates, and the estimates that say when to ask for one.

    ``history`` has proven bounds only, ``seen`` the estimated ones, too.  ``optimism`` says
    by how much the gap of the last certificate was wider than the estimate; it fades from
    look to look, because the masses that a certificate has to repair become fewer.
    """

    def __init__(
        self, ascent: Ascent, best: Incumbent, settings: SolverSettings, last: int
    ):
        self.ascent, self.best, self.settings, self.last = ascent, best, settings, last
        self.history, self.seen = History(settings.callback), History(None)
        self.optimism, self.stalled, self.is_proven = 0.0, False, True

    def end_here(self, epoch: int) -> bool:
        """Look at the present point, and tell whether this epoch is the last one."""
        foreseen = self.ascent.foresee(self.settings.tol)
        if foreseen is not None:
            bound = foreseen.dual_bound - self.optimism
            self.seen.add(epoch, foreseen.objective, bound)
            self.is_proven = self._holds(self.seen.records[-1]) or self._is_over(epoch)
            if self.is_proven:
                self._certify(epoch, foreseen)
            else:
                self.optimism *= FIRST_ORDER.fading_optimism
                self.history.add(epoch, foreseen.objective, self.best.dual_bound)
            return self._is_over(epoch)
        self._certify(epoch, None)
        self.is_proven = True
        self.seen.add(epoch, self.best.objective, self.best.dual_bound)
        return self._is_over(epoch)

    def next_look(self) -> int:
        """The epoch of the next look: an estimate near the goal is soon followed by one."""
        due, now = _next_check(self.seen, self.settings.tol), self.seen.records[-1]
        if not self.is_proven and self._holds(now, FIRST_ORDER.near_gaps):
            return min(due, now.n_iter + FIRST_ORDER.near_interval)
        return due

    def _holds(self, seen: Progress, n_gaps: float = 1.0) -> bool:
        return seen.gap <= allowed_gap(n_gaps * self.settings.tol, seen.objective)

    def _certify(self, epoch: int, foreseen: Progress | None) -> None:
        self.ascent.certify(self.best, foreseen is not None)
        if self.best.certificate.holds(self.settings.tol):
            self.ascent.confirm(self.best)
        self.history.add(epoch, self.best.objective, self.best.dual_bound)
        if foreseen is not None:
            self.optimism = max(self.best.certificate.gap - foreseen.gap, 0.0)

    def _is_over(self, epoch: int) -> bool:
        tol = self.settings.tol
        self.stalled = _stalled(self.seen)
        hopeless = self.settings.gives_up and _is_hopeless(self.seen, tol, self.last)
        reached = self.best.certificate.holds(tol)
        return self.stalled or hopeless or reached or epoch == self.last


def _first_incumbent(problem: RobustProblem, start: Start | None) -> Incumbent:
    """The better one of the start and the zero classifier."""
    coef = np.zeros((problem.n_classes, problem.n_features))
    level = problem.loss.of_equal_scores(problem.n_classes)
    zero = Incumbent(coef, np.zeros(problem.n_classes), objective=level)
    if start is not None:
        risk = problem.risk(start.coef, start.intercept)
        zero.offer(start.coef, start.intercept, risk)
    return zero


def _epoch_limit(problem: RobustProblem, ascent: Ascent, max_iter: int | None) -> int:
    if max_iter is not None:
        return max(max_iter, 1)
    work = (len(ascent.rows.touch.data) + problem.n_rows) * problem.n_classes
    limits = FIRST_ORDER.min_epochs, FIRST_ORDER.max_epochs
    return int(np.clip(FIRST_ORDER.default_work / work, *limits))


def _next_check(history: History, tol: float) -> int:
    """The epoch that is foreseen as the last one, within limits."""
    now = history.records[-1]
    longest = int(FIRST_ORDER.max_interval_share * now.n_iter)
    longest = max(FIRST_ORDER.max_interval, longest)
    wait = max(_foreseen_wait(history, tol), FIRST_ORDER.min_interval)
    return now.n_iter + int(min(wait, longest))


def _foreseen_wait(history: History, tol: float) -> float:
    """Epochs until the gap reaches its goal if it falls as it did between checks."""
    began = Progress(0, 1.0, 0.0, 0.0)
    before = [began, began, *history.records][-2]
    return _wait_as_since(before, history.records[-1], tol)


def _wait_as_since(before: Progress, now: Progress, tol: float) -> float:
    """Epochs until the gap reaches its goal if it falls as it did since ``before``."""
    if not 0 < now.gap < before.gap:
        return math.inf
    rate = math.log(before.gap / now.gap) / (now.n_iter - before.n_iter)
    goal = max(allowed_gap(tol, now.objective), np.finfo(float).tiny)
    return math.ceil(max(math.log(now.gap / goal), 0.0) / rate)


def _is_hopeless(history: History, tol: float, last: int) -> bool:
    """Whether the gap is still wide and does not promise to close by the last epoch.

    It falls unevenly, so that the second half of the epochs tells more than the last two
    checks.  The first check tells only a short trial something.
    """
    now = history.records[-1]
    if now.gap <= allowed_gap(FIRST_ORDER.hopeful_gaps * tol, now.objective):
        return False
    if len(history.records) == 1:
        is_wide = now.gap > FIRST_ORDER.first_hopeful_gap * now.objective
        return is_wide and last <= FIRST_ORDER.short_trial
    earlier = [record for record in history.records if 2 * record.n_iter <= now.n_iter]
    before = earlier[-1] if earlier else Progress(0, 1.0, 0.0, 0.0)
    return now.n_iter + _wait_as_since(before, now, tol) > last


def _stalled(history: History) -> bool:
    """Whether the second half of the epochs hardly made the gap smaller."""
    now = history.records[-1]
    if now.n_iter < FIRST_ORDER.stall_epochs:
        return False
    earlier = [record for record in history.records if 2 * record.n_iter <= now.n_iter]
    return now.gap > FIRST_ORDER.stall_factor * earlier[-1].gap
