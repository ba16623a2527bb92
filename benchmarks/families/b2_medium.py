"""B2, medium and exact: thousands of rows, the compact program, a relative gap of 1e-5."""

from __future__ import annotations

from typing import NamedTuple

from wdrsvm.problem import WassersteinBall

from ..data import as_problem, simulated
from ..family import Family, Options, Record
from ..peers import ratio_summary, versus

TOL = 1e-5
RADIUS, LABEL_COST = 1e-2, 0.5
# Clarabel first: HiGHS may stop when it has become slower.
PEERS = ("clarabel", "highs-ipm")


class Case(NamedTuple):
    N: int
    P: int
    C: int
    norm: str
    seed: int = 0


def cases(options: Options) -> list[Case]:
    """Growing N; a few hundred rows if tiny."""
    sizes = (120,) if options.tiny else (5000, 10_000, 20_000)
    return [Case(N, 20, 6, norm) for N in sizes for norm in ("l1", "l2", "linf")]


def run(case: Case, options: Options) -> Record:
    """Ours against the best peer on the compact program, with an intercept."""
    X, y = simulated(case.N, case.P, case.C, case.seed)
    problem = as_problem(X, y, WassersteinBall(RADIUS, LABEL_COST, case.norm), True)
    return case._asdict() | versus(problem, PEERS, "compact", TOL, options)


FAMILY = Family(
    name="b2",
    title="B2 medium, exact: the compact program, relative gap 1e-5",
    cases=cases,
    run=run,
    columns=("N", "P", "C", "norm", "ours", "gap", "peer", "best_peer", "ratio"),
    summarise=ratio_summary,
)
