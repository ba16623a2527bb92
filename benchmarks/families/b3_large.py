"""B3, large and dense: up to a million rows, relative gap 1e-4, against liblinear.

Clusters like those of the paper's simulations; ``liblinear`` says what is compared.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from wdrsvm.problem import WassersteinBall

from ..data import as_problem, large_rows
from ..family import Family, Options, Record
from ..liblinear import compared, fit_liblinear, fit_ours
from ..peers import ratio_summary

TOL = 1e-4
RADIUS, LABEL_COST = 1e-2, 0.5
SIZES = ((20, 6), (50, 10))
# A million rows may take the peer this many times the limit of one run.
PATIENCE = 2


class Case(NamedTuple):
    N: int
    P: int
    C: int
    seed: int = 0


def cases(options: Options) -> list[Case]:
    """Three numbers of rows, two widths; a few hundred rows if tiny."""
    if options.tiny:
        return [Case(600, 5, 3)]
    return [Case(N, *size) for N in (30_000, 100_000, 1_000_000) for size in SIZES]


def run(case: Case, options: Options) -> Record:
    """Ours against liblinear, both with an intercept; accuracies are on these rows."""
    rows = large_rows(*case)
    problem = as_problem(*rows, WassersteinBall(RADIUS, LABEL_COST), True)
    ours = fit_ours(problem, TOL, options)
    limit = options.time_limit * (PATIENCE if case.N >= 1_000_000 else 1)
    peer = fit_liblinear(partial(large_rows, *case), options, limit)
    return case._asdict() | compared(ours, peer, rows)


FAMILY = Family(
    name="b3",
    title="B3 large, dense: relative gap 1e-4 against liblinear's Crammer-Singer",
    cases=cases,
    run=run,
    columns=(
        *("N", "P", "C", "ours", "ours_all_cpus", "gap", "peer", "ratio"),
        *("cpu_ratio", "accuracy", "peer_accuracy"),
    ),
    summarise=ratio_summary,
)
