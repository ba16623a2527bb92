"""Experiment 3: time of exact training, our solver and other solvers (peers).

The peers solve the paper's program.  For this experiment the paper states neither radius
nor label cost.  Here they are those of Experiment 4, and a larger radius is added.  The
time of our solver is the faster of two runs, because the first run may compile.  Peers run
once.  A ratio is a peer's time divided by ours, on the same data in the same process.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..datasets import make_simulation
from ..kernels import factorise, kernel_of
from ..problem import RobustProblem, WassersteinBall
from ..solvers import SolverSettings, solve
from .running.spec import Experiment, Record, Tables, Task
from .running.timing import above, best_of_two, sizes, timed_peer, training_problem

# (N, P, C): one size grows, the others stay.
PANELS = {
    "C": [(360, 10, C) for C in (4, 6, 8, 10)],
    "P": [(360, P, 8) for P in (4, 10, 16, 22, 28)],
    "N": [(N, 10, 4) for N in (80, 360, 640, 920, 1200)],
}
QUICK_PANELS = {"C": [(80, 10, 4), (80, 10, 6)], "N": [(40, 10, 4), (80, 10, 4)]}
RADII, LABEL_COST, TOL = (1e-4, 1e-2), 0.5, 1e-6
MODELS = {"WDR": LABEL_COST, "regularised": np.inf}
PEERS = {"linear": ("highs-simplex", "highs-ipm", "clarabel"), "kernel": ("clarabel",)}
REPETITIONS = {"quick": 2, "full": 50}
# Number of repetitions with peers, and time limit of a peer in seconds.
PEER_REPETITIONS = {"linear": 3, "kernel": 1}
TIME_LIMIT = 30.0


def tasks(preset: str, repetitions: int | None) -> list[Task]:
    """Every size, kind, model and radius; only the first repetitions have peers."""
    panels = PANELS if preset == "full" else QUICK_PANELS
    return [
        {
            "kind": kind,
            "model": model,
            "radius": radius,
            "N": N,
            "P": P,
            "C": C,
            "peers": repetition < PEER_REPETITIONS[kind],
            "repetition": repetition,
        }
        for repetition in range(repetitions or REPETITIONS[preset])
        for kind in PEERS
        for N, P, C in sizes(panels)
        for model in MODELS
        for radius in RADII
    ]


def run(task: Task) -> list[Record]:
    """Run our solver, and the peers if the task has them."""
    # Test rows are not used: one per class is the least number that can be drawn.
    data = make_simulation(
        task["N"], task["C"], task["P"], task["C"], random_state=task["repetition"]
    )
    label_cost = MODELS[task["model"]]
    norm = "l1" if task["kind"] == "linear" else "l2"
    ball = WassersteinBall(task["radius"], label_cost, norm)
    prepare = LIFTS[task["kind"]]
    problem = prepare(data.X_train, data.y_train, ball)
    seconds, found = best_of_two(
        lambda: solve(
            prepare(data.X_train, data.y_train, ball), settings=SolverSettings(tol=TOL)
        )
    )
    bound = found.certificate.dual_bound
    records = [_record("ours", seconds, above(found.certificate.objective, bound), False)]
    for name in PEERS[task["kind"]] if task["peers"] else ():
        peer = timed_peer(name, problem, TOL, TIME_LIMIT)
        records.append(
            _record(name, peer.seconds, above(peer.objective, bound), peer.timed_out)
        )
    return records


def _record(solver: str, seconds: float, gap: float, timed_out: bool) -> Record:
    return {"solver": solver, "seconds": seconds, "gap": gap, "timed_out": timed_out}


def _linear(X: Any, y: Any, ball: WassersteinBall) -> RobustProblem:
    return training_problem(X, y, ball)


def _kernel(X: Any, y: Any, ball: WassersteinBall) -> RobustProblem:
    """The paper's kernel problem in the coordinates of a factor of the Gram matrix."""
    gram = kernel_of("rbf", gamma="auto", X=X)(X, X)
    problem = training_problem(factorise(gram).features, y, ball)
    return replace(problem, lipschitz="triangle")


LIFTS = {"linear": _linear, "kernel": _kernel}
CASE = ["kind", "model", "radius", "N", "P", "C"]


def summarise(frame: Any) -> Tables:
    """Mean times by solver, and the ratios of the peers' times to ours."""
    times = frame.groupby([*CASE, "solver"]).agg(
        seconds=("seconds", "mean"),
        seconds_sd=("seconds", "std"),
        repetitions=("seconds", "count"),
        worst_gap=("gap", "max"),
        timed_out=("timed_out", "sum"),
    )
    return {"times": times.reset_index(), "ratios": ratios(frame)}


def ratios(frame: Any) -> Any:
    """Ratios of a peer's time to ours, geometric means over repetitions.

    If a peer has reached the time limit, the ratio is a lower bound.
    """
    wide = frame.pivot_table(
        index=[*CASE, "repetition"], columns="solver", values="seconds"
    )
    peers = [name for name in wide.columns if name != "ours"]
    logs = np.log(wide[peers].div(wide["ours"], axis=0))
    means = np.exp(logs.groupby(level=CASE).mean())
    table = means.reset_index().melt(CASE, var_name="solver", value_name="ratio")
    out = frame.groupby([*CASE, "solver"])["timed_out"].any().rename("lower_bound")
    return table.dropna().join(out, on=[*CASE, "solver"]).reset_index(drop=True)


EXPERIMENT = Experiment(
    name="scalability",
    title="Experiment 3: time of exact training",
    protocol=1,
    tasks=tasks,
    run=run,
    summarise=summarise,
)
