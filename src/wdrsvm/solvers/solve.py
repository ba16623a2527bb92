"""Solve a problem: prepare it, choose and run a method, rescue what failed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ..problem import Certificate, Multipliers, RobustProblem, RobustRisk
from ..problem.certificate.trusted_masses import TrustedMasses
from .auto import RULE, choose, quick_trials, takes_over
from .registry import SOLVERS, check_able, check_name
from .result import SolverResult, SolverSettings, SolverStatus, Start, status_of
from .runtime.blas_threads import single_threaded_blas
from .runtime.interrupts import plain_interrupts
from .shortcuts.constant_optimum import constant_optimum
from .shortcuts.needless_flips import without_flips
from .shortcuts.separable import separated
from .unreachable_classes import (
    has_massless_classes,
    start_without,
    with_massless,
    without_massless,
)

DEFAULT_SETTINGS = SolverSettings()


def solve(
    problem: RobustProblem,
    name: str = "auto",
    settings: SolverSettings = DEFAULT_SETTINGS,
    start: Start | None = None,
    of_kernel: bool = False,
) -> SolverResult:
    """Solve the training problem with the named solver.

    Parameters
    ----------
    problem : RobustProblem
        What is to be solved.
    name : str, default="auto"
        A key of ``SOLVERS``, or ``"auto"`` for the choice of :func:`choose`.
    settings : SolverSettings
        Tolerance, limits, seed and callback.
    start : Start or None, default=None
        A point to start from, for solvers that can use one.
    of_kernel : bool, default=False
        Whether the features are those of a kernel, for the choice.

    Returns
    -------
    SolverResult
        The classifier and its certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from wdrsvm import WassersteinBall
    >>> from wdrsvm.problem import RobustProblem
    >>> from wdrsvm.solvers import solve
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    >>> ball = WassersteinBall(radius=0.1)
    >>> result = solve(RobustProblem.of(X, y, np.full(2, 0.5), ball, n_classes=2))
    >>> round(result.certificate.objective, 4)
    0.1
    """
    check_name(name)
    if not problem.is_bounded and problem.ball.unbounded() is not problem.ball:
        # Without a budget nothing moves, in a box or out of it.
        problem = replace(problem, ball=problem.ball.unbounded())
    if has_massless_classes(problem):
        kept = problem.reachable
        told = name, settings, start_without(start, kept), of_kernel
        return with_massless(solve(without_massless(problem), *told), kept)
    with single_threaded_blas(), plain_interrupts():
        if name == "auto":
            result = _solve_by_rule(problem, settings, start, of_kernel)
        else:
            result = _run(name, problem, settings, start)
        if result.status is SolverStatus.CONVERGED:
            return result
        return _no_worse_than_known(problem, result, start, settings.tol)


def _run(
    name: str, problem: RobustProblem, settings: SolverSettings, start: Start | None
) -> SolverResult:
    check_able(problem, name)
    return SOLVERS[name].solver_of(problem)(problem, settings, start)


def _solve_by_rule(
    problem: RobustProblem, settings: SolverSettings, start: Start | None, of_kernel: bool
) -> SolverResult:
    """What is known without a solver, or else the method of the rule."""
    if (quick := constant_optimum(problem, settings, _solve_by_first_choice)) is not None:
        return quick
    by_method = partial(
        _solve_by_method, settings=settings, start=start, of_kernel=of_kernel
    )
    if settings.max_iter is None and not of_kernel:
        if (quick := without_flips(problem, settings, by_method)) is not None:
            return quick
    return by_method(problem)


def _solve_by_method(
    problem: RobustProblem, settings: SolverSettings, start: Start | None, of_kernel: bool
) -> SolverResult:
    """The method of the rule, and another one if that fails."""
    chosen = choose(problem, settings.tol, of_kernel)
    if chosen == "first-order" and (quick := separated(problem, settings)) is not None:
        return quick
    tried = _by_few_epochs(problem, settings, start, chosen)
    if tried is not None and tried.status is SolverStatus.CONVERGED:
        return tried
    result = _run(chosen, problem, settings, _best_start(chosen, start, tried))
    if result.status is SolverStatus.CONVERGED or settings.max_iter is not None:
        return result
    # What a trial lacked was not a larger max_iter, so that its status is no advice.
    found = [result] if tried is None else [result, replace(tried, status=result.status)]
    if (rescuer := takes_over(problem, chosen, settings.tol)) is not None:
        found.insert(0, _run(rescuer, problem, settings, None))
    return min(found, key=lambda each: each.certificate.gap)


def _by_few_epochs(
    problem: RobustProblem, settings: SolverSettings, start: Start | None, chosen: str
) -> SolverResult | None:
    """What the last trial of "first-order" found, or None if there was none."""
    if settings.max_iter is not None:
        return None
    if chosen == "newton" and start is not None:
        # Epochs go on from multipliers only, "newton" from a classifier too.
        if not isinstance(start.multipliers, (Multipliers, TrustedMasses)):
            return None
    result = None
    for n_epochs, promising_gap, gives_up in quick_trials(problem, settings.tol, chosen):
        few = replace(settings, max_iter=n_epochs, gives_up=gives_up)
        result = _run("first-order", problem, few, start)
        if result.status is SolverStatus.CONVERGED:
            return result
        if result.certificate.relative_gap > promising_gap:
            return result
    return result


def _best_start(
    chosen: str, start: Start | None, tried: SolverResult | None
) -> Start | None:
    """Where the chosen method starts: for "newton" where a trial ended, if it came near."""
    if chosen != "newton" or tried is None:
        return start
    if tried.certificate.relative_gap > RULE.near_start:
        return start
    return Start(tried.coef, tried.intercept, tried.certificate.lam)


def _solve_by_first_choice(
    problem: RobustProblem, settings: SolverSettings
) -> SolverResult:
    return _run(choose(problem, settings.tol, False), problem, settings, None)


def _no_worse_than_known(
    problem: RobustProblem, result: SolverResult, start: Start | None, tol: float
) -> SolverResult:
    """A solver cut short may have lost its start, or even be worse than equal scores."""
    stalled = result.status is SolverStatus.STALLED
    equal = Start(np.zeros_like(result.coef), np.zeros_like(result.intercept), 0.0)
    for known in (equal,) if start is None else (equal, start):
        risk = _trained_risk(problem, known)
        if risk.value < result.certificate.objective:
            found = Certificate(risk.value, result.certificate.dual_bound, risk.lam)
            result = replace(
                result,
                coef=known.coef,
                intercept=known.intercept,
                certificate=found,
                status=status_of(found, tol, stalled),
            )
    return result


def _trained_risk(problem: RobustProblem, known: Start) -> RobustRisk:
    """What the solver minimises and bounds from below, which a box may make no less than
    the worst-case risk."""
    if not problem.is_bounded:
        return problem.risk(known.coef, known.intercept)
    return problem.moves.trained_risk(known.coef, known.intercept, known.lam)
