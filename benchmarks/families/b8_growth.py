"""B8, growth: time and memory against rows, features and classes, relative gap 1e-4.

Every size is measured in a fresh process.  Its memory is what the fit adds, at its peak,
to the data and to an interpreter that has fitted a small problem before.  The summary has
the exponents of power laws fitted to the processor seconds of all threads, which do not
change with what else the machine does, and for rows also that of the larger half of the
sizes, where fixed costs no longer flatter it; a plot goes beside the results.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wdrsvm.problem import RobustProblem, WassersteinBall
from wdrsvm.solvers import SolverSettings, choose, solve

from .. import report
from ..data import as_problem, large_rows
from ..family import Family, Options, Record
from ..measure import processor_seconds, time_ours
from ..processes import held_to_cpus, in_fresh_process
from .b3_large import LABEL_COST, RADIUS, TOL

Floats = NDArray[np.float64]

MEGABYTE = 1e6
# The sizes from which one at a time departs, and where it goes.
BASE = {"N": 30_000, "P": 20, "C": 6}
GROWTH = {
    "N": (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
    "P": (5, 10, 20, 40, 80, 160),
    "C": (3, 6, 12, 24),
}
TINY_BASE = {"N": 300, "P": 4, "C": 3}
TINY_GROWTH = {"N": (300, 600), "P": (4, 8), "C": (3, 4)}
NAMES = {"N": "rows N", "P": "features P", "C": "classes C"}


class Case(NamedTuple):
    """``varies`` names the series that the size belongs to: the base is in all."""

    varies: str
    N: int
    P: int
    C: int


def cases(options: Options) -> list[Case]:
    """One size varies, the others stay."""
    base, growth = (TINY_BASE, TINY_GROWTH) if options.tiny else (BASE, GROWTH)
    away = [
        Case(name, **(base | {name: value}))
        for name, values in growth.items()
        for value in values
        if value != base[name]
    ]
    return sorted([Case("NPC", **base), *away], key=lambda case: case[1:])


def run(case: Case, options: Options) -> Record:
    """Time and memory of one size."""
    prepare = partial(_prepared, case, options)
    measured: Record = in_fresh_process(prepare, partial(_measured, options=options))
    return case._asdict() | {"tiny": options.tiny} | measured


def _prepared(case: Case, options: Options) -> RobustProblem:
    """The problem, in a process that has loaded its compiled code."""
    problem = _problem(case.N, case.P, case.C)
    chosen = choose(problem, TOL) if options.solver == "auto" else options.solver
    small = _problem(min(case.N, 10_000), 4, 3)
    solve(small, chosen, SolverSettings(tol=TOL))
    return problem


def _problem(n_rows: int, n_features: int, n_classes: int) -> RobustProblem:
    rows = large_rows(n_rows, n_features, n_classes, seed=0)
    return as_problem(*rows, WassersteinBall(RADIUS, LABEL_COST), True)


def _measured(problem: RobustProblem, options: Options) -> Record:
    settings = SolverSettings(tol=TOL)
    with held_to_cpus(options.threads) as cpus:
        fit = partial(solve, problem, options.solver, settings)
        memory = added_memory(fit)
        processor = processor_seconds(fit)
        timing = time_ours(problem, TOL, options)
    auto = options.solver == "auto"
    return {
        "solver": choose(problem, TOL) if auto else options.solver,
        "seconds": timing.seconds,
        "cpu_seconds": processor,
        "gap": timing.gap,
        "reached": timing.reached,
        "cpus": cpus,
        "data_mb": problem.X.nbytes / MEGABYTE,
        "memory_mb": memory,
    }


def added_memory(work: Callable[[], object]) -> float:
    """Megabytes that ``work`` adds, at its peak, to what the process holds.

    ``ru_maxrss`` will not do: it also remembers the process that started this one, and
    the making of the data.  Linux can forget its other record of the peak; elsewhere the
    answer is nan.
    """
    status, records = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if not (status.exists() and records.exists()):
        return math.nan
    records.write_text("5")
    before = _kilobytes("VmRSS", status)
    work()
    return (_kilobytes("VmHWM", status) - before) * 1024 / MEGABYTE


def _kilobytes(entry: str, status: Path) -> int:
    found = re.search(rf"^{entry}:\s+(\d+) kB$", status.read_text(), re.MULTILINE)
    return int(found[1]) if found else 0


def summarise(records: Sequence[Record]) -> Record:
    """Exponents, the most memory a fit added, and where the plot is."""
    laws = {name: _power_law(*_series(records, name, "cpu_seconds")) for name in NAMES}
    return {f"exponent_{name}": law.exponent for name, law in laws.items()} | {
        "exponent_large_N": _power_law(*_larger_half(records)).exponent,
        "most_memory_mb": max(record["memory_mb"] for record in records),
        "gap_missed_by_us": sum(not record["reached"] for record in records),
        "plot": _plot(records),
    }


def _series(records: Sequence[Record], name: str, value: str) -> tuple[Floats, Floats]:
    """The sizes of a series and a measured value at each."""
    chosen = [record for record in records if name in record["varies"]]
    chosen.sort(key=lambda record: record[name])
    sizes = np.array([record[name] for record in chosen], dtype=float)
    return sizes, np.array([record[value] for record in chosen], dtype=float)


def _larger_half(records: Sequence[Record]) -> tuple[Floats, Floats]:
    sizes, seconds = _series(records, "N", "cpu_seconds")
    kept = max(len(sizes) // 2, 2)
    return sizes[-kept:], seconds[-kept:]


class PowerLaw(NamedTuple):
    """seconds = factor * size ** exponent."""

    exponent: float
    factor: float


def _power_law(sizes: Floats, seconds: Floats) -> PowerLaw:
    exponent, level = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return PowerLaw(float(exponent), float(np.exp(level)))


def _plot(records: Sequence[Record]) -> str:
    """Draw the growth; the file's name, or why there is none."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return "none: matplotlib is not installed"
    figure = Figure(figsize=(10, 7.5), layout="constrained")
    axes = figure.subplots(2, 2).ravel()
    for axis, name in zip(axes, NAMES, strict=False):
        _draw_times(axis, records, name)
    _draw_memory(axes[-1], records)
    figure.suptitle("Growth of a fit to a relative gap of 1e-4")
    path = report.RESULTS / ("b8-tiny.png" if records[0]["tiny"] else "b8.png")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130)
    return path.name


def _draw_times(axis: Any, records: Sequence[Record], name: str) -> None:
    sizes, seconds = _series(records, name, "cpu_seconds")
    exponent, factor = _power_law(sizes, seconds)
    label = f"power law, exponent {exponent:.2f}"
    axis.loglog(sizes, seconds, "o-", color="C0", label="processor, all threads")
    wall = _series(records, name, "seconds")[1]
    axis.loglog(sizes, wall, "x:", color="C7", label="on the wall")
    axis.loglog(sizes, factor * sizes**exponent, "--", color="C1", label=label)
    base = next(record for record in records if record["varies"] == "NPC")
    fixed = ", ".join(f"{other} = {base[other]:,}" for other in NAMES if other != name)
    axis.set(title=fixed, xlabel=NAMES[name], ylabel="seconds")
    if name != "N":  # few powers of ten: the sizes themselves say more
        axis.set_xticks(sizes, [f"{size:.0f}" for size in sizes])
        axis.minorticks_off()
    _finish(axis)


def _draw_memory(axis: Any, records: Sequence[Record]) -> None:
    sizes, memory = _series(records, "N", "memory_mb")
    _, data = _series(records, "N", "data_mb")
    axis.loglog(sizes, np.maximum(memory, 0.1), "s-", color="C2", label="added by the fit")
    axis.loglog(sizes, data, ":", color="C7", label="the data")
    axis.set(title="peak memory", xlabel=NAMES["N"], ylabel="megabytes")
    _finish(axis)


def _finish(axis: Any) -> None:
    axis.grid(alpha=0.3)
    axis.legend(frameon=False)


FAMILY = Family(
    name="b8",
    title="B8 growth: time and added peak memory, relative gap 1e-4",
    cases=cases,
    run=run,
    columns=(
        *("N", "P", "C", "solver", "seconds", "cpu_seconds", "gap"),
        *("data_mb", "memory_mb"),
    ),
    summarise=summarise,
)
