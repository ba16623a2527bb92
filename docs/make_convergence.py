"""Draw ``_static/convergence.png``: how fast each solver nears the optimum.

Run ``python docs/make_convergence.py`` from the project's folder, with the extras ``plot``
and ``reference``.  Every point is a run of its own with a limit of iterations or a
tolerance: the time is the processor's for the whole run, its certificate included, the
objective is recomputed from its classifier.
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
from wdrsvm.solvers.first_order.loop import first_order
from wdrsvm.solvers.interior_point.loop import interior_point
from wdrsvm.solvers.newton.hinge import smoothing_newton
from wdrsvm.solvers.reference.peers import highs
from wdrsvm.solvers.runtime.blas_threads import single_threaded_blas
from wdrsvm.solvers.subgradient.algorithm1 import SubgradientSettings, subgradient
from wdrsvm.solvers.subgradient.stochastic import StochasticSettings, stochastic

PICTURE = Path(__file__).parent / "_static" / "convergence.png"
N_ROWS, N_FEATURES, N_CLASSES = 3000, 10, 5
ITERATIONS = (30, 100, 300, 1000, 2000)
EPOCHS = (1, 2, 4, 8, 16, 32, 64)
SWEEPS = (5, 10, 30, 100, 300, 1000)
STEPS = (5, 10, 15, 20, 25, 30, 35, 40, 50, 60)
TOLERANCES = (3e-1, 1e-1, 1e-2, 1e-4, 1e-6)
JUDGE_TOLERANCES = (1e-6,)
# What the reference is not known below; smaller differences are drawn here.
FLOOR = 1e-8


class Curve(NamedTuple):
    """A solver, the settings it is run with, and how it is drawn."""

    name: str
    solver: Any
    settings: Sequence[SolverSettings]
    style: str


def subgradients(rule: str) -> list[SolverSettings]:
    return [
        SubgradientSettings(max_iter=n, step_rule=rule, certify=False) for n in ITERATIONS
    ]


def by_tolerance(tolerances: Sequence[float]) -> list[SolverSettings]:
    return [SolverSettings(tol=tol) for tol in tolerances]


def by_limit(limits: Sequence[int]) -> list[SolverSettings]:
    return [SolverSettings(tol=1e-9, max_iter=n) for n in limits]


def epochs() -> list[SolverSettings]:
    return [StochasticSettings(max_iter=n, patience=n) for n in EPOCHS]


CURVES = (
    Curve("subgradient, 1/t", subgradient, subgradients("1/t"), "C0v-"),
    Curve("subgradient, 1/sqrt(t)", subgradient, subgradients("1/sqrt(t)"), "C1^-"),
    Curve("subgradient, polyak", subgradient, subgradients("polyak"), "C2o-"),
    Curve("stochastic", stochastic, epochs(), "C3s-"),
    Curve("first-order", first_order, by_limit(SWEEPS), "C4d-"),
    Curve("newton", smoothing_newton, by_tolerance(TOLERANCES), "C5*-"),
    Curve("interior-point", interior_point, by_limit(STEPS), "C6x-"),
    Curve("highs", highs, by_tolerance(JUDGE_TOLERANCES), "C7P:"),
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
    return RobustProblem.of(X, y, weight, WassersteinBall(0.02, 1.0, "l1"), N_CLASSES)


def measured(problem: RobustProblem, curve: Curve, optimum: float) -> tuple[Any, Any]:
    """Seconds and relative distances to the optimum, best so far."""
    curve.solver(problem, curve.settings[0])  # compiles
    seconds, above = [], []
    for settings in curve.settings:
        began = time.process_time()
        found = curve.solver(problem, settings)
        seconds.append(time.process_time() - began)
        value = problem.risk(found.coef, found.intercept).value
        above.append(max((value - optimum) / optimum, FLOOR))
    order = np.argsort(seconds)
    return np.array(seconds)[order], np.minimum.accumulate(np.array(above)[order])


def draw(problem: RobustProblem, axes: Any) -> None:
    """A curve a solver, over the height below which differences mean nothing."""
    optimum = solve(problem, settings=SolverSettings(tol=1e-9)).certificate.dual_bound
    for curve in CURVES:
        seconds, above = measured(problem, curve, optimum)
        axes.loglog(seconds, above, curve.style, label=curve.name, markersize=5)
        print(curve.name, np.round(seconds, 3), above, flush=True)
    axes.axhspan(FLOOR / 3, 1.5 * FLOOR, color="0.92", zorder=0)
    axes.text(0.6, 0.035, "the optimum, as far as it is known", ha="center",
              transform=axes.transAxes, fontsize=8, color="0.35")  # fmt: skip
    axes.set(
        xlabel="seconds of one processor, certificate included",
        ylabel="(objective - optimum) / optimum",
        ylim=(FLOOR / 3, 3),
        title=f"N = {N_ROWS}, P = {N_FEATURES}, C = {N_CLASSES}, l1 norm",
    )
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1, 0.5))


def main() -> None:
    figure = Figure(figsize=(9, 4.8), layout="constrained")
    with single_threaded_blas():
        draw(example(), figure.subplots())
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
