"""Which algorithm: a table of names, and the rule behind ``"auto"``."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import NamedTuple, cast

import numpy as np

from ..problem import Certificate, RobustProblem
from .result import Solver, SolverResult, SolverSettings, SolverStatus, Start
from .threads import single_threaded_blas

# Above this many unknowns a dense second-order system costs more than it saves.
MAX_DENSE_UNKNOWNS = 1500
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
    "interior-point": Address("interior_point", "interior_point"),
    "newton": Address("smoothing_newton", "smoothing_newton"),
    "first-order": Address("first_order", "first_order"),
    "subgradient": Address("subgradient", "subgradient"),
    "stochastic": Address("stochastic", "stochastic"),
    "highs": Address("reference", "highs"),
    "clarabel": Address("reference", "clarabel"),
}

# Solvers of problems whose features are bounded or categories.
BOUNDED_SOLVERS = {"interior-point": Address("bounded", "bounded_interior_point")}


def choose(problem: RobustProblem, tol: float) -> str:
    """Name of the solver that ``"auto"`` stands for.

    Measured crossovers, with C (P + 1) unknowns, where P counts at most the rows with
    the l2 norm:

    ==============================  ====================  ==================
    unknowns                        rows                  solver
    ==============================  ====================  ==================
    at most 1500                    up to 10 an unknown,  "interior-point"
                                    or up to 600
    at most 1500                    more                  "newton"
    more                            any                   "first-order"
    ==============================  ====================  ==================

    Parameters
    ----------
    problem : RobustProblem
        What is to be solved.
    tol : float
        Relative duality gap asked for.

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
    width = problem.n_features
    if problem.ball.norm == "l2":
        width = min(width, problem.n_rows)
    unknowns = problem.n_classes * (width + 1)
    if unknowns > MAX_DENSE_UNKNOWNS:
        return "first-order"
    few = max(MIN_NEWTON_ROWS, ROWS_AN_UNKNOWN * unknowns)
    return "interior-point" if problem.n_rows <= few else "newton"


def solve(
    problem: RobustProblem,
    name: str = "auto",
    settings: SolverSettings = DEFAULT_SETTINGS,
    start: Start | None = None,
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
    if not isinstance(name, str) or name not in ("auto", *SOLVERS):
        allowed = ", ".join(repr(known) for known in ("auto", *SOLVERS))
        raise ValueError(f"solver must be one of {allowed}, got {name!r}.")
    solver = _found(problem, name, settings.tol).load()
    if not problem.is_bounded:
        # Without a budget nothing moves, in a box or out of it.
        problem = replace(problem, ball=problem.ball.unbounded())
    with single_threaded_blas():
        result = solver(problem, settings, start)
        if result.status is SolverStatus.CONVERGED:
            return result
        return _no_worse_than_known(problem, result, start)


def _found(problem: RobustProblem, name: str, tol: float) -> Address:
    if not problem.is_bounded:
        return SOLVERS[choose(problem, tol) if name == "auto" else name]
    if name not in ("auto", *BOUNDED_SOLVERS):
        allowed = ", ".join(repr(known) for known in ("auto", *BOUNDED_SOLVERS))
        raise ValueError(
            f"solver {name!r} does not know support and categorical: use one of {allowed}."
        )
    return BOUNDED_SOLVERS["interior-point" if name == "auto" else name]


def _no_worse_than_known(
    problem: RobustProblem, result: SolverResult, start: Start | None
) -> SolverResult:
    """A solver cut short may have lost its start, or even be worse than equal scores."""
    known = [(np.zeros_like(result.coef), np.zeros_like(result.intercept))]
    if start is not None:
        known.append((start.coef, start.intercept))
    for coef, intercept in known:
        risk = problem.risk(coef, intercept)
        if risk.value < result.certificate.objective:
            found = Certificate(risk.value, result.certificate.dual_bound, risk.lam)
            result = replace(result, coef=coef, intercept=intercept, certificate=found)
    return result
