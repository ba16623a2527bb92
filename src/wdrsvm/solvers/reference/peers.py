"""Independent solvers for checks: HiGHS and Clarabel on an explicit program.

These solvers share only the problem and its certificate with ours.  Therefore agreement is
evidence that both are right.  Both packages are optional.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...arrays import Floats
from ...problem import Multipliers, RobustProblem, certify
from ..registry import check_able
from ..result import History, SolverResult, SolverSettings, Start, status_of
from .programs import Program, build_program

# Finest tolerances in double precision; HiGHS accepts no finer feasibility.
FINEST_TOL = 1e-12
FINEST_HIGHS_FEASIBILITY = 1e-10
HIGHS_METHODS = ("simplex", "ipm")


class ReferenceSolution(NamedTuple):
    """The result of a reference solver: its point, claimed value, duals and time.

    ``seconds`` is the time of the solver, without the building of the program, and
    ``processor_seconds`` that of the processor for it.
    """

    coef: Floats
    intercept: Floats
    value: float
    multipliers: Multipliers | None
    seconds: float
    processor_seconds: float
    n_iter: int
    finished: bool
    limited: bool


class RawSolution(NamedTuple):
    """Primal and dual vectors as the package returns them; None if it returns none."""

    x: Floats | None
    duals: Floats | None
    value: float
    n_iter: int
    finished: bool
    limited: bool


class Limits(NamedTuple):
    """Limits of accuracy and time for a reference solver."""

    tol: float = FINEST_TOL
    max_iter: int | None = None
    time_limit: float | None = None
    threads: int | None = None


BEST_EFFORT = Limits()


def solve_highs(
    problem: RobustProblem,
    *,
    program: str = "paper",
    method: str = "simplex",
    crossover: bool = False,
    limits: Limits = BEST_EFFORT,
) -> ReferenceSolution:
    """Solve the ``"paper"`` or ``"compact"`` program by HiGHS, ``"simplex"`` or ``"ipm"``.

    ``crossover`` lets the interior point method end in a vertex.
    """
    check_able(problem, "highs")
    if method not in HIGHS_METHODS:
        raise ValueError(f"method must be one of {HIGHS_METHODS}, got {method!r}.")
    highspy = _imported("highspy")
    options = _highs_options(method, crossover, limits)
    return _timed(
        build_program(problem, program), lambda built: _run_highs(highspy, built, options)
    )


def solve_clarabel(
    problem: RobustProblem, *, program: str = "paper", limits: Limits = BEST_EFFORT
) -> ReferenceSolution:
    """Solve the ``"paper"`` or ``"compact"`` program by Clarabel, for every norm."""
    check_able(problem, "clarabel")
    package = _imported("clarabel")
    settings = _clarabel_settings(package, limits)
    return _timed(
        build_program(problem, program),
        lambda built: _run_clarabel(package, built, settings),
    )


def highs(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """HiGHS dual simplex on the paper's program; ``start`` is not used."""
    history = History(settings.callback)
    solution = solve_highs(problem, limits=_limits(settings))
    return _judged(problem, settings, solution, "highs", history)


def clarabel(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Clarabel on the paper's program; ``start`` is not used."""
    history = History(settings.callback)
    solution = solve_clarabel(problem, limits=_limits(settings))
    return _judged(problem, settings, solution, "clarabel", history)


def _limits(settings: SolverSettings) -> Limits:
    """Limits with the finest tolerance, because reference solvers do not use our gap."""
    return Limits(max_iter=settings.max_iter)


def _judged(
    problem: RobustProblem,
    settings: SolverSettings,
    solution: ReferenceSolution,
    solver: str,
    history: History,
) -> SolverResult:
    """Certify the solution; the status follows our certificate, not the solver's claim."""
    multipliers = solution.multipliers or _no_multipliers(problem)
    found = certify(problem, solution.coef, solution.intercept, multipliers)
    history.add(solution.n_iter, found.objective, found.dual_bound)
    return SolverResult(
        coef=solution.coef,
        intercept=solution.intercept,
        certificate=found,
        multipliers=solution.multipliers,
        status=status_of(found, settings.tol, stalled=not solution.limited),
        n_iter=solution.n_iter,
        solver=solver,
        history=tuple(history.records),
    )


def _no_multipliers(problem: RobustProblem) -> Multipliers:
    """Multipliers that are all zero; they are feasible and give the bound 0."""
    zeros = np.zeros((problem.n_rows, problem.n_classes))
    return Multipliers(zeros, zeros, zeros)


def _imported(package: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError:
        raise ImportError(
            f'{package} is not installed: pip install "wdrsvm[reference]" brings it.'
        ) from None


def _timed(program: Program, run: Callable[[Program], RawSolution]) -> ReferenceSolution:
    began, began_working = time.perf_counter(), time.process_time()
    raw = run(program)
    seconds = time.perf_counter() - began
    processor_seconds = time.process_time() - began_working
    coef, intercept = program.classifier(_finite_or_zeros(raw.x, len(program.cost)))
    usable = raw.duals is not None and bool(np.isfinite(raw.duals).all())
    multipliers = program.multipliers(np.asarray(raw.duals)) if usable else None
    return ReferenceSolution(
        coef=coef,
        intercept=intercept,
        value=raw.value,
        multipliers=multipliers,
        seconds=seconds,
        processor_seconds=processor_seconds,
        n_iter=raw.n_iter,
        finished=raw.finished,
        limited=raw.limited,
    )


def _finite_or_zeros(x: Floats | None, size: int) -> Floats:
    return np.zeros(size) if x is None or not np.isfinite(x).all() else x


def _highs_options(method: str, crossover: bool, limits: Limits) -> dict[str, Any]:
    feasibility = max(limits.tol, FINEST_HIGHS_FEASIBILITY)
    options: dict[str, Any] = {
        "output_flag": False,
        "solver": method,
        "run_crossover": "on" if crossover else "off",
        "primal_feasibility_tolerance": feasibility,
        "dual_feasibility_tolerance": feasibility,
        "ipm_optimality_tolerance": limits.tol,
    }
    if limits.max_iter is not None:
        options[f"{method}_iteration_limit"] = limits.max_iter
    if limits.time_limit is not None:
        options["time_limit"] = float(limits.time_limit)
    if limits.threads is not None:
        options["threads"] = limits.threads
    return options


def _run_highs(highspy: Any, program: Program, options: dict[str, Any]) -> RawSolution:
    model = highspy.Highs()
    if "threads" in options:
        # HiGHS has one pool of threads per process, and cannot change its size in use.
        model.resetGlobalScheduler(True)
    for name, value in options.items():
        model.setOptionValue(name, value)
    model.passModel(_highs_model(highspy, program))
    model.run()
    found, info, status = model.getSolution(), model.getInfo(), model.getModelStatus()
    limits = (
        highspy.HighsModelStatus.kIterationLimit,
        highspy.HighsModelStatus.kTimeLimit,
    )
    return RawSolution(
        x=np.array(found.col_value) if found.value_valid else None,
        # HiGHS: cost = A'y + reduced costs, so rows bounded above have y <= 0.
        duals=-np.array(found.row_dual) if found.dual_valid else None,
        value=float(info.objective_function_value),
        n_iter=int(max(info.simplex_iteration_count, 0) + max(info.ipm_iteration_count, 0)),
        finished=status == highspy.HighsModelStatus.kOptimal,
        limited=status in limits,
    )


def _highs_model(highspy: Any, program: Program) -> Any:
    n_rows, n_columns = program.matrix.shape
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = n_columns, n_rows
    model.col_cost_ = program.cost
    model.col_lower_ = np.full(n_columns, -highspy.kHighsInf)
    model.col_upper_ = np.full(n_columns, highspy.kHighsInf)
    model.row_lower_ = np.full(n_rows, -highspy.kHighsInf)
    model.row_upper_ = program.bound
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = program.matrix.indptr
    model.a_matrix_.index_ = program.matrix.indices
    model.a_matrix_.value_ = program.matrix.data
    return model


def _clarabel_settings(package: Any, limits: Limits) -> Any:
    settings = package.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = limits.tol
    if limits.max_iter is not None:
        settings.max_iter = limits.max_iter
    if limits.time_limit is not None:
        settings.time_limit = float(limits.time_limit)
    if limits.threads is not None:
        settings.max_threads = limits.threads
    return settings


def _run_clarabel(package: Any, program: Program, settings: Any) -> RawSolution:
    n_columns = len(program.cost)
    n_cones = (len(program.bound) - program.n_linear) // program.cone_size
    cones = [package.NonnegativeConeT(program.n_linear)]
    cones += [package.SecondOrderConeT(program.cone_size)] * n_cones
    quadratic = sparse.csc_matrix((n_columns, n_columns))
    matrix = sparse.csc_matrix(program.matrix)
    found = package.DefaultSolver(
        quadratic, program.cost, matrix, program.bound, cones, settings
    ).solve()
    status = package.SolverStatus
    return RawSolution(
        x=np.array(found.x),
        duals=np.array(found.z),
        value=float(found.obj_val),
        n_iter=int(found.iterations),
        finished=found.status in (status.Solved, status.AlmostSolved),
        limited=found.status in (status.MaxIterations, status.MaxTime),
    )
