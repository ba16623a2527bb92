"""B5, kernels, exact: the scalability experiment's sizes, the paper's kernel program."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from wdrsvm.kernels import factorise, kernel_of
from wdrsvm.problem import WassersteinBall

from ..data import as_problem, simulated
from ..family import Family, Options, Record
from ..measure import median_seconds, thread_limit
from ..peers import ratio_summary, versus
from .b1_small import BALLS, SCALABILITY

TOL = 1e-6


class Case(NamedTuple):
    N: int
    P: int
    C: int
    lipschitz: str
    radius: float
    label_cost: float
    seed: int = 0


def cases(options: Options) -> list[Case]:
    """Both bounds and both balls for every size; one small case a bound if tiny."""
    bounds = ("exact", "triangle")
    if options.tiny:
        return [Case(40, 4, 3, bound, 1e-2, 0.5) for bound in bounds]
    return [
        Case(*size, bound, *ball)
        for size in SCALABILITY
        for bound in bounds
        for ball in BALLS
    ]


def run(case: Case, options: Options) -> Record:
    """Ours, the factor of the Gram matrix included, against Clarabel on that factor."""
    X, y = simulated(case.N, case.P, case.C, case.seed)
    gram = kernel_of("rbf", gamma="auto", X=X)(X, X)
    with thread_limit(options.threads):
        preparing = median_seconds(lambda: factorise(gram), options.repeats, options.clock)
    ball = WassersteinBall(case.radius, case.label_cost, "l2")
    problem = as_problem(factorise(gram).features, y, ball, fit_intercept=False)
    problem = replace(problem, lipschitz=case.lipschitz)
    record = case._asdict() | versus(problem, ("clarabel",), "paper", TOL, options)
    record["ours"] += preparing
    record["ratio"] = record["peer"] / record["ours"]
    return record


FAMILY = Family(
    name="b5",
    title="B5 kernel, exact: the paper's kernel program, gap 1e-6",
    cases=cases,
    run=run,
    columns=(
        *("N", "P", "C", "lipschitz", "radius", "label_cost"),
        *("ours", "gap", "peer", "best_peer", "ratio"),
    ),
    summarise=ratio_summary,
)
