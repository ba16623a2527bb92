"""Which algorithm: a table of names, and the rule behind ``"auto"``."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import NamedTuple, cast

import numpy as np

from ..problem import Certificate, RobustProblem, RobustRisk
from .result import Solver, SolverResult, SolverSettings, SolverStatus, Start
from .runtime.blas_threads import single_threaded_blas
from .runtime.interrupts import plain_interrupts
from .unreachable_classes import (
    has_massless_classes,
    start_without,
    with_massless,
    without_massless,
)

# Above this many unknowns a dense second-order system costs more than it saves; above
# fewer for features of a kernel, and with the l2 norm for about as many as rows.
MAX_DENSE_UNKNOWNS = 1500
MAX_WIDE_UNKNOWNS = 400
ROWS_A_WIDE_FEATURE = 2
# Up to this many it completes what "first-order" was chosen for and left open.
MAX_RESCUED_UNKNOWNS = 4000
# With more rows than these, smoothing has enough of them near a kink to pay.
ROWS_AN_UNKNOWN = 10
MIN_NEWTON_ROWS = 600

DEFAULT_SETTINGS = SolverSettings()


class Address(NamedTuple):
    """Where a solver lives.  It is imported when it is first asked for, so that
    importing the package compiles nothing and needs no optional dependency."""

    module: str
    function: str

    def load(self) -> Solver:
        module = import_module(f".{self.module}", __package__)
        return cast(Solver, getattr(module, self.function))


SOLVERS = {
    "interior-point": Address("interior_point.loop", "interior_point"),
    "newton": Address("newton.method", "newton"),
    "first-order": Address("first_order.loop", "first_order"),
    "subgradient": Address("subgradient.algorithm1", "subgradient"),
    "stochastic": Address("subgradient.stochastic", "stochastic"),
    "highs": Address("reference.peers", "highs"),
    "clarabel": Address("reference.peers", "clarabel"),
}

# Solvers that need of the rows no more than sweeps over them; one with a dense system of
# C (P + 1) unknowns.
DISTRIBUTED_SOLVERS = ("newton",)
MAX_DISTRIBUTED_UNKNOWNS = 4000

# Solvers of problems whose features are bounded or categories.
BOUNDED_SOLVERS = {
    "interior-point": Address("interior_point.bounded.loop", "bounded_interior_point")
}


def choose(problem: RobustProblem, tol: float, of_kernel: bool = False) -> str:
    """Name of the solver that ``"auto"`` stands for.

    Measured crossovers, with C (P + 1) unknowns, where P counts at most the rows with
    the l2 norm:

    ===================  ========================  ==================
    unknowns             rows                      solver
    ===================  ========================  ==================
    at most 1500         up to 10 an unknown,      "interior-point"
                         or up to 600
    at most 1500         more                      "newton"
    more                 any                       "first-order"
    more than 400        up to 2 a feature (l2),   "first-order"
                         or features of a kernel
    ===================  ========================  ==================

    With a smooth loss "newton" stands in for "interior-point", and the last line does not
    hold.  In a bounded ball "interior-point" is the only one, and "newton" for rows on the
    workers of a cluster.

    Up to 4000 unknowns one of the other two takes over from a "first-order" that was so
    chosen and did not reach its goal.

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
    >>> choose(RobustProblem(X, y, np.full(3, 1 / 3), ball, n_classes=3), tol=1e-6)
    'interior-point'
    """
    if problem.is_bounded:
        return "interior-point"
    if problem.is_distributed:
        return "newton"
    as_wide = problem.n_rows <= ROWS_A_WIDE_FEATURE * problem.n_features
    wide = of_kernel or (as_wide and problem.ball.norm == "l2")
    wide = wide and problem.loss.temperature == 0
    if _unknowns(problem) > (MAX_WIDE_UNKNOWNS if wide else MAX_DENSE_UNKNOWNS):
        return "first-order"
    return _second_order(problem)


def _second_order(problem: RobustProblem) -> str:
    if problem.loss.temperature > 0:
        return "newton"
    few = max(MIN_NEWTON_ROWS, ROWS_AN_UNKNOWN * _unknowns(problem))
    return "interior-point" if problem.n_rows <= few else "newton"


def _unknowns(problem: RobustProblem) -> int:
    width = problem.n_features
    if problem.ball.norm == "l2":
        width = min(width, problem.n_rows)
    return problem.n_classes * (width + 1)


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
    >>> result = solve(RobustProblem(X, y, np.full(2, 0.5), ball, n_classes=2))
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
    chosen = choose(problem, settings.tol, of_kernel) if name == "auto" else name
    _check_known(problem, chosen)
    table = BOUNDED_SOLVERS if problem.is_bounded else SOLVERS
    with single_threaded_blas(), plain_interrupts():
        result = table[chosen].load()(problem, settings, start)
        if name == "auto" and _needs_rescue(problem, settings, result):
            result = SOLVERS[_second_order(problem)].load()(problem, settings, None)
        if result.status is SolverStatus.CONVERGED:
            return result
        return _no_worse_than_known(problem, result, start)


def check_name(name: object) -> None:
    """Refuse what is no solver's name."""
    if not isinstance(name, str) or name not in ("auto", *SOLVERS):
        allowed = ", ".join(repr(known) for known in ("auto", *SOLVERS))
        raise ValueError(f"solver must be one of {allowed}, got {name!r}.")


def _check_known(problem: RobustProblem, solver: str) -> None:
    """Refuse a solver that does not know the problem's ball, bound or kind of rows."""
    if problem.is_distributed:
        _check_distributed(problem, solver)
    if problem.is_bounded and solver not in BOUNDED_SOLVERS:
        allowed = ", ".join(repr(known) for known in ("auto", *BOUNDED_SOLVERS))
        raise ValueError(
            f"solver {solver!r} does not know support and categorical: use one of "
            f"{allowed}."
        )
    if problem.triangle and solver in ("subgradient", "stochastic"):
        raise ValueError(
            f"solver {solver!r} has no projection for lipschitz='triangle': use "
            "'interior-point', 'newton' or 'first-order'."
        )


def _check_distributed(problem: RobustProblem, solver: str) -> None:
    if problem.is_bounded:
        raise ValueError(
            "support and categorical need rows in memory, got a dask collection: "
            "compute it first."
        )
    if solver not in DISTRIBUTED_SOLVERS:
        allowed = ", ".join(repr(known) for known in ("auto", *DISTRIBUTED_SOLVERS))
        raise ValueError(
            f"solver {solver!r} needs rows in memory, got a dask collection: use one of "
            f"{allowed}."
        )
    unknowns = problem.n_classes * (problem.n_features + 1)
    if unknowns > MAX_DISTRIBUTED_UNKNOWNS:
        raise ValueError(
            f"X, a dask collection, has {problem.n_features} features, which with "
            f"{problem.n_classes} classes makes {unknowns} coefficients: at most "
            f"{MAX_DISTRIBUTED_UNKNOWNS} can be fitted where the rows are not in memory."
        )


def _needs_rescue(
    problem: RobustProblem, settings: SolverSettings, result: SolverResult
) -> bool:
    """Whether a second-order method should try what "first-order" failed at."""
    failed = result.status is not SolverStatus.CONVERGED and settings.max_iter is None
    small = _unknowns(problem) <= MAX_RESCUED_UNKNOWNS
    return failed and small and result.solver == "first-order"


def _no_worse_than_known(
    problem: RobustProblem, result: SolverResult, start: Start | None
) -> SolverResult:
    """A solver cut short may have lost its start, or even be worse than equal scores."""
    equal = Start(np.zeros_like(result.coef), np.zeros_like(result.intercept), 0.0)
    for known in (equal,) if start is None else (equal, start):
        risk = _trained_risk(problem, known)
        if risk.value < result.certificate.objective:
            found = Certificate(risk.value, result.certificate.dual_bound, risk.lam)
            result = replace(
                result, coef=known.coef, intercept=known.intercept, certificate=found
            )
    return result


def _trained_risk(problem: RobustProblem, known: Start) -> RobustRisk:
    """What the solver minimises and bounds from below, which a box may make no less than
    the worst-case risk."""
    if not problem.is_bounded:
        return problem.risk(known.coef, known.intercept)
    return problem.moves.trained_risk(*known)
