"""Draw ``_static/convergence.png``: how fast each solver nears the optimum.

Run ``python docs/make_convergence.py`` from the project's folder, with the extra ``plot``.
Every point is a run of its own with a limit of iterations or a tolerance: the time is that
of the whole run, the objective is recomputed from its classifier.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import make_classification

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.solvers import SolverSettings, solve
from wdrsvm.solvers.first_order import first_order
from wdrsvm.solvers.interior_point import interior_point
from wdrsvm.solvers.smoothing_newton import smoothing_newton
from wdrsvm.solvers.stochastic import StochasticSettings, stochastic
from wdrsvm.solvers.subgradient import SubgradientSettings, subgradient
from wdrsvm.solvers.threads import single_threaded_blas

PICTURE = Path(__file__).parent / "_static" / "convergence.png"
N_ROWS, N_FEATURES, N_CLASSES = 3000, 10, 5
ITERATIONS = (30, 100, 300, 1000, 2000)
EPOCHS = (1, 2, 4, 8, 16, 32, 64)
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
# Differences below what the reference is known to are drawn at this height.
FLOOR = 1e-8


class Curve(NamedTuple):
    """A solver, the settings it is run with, and how it is drawn."""

    name: str
    solver: Any
    settings: Sequence[SolverSettings]
    style: str


def subgradients(rule: str, step0: float | None = None) -> list[SolverSettings]:
    return [
        SubgradientSettings(max_iter=n, step_rule=rule, step0=step0, certify=False)
        for n in ITERATIONS
    ]


def by_tolerance() -> list[SolverSettings]:
    return [SolverSettings(tol=tol) for tol in TOLERANCES]


def sweeps() -> list[SolverSettings]:
    return [SolverSettings(tol=1e-9, max_iter=n) for n in (10, 30, 100, 300)]


def epochs() -> list[SolverSettings]:
    return [StochasticSettings(max_iter=n, patience=n) for n in EPOCHS]


CURVES = (
    Curve('subgradient, "1/t"', subgradient, subgradients("1/t"), "C0v-"),
    Curve('subgradient, "1/sqrt(t)"', subgradient, subgradients("1/sqrt(t)"), "C1^-"),
    Curve('subgradient, "polyak"', subgradient, subgradients("polyak"), "C2o-"),
    Curve("stochastic", stochastic, epochs(), "C3s-"),
    Curve("first-order", first_order, sweeps(), "C4d-"),
    Curve("newton", smoothing_newton, by_tolerance(), "C5*-"),
    Curve("interior-point", interior_point, by_tolerance(), "C6x-"),
)


def example() -> RobustProblem:
    """Clusters that overlap, standardised, under the l1 norm."""
    X, y = make_classification(
        N_ROWS,
        N_FEATURES,
        n_informative=N_FEATURES,
        n_redundant=0,
        n_classes=N_CLASSES,
        n_clusters_per_class=1,
        class_sep=1.5,
        random_state=0,
    )
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    weight = np.full(N_ROWS, 1 / N_ROWS)
    return RobustProblem(X, y, weight, WassersteinBall(0.02, 1.0, "l1"), N_CLASSES)


def measured(problem: RobustProblem, curve: Curve, optimum: float) -> tuple[Any, Any]:
    """Seconds and relative distances to the optimum, best so far."""
    curve.solver(problem, curve.settings[0])  # compiles
    seconds, above = [], []
    for settings in curve.settings:
        began = time.perf_counter()
        found = curve.solver(problem, settings)
        seconds.append(time.perf_counter() - began)
        value = problem.risk(found.coef, found.intercept).value
        above.append(max((value - optimum) / optimum, FLOOR))
    order = np.argsort(seconds)
    return np.array(seconds)[order], np.minimum.accumulate(np.array(above)[order])


def main() -> None:
    problem = example()
    optimum = solve(problem, settings=SolverSettings(tol=1e-9)).certificate.dual_bound
    figure = Figure(figsize=(7.5, 4.8), layout="constrained")
    axes = figure.subplots()
    with single_threaded_blas():
        for curve in CURVES:
            seconds, above = measured(problem, curve, optimum)
            axes.loglog(seconds, above, curve.style, label=curve.name, markersize=5)
            print(curve.name, np.round(seconds, 3), above, flush=True)
    axes.set(
        xlabel="seconds",
        ylabel="(objective - optimum) / optimum",
        title=f"N = {N_ROWS}, P = {N_FEATURES}, C = {N_CLASSES}, l1 norm, one processor",
    )
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=9)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
