"""B1, small and exact: the paper's sizes, its own program, a relative gap of 1e-6."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wdrsvm.problem import WassersteinBall

from ..data import IMBALANCED, as_problem, simulated
from ..family import Family, Options, Record
from ..peers import ratio_summary, versus

TOL = 1e-6
PEERS = ("highs-simplex", "highs-ipm", "clarabel")


class Case(NamedTuple):
    experiment: str
    N: int
    P: int
    C: int
    norm: str
    radius: float
    label_cost: float
    seed: int = 0


# Experiment 3: one size varies, the others stay.
SCALABILITY = (
    *((360, 10, C) for C in (4, 6, 8, 10)),
    *((360, P, 8) for P in (4, 16, 22, 28)),
    *((N, 10, 4) for N in (80, 640, 920, 1200)),
)
# (radius, label cost) of the robust model, and of the paper's regularised one, which has
# C rows a sample in place of C squared: shown, and summed up apart.
BALLS = ((1e-4, 0.5), (1e-2, 0.5))
REGULARISED = (1e-2, np.inf)
SIMULATION = tuple((200, P, C) for C in (4, 8) for P in (3, 5, 15, 30))


def cases(options: Options) -> list[Case]:
    """Both experiments for every norm; one small case a norm if tiny."""
    norms = ("l1", "l2", "linf")
    if options.tiny:
        return [Case("scalability", 80, 10, 4, norm, 1e-2, 0.5) for norm in norms]
    return [
        *(
            Case("scalability", *size, norm, *ball)
            for size in SCALABILITY
            for norm in norms
            for ball in BALLS
        ),
        *(
            Case("regularised", *size, norm, *REGULARISED)
            for size in SCALABILITY
            for norm in norms
        ),
        *(
            Case(experiment, *size, norm, 1e-2, 0.5)
            for size in SIMULATION
            for norm in norms
            for experiment in ("balanced", "imbalanced")
        ),
    ]


def run(case: Case, options: Options) -> Record:
    """Ours against the best peer on the paper's program, without intercept."""
    shares = IMBALANCED[case.C] if case.experiment == "imbalanced" else None
    X, y = simulated(case.N, case.P, case.C, case.seed, shares)
    ball = WassersteinBall(case.radius, case.label_cost, case.norm)
    problem = as_problem(X, y, ball, fit_intercept=False)
    return case._asdict() | versus(problem, PEERS, "paper", TOL, options)


def summarise(records: Sequence[Record]) -> Record:
    """The robust cases, and beside them the regularised ones."""
    robust = [record for record in records if record["experiment"] != "regularised"]
    other = [record for record in records if record["experiment"] == "regularised"]
    beside = {f"regularised_{key}": value for key, value in ratio_summary(other).items()}
    return ratio_summary(robust) | (beside if other else {})


FAMILY = Family(
    name="b1",
    title="B1 small, exact: the paper's program, gap 1e-6",
    cases=cases,
    run=run,
    columns=(
        *("experiment", "N", "P", "C", "norm", "radius", "label_cost"),
        *("ours", "gap", "peer", "best_peer", "ratio"),
    ),
    summarise=summarise,
)
