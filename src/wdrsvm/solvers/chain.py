"""Solves of neighbouring problems, each beginning where it is cheapest.

The problems of a chain differ in radius and label cost alone.  Scaling and design are
made once.  An interior point begins with a point on the path of a neighbour, either that
of the next larger radius or that of the next smaller label cost: going that way its slacks
only grow.  Other solvers start from the neighbour's classifier, where that helps them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..problem import RobustProblem
from .auto import choose
from .registry import check_name
from .result import SolverResult, SolverSettings, Start
from .runtime.blas_threads import single_threaded_blas
from .runtime.interrupts import plain_interrupts
from .solve import solve

# A classifier without its multipliers keeps this one longer than none.
UNSTARTED = ("first-order",)
# How far apart problems are whose radii differ by a factor of two.
HALVED_RADIUS = 0.3


class Neighbour(NamedTuple):
    """A problem that was solved: its result, and what a chain remembers of the way."""

    problem: RobustProblem
    result: SolverResult
    memory: Any = None

    @property
    def start(self) -> Start:
        found = self.result
        return Start(found.coef, found.intercept, found.certificate.lam)


class Chain(Protocol):
    """Solves one problem after the other."""

    def solve(self, problem: RobustProblem, neighbours: list[Neighbour]) -> Neighbour: ...


@contextmanager
def chain_of(
    problem: RobustProblem, name: str, settings: SolverSettings, of_kernel: bool = False
) -> Iterator[Chain]:
    """A chain of problems like the given one, by the named solver."""
    check_name(name)
    chosen = choose(problem, settings.tol, of_kernel) if name == "auto" else name
    with single_threaded_blas(), plain_interrupts():
        inside = chosen == "interior-point" and problem.radius > 0
        if inside and not problem.is_bounded and problem.weight.all():
            # Imported here, so that importing the package compiles nothing.
            yield import_module(".interior_point.chain", __package__).InteriorChain(
                settings
            )
        else:
            yield StartedChain(name, settings, of_kernel, chosen not in UNSTARTED)


@dataclass
class StartedChain:
    """Each solve starts from the nearest neighbour's classifier."""

    name: str
    settings: SolverSettings
    of_kernel: bool
    starting: bool = True

    def solve(self, problem: RobustProblem, neighbours: list[Neighbour]) -> Neighbour:
        nearest = min(neighbours, key=lambda other: distance(problem, other), default=None)
        start = nearest.start if self.starting and nearest is not None else None
        found = solve(problem, self.name, self.settings, start, self.of_kernel)
        return Neighbour(problem, found)


def distance(problem: RobustProblem, other: Neighbour) -> float:
    """How far apart two problems are, as a gap relative to the objective."""
    mine, its = problem.label_cost, other.problem.label_cost
    finite = np.isfinite(mine) & np.isfinite(its) & (its > 0)
    if not np.array_equal(np.isfinite(mine), np.isfinite(its)):
        return np.inf
    by_cost = float(np.abs(mine[finite] / its[finite] - 1).max(initial=0.0))
    ratio = problem.radius / other.problem.radius if other.problem.radius > 0 else np.inf
    by_radius = HALVED_RADIUS * abs(np.log2(ratio)) if 0 < ratio < np.inf else np.inf
    return by_cost + by_radius
