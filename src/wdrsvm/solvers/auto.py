"""The measured rule behind ``"auto"``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..problem import RobustProblem
from .newton.products.choice import in_products
from .newton.settings import NEWTON
from .size import is_mapped, unknowns
from .trials import Trial


@dataclass(frozen=True)
class AutoRule:
    """Where one method overtakes another, measured.

    Parameters
    ----------
    max_dense_unknowns : int
        Above this many unknowns a dense second-order system costs more than it saves.
    max_wide_unknowns : int
        The same for features of a kernel, and with the l2 norm for about as many features
        as rows.
    rows_per_wide_feature : int
        Up to so many rows per feature the features are about as many as the rows.
    classes_per_feature : int
        With so many classes per feature and at most ``max_rescued_rows`` rows the classes'
        own systems slow "first-order" down: a dense system serves up to
        ``max_rescued_unknowns``.
    max_rescued_rows : int
        See ``classes_per_feature``.
    max_rescued_unknowns : int
        Up to this many a second-order method completes what "first-order" left open.
    rows_per_unknown, min_newton_rows : int
        With more rows than these, smoothing has enough of them near a kink to pay.
    min_bounded_newton_rows : int
        The same in a bounded ball.
    max_smooth_point_rows : int
        With a smooth loss in a bounded ball, an interior point serves up to so many rows.
    max_coarse_smooth_point_rows : int
        The same from ``least_quick_tol`` on, where the bounds of "newton" suffice sooner.
    max_bounded_point_rows : int
        Up to so many rows an interior point takes over from a "newton" that failed in a
        bounded ball.
    least_quick_tol : float
        From this tolerance on a few epochs of "first-order" may reach the goal before an
        interior point has begun.
    n_steps : int
        Steps of a second-order method, about.  The work of a step is counted in
        multiply-adds of matrix products: rows times squared unknowns, plus cubed unknowns,
        plus ``step_overhead``, plus ``score_work`` for each row and class.
    step_overhead : float
        The work of a step on a tiny problem.
    score_work : float
        Work for each row and class, which only "newton" has.
    epoch_overhead, row_work, entry_work : float
        The work of an epoch on a tiny problem, its work for each row, and its work for each
        entry of X and class, in the same unit.
    least_point_epochs : int
        A trial of fewer epochs does not pay before an interior point.
    least_newton_epochs, most_newton_epochs : int
        A trial of fewer epochs does not pay before "newton"; it has at most so many,
        because "newton" goes on from there.
    long_tail : float
        Tables have long tails if a row is so many times as long as others, in squares.
    slower_by_tails : int
        On such tables "newton" takes so many times as long as its work says, or longer.
    max_copied_entries, least_large_epochs : int
        Epochs copy X.  If X has more entries, there is a trial only if it can have so many
        epochs, and none for a memory map.
    near_start : float
        "newton" starts from a trial that left at most this relative gap.
    least_doubted_unknowns : int
        With labels that can be flipped, "first-order" is tried from so many unknowns on.
    trial_epochs : int
        So many epochs tell then whether "first-order" gets on with the rows.
    promising_gap : float
        It does if the relative gap after them is at most this; then ``more_epochs`` follow.
    more_epochs : int
        They cost less than an interior point.
    max_directions : int
        Few rows have at most so many directions N (C + 1).
    max_work_of_few_rows : float
        Few rows have at most so much work per iteration on all features.
    """

    max_dense_unknowns: int = 1500
    max_wide_unknowns: int = 400
    rows_per_wide_feature: int = 2
    classes_per_feature: int = 4
    max_rescued_rows: int = 600
    max_rescued_unknowns: int = 4000
    rows_per_unknown: int = 8
    min_newton_rows: int = 1500
    min_bounded_newton_rows: int = 600
    max_smooth_point_rows: int = 100
    max_coarse_smooth_point_rows: int = 40
    max_bounded_point_rows: int = 20_000
    least_quick_tol: float = 1e-3
    n_steps: int = 25
    step_overhead: float = 3e6
    score_work: float = 1000.0
    epoch_overhead: float = 8e6
    row_work: float = 6000.0
    entry_work: float = 20.0
    least_point_epochs: int = 40
    least_newton_epochs: int = 20
    most_newton_epochs: int = 100
    long_tail: float = 30.0
    slower_by_tails: int = 3
    max_copied_entries: int = 2_000_000
    least_large_epochs: int = 50
    near_start: float = 0.2
    least_doubted_unknowns: int = 600
    trial_epochs: int = 30
    promising_gap: float = 0.2
    more_epochs: int = 700
    max_directions: int = 1000
    max_work_of_few_rows: float = 2e9


RULE = AutoRule()


def choose(problem: RobustProblem, tol: float, of_kernel: bool = False) -> str:
    """Name of the solver that ``"auto"`` stands for.

    Measured crossovers, with C (P + 1) unknowns, where P counts at most the rows with
    the l2 norm:

    =============  =========================  ================
    unknowns       rows                       solver
    =============  =========================  ================
    at most 1500   up to 8 per unknown,       "interior-point"
                   or up to 1500
    at most 1500   more                       "newton"
    more           few (l1, linf)             "interior-point"
    more           any other                  "first-order"
    more than 400  up to 2 per feature (l2),  "first-order"
                   or features of a kernel
    =============  =========================  ================

    With four and more classes per feature and up to 600 rows the limit is 4000 in place of
    1500.

    With a smooth loss "newton" stands in for "interior-point", and the last line does not
    hold; with dense rows, trusted labels and at least 60 unknowns it is "newton" at any
    size, which then works in matrix products: with the l2 and l1 norms, and with the linf
    norm from 400 unknowns on while the differences of all pairs of classes have at most 25
    million entries.  So it does for labels of one finite cost, with the l2 norm, and with
    the l1 norm for more rows than unknowns.  In a bounded ball it is "interior-point" up to
    600 rows, with a smooth loss up to 100, from a ``tol`` of 1e-3 on up to 40, and "newton"
    above, where each takes over from the other; for rows on the workers of a cluster it is
    "newton".

    Few rows are those whose N (C + 1) scores and prices make a small system, a third of the
    unknowns or less.

    From a ``tol`` of 1e-3 on, with the l2 norm and labels that cannot be flipped, epochs
    of "first-order" are tried before the other two, for about as long as these take: before
    an "interior-point" that takes as long as 40 epochs or more, and before a "newton" that
    takes as long as 20 or more, or 50 if X has more than two million entries.  There are at
    most 100 before "newton", which counts as three times as slow on tables with long tails.
    A trial ends early if it does not promise to succeed, and "newton" starts there.  With
    labels that can be flipped and 600 unknowns or more 30 epochs are tried before an
    "interior-point", and up to 700 where these leave a gap of at most 0.2.

    Up to 4000 unknowns one of the other two takes over from a "first-order" that was so
    chosen and did not reach its goal; "first-order" does from an "interior-point" that was
    chosen for few rows, and at tolerances of 1e-3 or more from "newton".

    Parameters
    ----------
    problem : RobustProblem
        What is to be solved.
    tol : float
        Relative duality gap asked for.
    of_kernel : bool, default=False
        Whether the features are those of a kernel.

    Returns
    -------
    str
        A key of ``SOLVERS``.

    Examples
    --------
    >>> import numpy as np
    >>> from wdrsvm import WassersteinBall
    >>> from wdrsvm.problem import RobustProblem
    >>> from wdrsvm.solvers import choose
    >>> X, y = np.eye(3), np.arange(3)
    >>> ball = WassersteinBall(radius=0.1)
    >>> choose(RobustProblem.of(X, y, np.full(3, 1 / 3), ball, n_classes=3), tol=1e-6)
    'interior-point'
    """
    if problem.is_bounded:
        return _for_bounded(problem, tol)
    if problem.is_distributed:
        return "newton"
    if in_products(problem):
        return "newton"
    as_wide = problem.n_rows <= RULE.rows_per_wide_feature * problem.n_features
    wide = of_kernel or (as_wide and problem.ball.norm == "l2")
    wide = wide and problem.loss.temperature == 0
    if unknowns(problem) > (RULE.max_wide_unknowns if wide else _max_dense(problem)):
        return "interior-point" if has_few_rows(problem) else "first-order"
    return second_order(problem)


def _for_bounded(problem: RobustProblem, tol: float) -> str:
    """The method in a bounded ball."""
    most = RULE.min_bounded_newton_rows
    if problem.loss.temperature > 0:
        coarse = tol >= RULE.least_quick_tol
        most = RULE.max_coarse_smooth_point_rows if coarse else RULE.max_smooth_point_rows
    few = problem.n_rows <= most and not problem.is_distributed
    return "interior-point" if few else "newton"


def _max_dense(problem: RobustProblem) -> int:
    """Unknowns up to which a dense system is the better choice."""
    many_classes = problem.n_classes >= RULE.classes_per_feature * problem.n_features
    few_rows = problem.n_rows <= RULE.max_rescued_rows
    if many_classes and few_rows and problem.loss.temperature == 0:
        return RULE.max_rescued_unknowns
    return RULE.max_dense_unknowns


def quick_trials(problem: RobustProblem, tol: float, chosen: str) -> tuple[Trial, ...]:
    """Trials of "first-order" that are worth their time before what was chosen."""
    plain = problem.norm == "l2" and problem.loss.temperature == 0
    if not plain or problem.is_bounded or problem.is_distributed:
        return ()
    if tol < RULE.least_quick_tol:
        return ()
    if not problem.trusts_labels and np.isfinite(problem.attainable_flip_cost()).any():
        large = unknowns(problem) >= RULE.least_doubted_unknowns
        slow = large and chosen == "interior-point"
        look = Trial(RULE.trial_epochs, RULE.promising_gap)
        return (look, Trial(RULE.more_epochs, 0.0)) if slow else ()
    n_epochs = _epochs_tried(problem, chosen)
    return (Trial(n_epochs, 0.0, gives_up=True),) if n_epochs > 0 else ()


def _epochs_tried(problem: RobustProblem, chosen: str) -> int:
    """Epochs that are worth trying with trusted labels, 0 if none are.

    They take about as long as the method that was chosen.
    """
    if chosen == "interior-point":
        n_epochs = _affordable_epochs(problem, problem.n_rows, 0.0)
        return n_epochs if n_epochs >= RULE.least_point_epochs else 0
    if chosen != "newton" or sparse.issparse(problem.X):
        return 0
    n_curved = min(problem.n_rows, NEWTON.rows_per_coefficient * unknowns(problem))
    n_epochs = _affordable_epochs(problem, n_curved, RULE.score_work)
    if problem.X.size > RULE.max_copied_entries:
        pays = n_epochs >= RULE.least_large_epochs and not is_mapped(problem.X)
        n_epochs = n_epochs if pays else 0
    elif n_epochs < RULE.most_newton_epochs and _has_long_tails(problem):
        n_epochs *= RULE.slower_by_tails
    if n_epochs < RULE.least_newton_epochs:
        return 0
    return min(n_epochs, RULE.most_newton_epochs)


def _has_long_tails(problem: RobustProblem) -> bool:
    """Whether some rows are far longer than the others, measured from the mean."""
    rows = problem.features(slice(None))
    squares = ((rows - rows.mean(axis=0)) ** 2).sum(axis=1)
    return bool(squares.max() > RULE.long_tail * squares.mean())


def _affordable_epochs(problem: RobustProblem, n_curved: int, score_work: float) -> int:
    """Epochs that take as long as steps whose curvature is a sum over so many rows.

    Work is counted in place of time, so that equal data give equal models.
    """
    size, n_scores = unknowns(problem), problem.n_rows * problem.n_classes
    step = n_curved * size**2 + size**3 + RULE.step_overhead + score_work * n_scores
    n_entries = problem.X.nnz if sparse.issparse(problem.X) else problem.X.size
    epoch = RULE.epoch_overhead + RULE.row_work * problem.n_rows
    epoch += RULE.entry_work * n_entries * problem.n_classes
    return int(RULE.n_steps * step / epoch)


def has_few_rows(problem: RobustProblem) -> bool:
    """Whether systems of the rows' size serve, whatever the number of features."""
    by_feature = problem.norm in ("l1", "linf") and problem.loss.temperature == 0
    directions = problem.n_rows * (problem.n_classes + 1)
    n_blocks = problem.n_classes ** (1 if problem.norm == "l1" else 2)
    work = n_blocks * problem.n_rows**2 * problem.n_features
    small = directions <= RULE.max_directions and work <= RULE.max_work_of_few_rows
    return by_feature and small and 3 * directions < unknowns(problem)


def second_order(problem: RobustProblem) -> str:
    """The second-order method for such a problem."""
    if problem.loss.temperature > 0:
        return "newton"
    few = max(RULE.min_newton_rows, RULE.rows_per_unknown * unknowns(problem))
    return "interior-point" if problem.n_rows <= few else "newton"


def takes_over(problem: RobustProblem, failed: str, tol: float) -> str | None:
    """The method that tries again where the one chosen by the rule has failed.

    Epochs reach small tolerances late: they go on from "newton" at loose ones only, unless
    a dense system is too large anyway.
    """
    if problem.is_distributed:
        return None
    if problem.is_bounded:
        return _rescuer_in_bounded_ball(problem, failed)
    if failed == "first-order":
        small = unknowns(problem) <= RULE.max_rescued_unknowns
        return second_order(problem) if small else None
    wide = unknowns(problem) > RULE.max_dense_unknowns
    wide = wide and (failed == "newton" or has_few_rows(problem))
    is_loose = failed == "newton" and tol >= RULE.least_quick_tol
    return "first-order" if wide or is_loose else None


def _rescuer_in_bounded_ball(problem: RobustProblem, failed: str) -> str | None:
    if failed == "interior-point":
        return "newton"
    smooth = problem.loss.temperature > 0
    most = RULE.min_bounded_newton_rows if smooth else RULE.max_bounded_point_rows
    return "interior-point" if problem.n_rows <= most else None
