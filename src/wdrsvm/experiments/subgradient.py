"""Experiment 4: the paper's Algorithm 1, corrected, against an interior point at 1e-2.

Algorithm 1 makes T = 140 steps of size sigma_0 / t from zero.  The paper takes the sigma_0
with the highest accuracy on the test set.  Here it is the sigma_0 with the lowest training
objective.  The peer is the interior point of HiGHS on the paper's program, scored on the
same test rows.  With its tolerance set to 1e-2 the peer may return its starting point.
Therefore the time of the peer is that of the loosest tolerance whose classifier is within
1e-2 of the optimum.  The time at 1e-2 is reported too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..datasets import make_simulation
from ..problem import RobustProblem, WassersteinBall
from ..solvers import SolverResult, SolverSettings, solve
from .running.spec import Experiment, Record, Tables, Task
from .running.timing import Timed, above, best_of_two, sizes, timed_peer, training_problem

# (N, P, C): one size grows, the others stay.
PANELS = {
    "C": [(1000, 4, C) for C in (4, 6, 8, 10, 12)],
    "P": [(1000, P, 4) for P in (4, 10, 16, 22, 28)],
    "N": [(N, 4, 4) for N in (1000, 2000, 3000, 4000, 5000)],
}
QUICK_PANELS = {"C": [(300, 4, 4), (300, 4, 8)], "P": [(300, 4, 4), (300, 16, 4)]}
RADIUS, LABEL_COST, TOL = 1e-4, 0.5, 1e-2
N_STEPS, FIRST_STEPS = 140, (1e-2, 1e-1, 1.0, 10.0, 100.0)
N_TEST = 2000
# The paper does not print the number of repetitions; the ratios vary little.
REPETITIONS = {"quick": 2, "full": 10}
TIME_LIMIT = 120.0
# Tolerances of the peer, loosest first.
TOLERANCES = (1e-2, 1e-4, 1e-6)


def tasks(preset: str, repetitions: int | None) -> list[Task]:
    """Every size, once per repetition."""
    panels = PANELS if preset == "full" else QUICK_PANELS
    return [
        {"N": N, "P": P, "C": C, "repetition": repetition}
        for repetition in range(repetitions or REPETITIONS[preset])
        for N, P, C in sizes(panels)
    ]


def run(task: Task) -> list[Record]:
    """Times, objectives and accuracies of both methods on the same data."""
    data = make_simulation(
        task["N"], N_TEST, task["P"], task["C"], random_state=task["repetition"]
    )
    ball = WassersteinBall(RADIUS, LABEL_COST, "l1")
    problem = training_problem(data.X_train, data.y_train, ball)
    exact = solve(problem, settings=SolverSettings(tol=1e-5))
    bound = exact.certificate.dual_bound
    step0 = _best_first_step(problem)
    seconds, found = best_of_two(lambda: _descent(problem, step0))
    at_once, peer = _peer_times(problem, bound)

    def accuracy(coef: Any) -> float:
        return float(np.mean((data.X_test @ coef.T).argmax(axis=1) == data.y_test))

    return [
        {
            "seconds": seconds,
            "peer_seconds": peer.seconds,
            "peer_seconds_at_once": at_once.seconds,
            "peer_reached": above(peer.objective, bound) <= TOL,
            "step0": step0,
            "above": above(found.certificate.objective, bound),
            "peer_above": above(peer.objective, bound),
            "accuracy": accuracy(found.coef),
            "peer_accuracy": accuracy(peer.coef),
            "exact_accuracy": accuracy(exact.coef),
        }
    ]


def _descent(problem: RobustProblem, step0: float) -> SolverResult:
    # Imported here, because the command line imports this module and must start quickly.
    from ..solvers.subgradient.algorithm1 import SubgradientSettings, subgradient

    settings = SubgradientSettings(
        max_iter=N_STEPS, step_rule="1/t", step0=step0, certify=False
    )
    return subgradient(problem, settings)


def _best_first_step(problem: RobustProblem) -> float:
    objectives = {
        step: _descent(problem, step).certificate.objective for step in FIRST_STEPS
    }
    return min(objectives, key=lambda step: objectives[step])


def _peer_times(problem: RobustProblem, bound: float) -> tuple[Timed, Timed]:
    """Times at the loosest tolerance, and at the loosest sufficient tolerance."""
    at_once = None
    for tol in TOLERANCES:
        found = timed_peer("highs-ipm", problem, tol, TIME_LIMIT)
        at_once = at_once or found
        if above(found.objective, bound) <= TOL or found.timed_out:
            break
    assert at_once is not None
    return at_once, found


SIZE = ["N", "P", "C"]


def summarise(frame: Any) -> Tables:
    """Means over repetitions, also of the ratio of times in each repetition."""
    frame = frame.assign(
        ratio=frame["peer_seconds"] / frame["seconds"],
        ratio_at_once=frame["peer_seconds_at_once"] / frame["seconds"],
        peer_missed=~frame["peer_reached"],
        # If the peer has not reached the tolerance, its classifier is not compared.
        peer_accuracy=frame["peer_accuracy"].where(frame["peer_reached"]),
    )
    grouped = frame.groupby(SIZE)
    table = grouped.agg(
        ratio=("ratio", "mean"),
        ratio_sd=("ratio", "std"),
        lowest_ratio=("ratio", "min"),
        ratio_at_once=("ratio_at_once", "mean"),
        above=("above", "mean"),
        accuracy=("accuracy", "mean"),
        accuracy_sd=("accuracy", "std"),
        peer_accuracy=("peer_accuracy", "mean"),
        peer_accuracy_sd=("peer_accuracy", "std"),
        exact_accuracy=("exact_accuracy", "mean"),
        peer_missed=("peer_missed", "sum"),
        repetitions=("ratio", "count"),
    )
    return {"subgradient": table.reset_index()}


EXPERIMENT = Experiment(
    name="subgradient",
    title="Experiment 4: Algorithm 1",
    protocol=2,
    tasks=tasks,
    run=run,
    summarise=summarise,
)
