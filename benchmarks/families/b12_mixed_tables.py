"""B12, mixed tables: boxes and categories against the same fit without them, gap 1e-4.

Half of the columns are numbers between -3 and 3; the others are the one-hot columns of
categories with four values.  The times are processor seconds of one fit each, the solvers'
code being loaded, in one process.  Clarabel solves tables of few rows, as the program by
pairs of classes, to the same gap.  The summary has the exponents of power laws in the
number of rows and the largest ratio of both times.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from wdrsvm.problem import RobustProblem, WassersteinBall
from wdrsvm.solvers import SolverResult, SolverSettings, choose, solve

from ..bounded_program import clarabel_on_pairs
from ..data import as_problem
from ..family import Family, Options, Record
from ..measure import processor_seconds, reached

TOL, RADIUS, LABEL_COST, CATEGORY_COST = 1e-4, 0.05, 2.0, 1.0
END, VALUES = 3.0, 4
# Seconds that a fit of 100 000 rows may take, whatever the fit without bounds takes.
ENOUGH_SECONDS, AT_ROWS = 4.0, 100_000
# Clarabel's memory and time grow fast with the rows.
MAX_CLARABEL_ROWS = 3000


class Case(NamedTuple):
    """Rows, columns and classes of a table."""

    N: int
    P: int
    C: int


def cases(options: Options) -> list[Case]:
    """Rows grow at one width; one wider table with more classes."""
    if options.tiny:
        return [Case(200, 12, 3), Case(800, 12, 3)]
    growth = [Case(n, 12, 3) for n in (1000, 3000, 10_000, 30_000, 100_000, 200_000)]
    return [*growth, Case(20_000, 28, 6)]


def mixed_rows(case: Case) -> tuple[np.ndarray, np.ndarray, list[tuple[list[int], float]]]:
    """Rows, labels and the groups of one-hot columns."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, case.C, case.N)
    n_categories = case.P // (2 * VALUES) + (case.P % (2 * VALUES) > VALUES)
    n_numbers = case.P - VALUES * n_categories
    means = 0.6 * rng.normal(size=(case.C, n_numbers))
    parts = [np.clip(means[y] + rng.normal(size=(case.N, n_numbers)), -END, END)]
    groups = []
    for g in range(n_categories):
        shares = np.cumsum(rng.dirichlet(np.full(VALUES, 2.0), size=case.C), axis=1)
        value = (rng.random(case.N)[:, None] > shares[y, :-1]).sum(axis=1)
        parts.append(np.eye(VALUES)[value])
        first = n_numbers + VALUES * g
        groups.append((list(range(first, first + VALUES)), CATEGORY_COST))
    return np.hstack(parts), y, groups


def run(case: Case, options: Options) -> Record:
    """Both fits of one table."""
    X, y, groups = mixed_rows(case)
    free = WassersteinBall(RADIUS, LABEL_COST, "l1")
    limits = {"support": (-END, END), "categorical": groups}
    mixed = WassersteinBall(RADIUS, LABEL_COST, "l1", **limits)  # type: ignore[arg-type]
    problems = {
        name: as_problem(X, y, ball, True)
        for name, ball in (("free", free), ("mixed", mixed))
    }
    record: Record = case._asdict() | {"solver": choose(problems["mixed"], TOL)}
    found: list[SolverResult] = []
    for name, problem in problems.items():
        fit = partial(_fit, problem, found)
        fit()
        record[f"{name}_cpu_seconds"] = processor_seconds(fit)
    certificate = found[-1].certificate
    record["ratio"] = record["mixed_cpu_seconds"] / record["free_cpu_seconds"]
    record["gap"] = certificate.relative_gap
    record["reached"] = reached(certificate.objective, certificate.dual_bound, TOL)
    if case.N <= MAX_CLARABEL_ROWS:
        seconds, objective = clarabel_on_pairs(problems["mixed"], TOL)
        record["clarabel_cpu_seconds"] = seconds
        record["clarabel_excess"] = objective / certificate.dual_bound - 1
    return record


def _fit(problem: RobustProblem, found: list[SolverResult]) -> None:
    found.append(solve(problem, settings=SolverSettings(tol=TOL)))


def summarise(records: Sequence[Record]) -> Record:
    """Growth with the rows, the largest ratio, and the seconds at 100 000 rows."""
    grown = [r for r in records if r["P"] == records[0]["P"]]
    sizes = np.log([r["N"] for r in grown])
    seconds = np.log([r["mixed_cpu_seconds"] for r in grown])
    large = [r["mixed_cpu_seconds"] for r in records if r["N"] == AT_ROWS]
    return {
        "exponent_N": float(np.polyfit(sizes, seconds, 1)[0]),
        "largest_ratio": max(r["ratio"] for r in records),
        "cpu_seconds_at_100000": max(large, default=float("nan")),
        "gap_missed_by_us": sum(not r["reached"] for r in records),
    }


FAMILY = Family(
    name="b12",
    title="B12 mixed tables: boxes and categories against no bounds, relative gap 1e-4",
    cases=cases,
    run=run,
    columns=(
        *("N", "P", "C", "solver", "mixed_cpu_seconds", "free_cpu_seconds", "ratio"),
        *("gap", "reached", "clarabel_cpu_seconds", "clarabel_excess"),
    ),
    summarise=summarise,
)
