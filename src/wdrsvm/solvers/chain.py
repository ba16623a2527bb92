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
from typing import Protocol

from ..problem import RobustProblem
from .auto import choose
from .first_order.known_multipliers import resumable
from .neighbours import Neighbour, distance
from .registry import check_name
from .result import SolverSettings
from .runtime.blas_threads import single_threaded_blas
from .runtime.interrupts import plain_interrupts
from .solve import solve

# A classifier without its multipliers keeps this one longer than none.
UNSTARTED = ("first-order",)


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
    """Each solve starts from the nearest neighbour's classifier.

    Unless ``starting``, it does so only with multipliers that the method can go on with.
    """

    name: str
    settings: SolverSettings
    of_kernel: bool
    starting: bool = True

    def solve(self, problem: RobustProblem, neighbours: list[Neighbour]) -> Neighbour:
        nearest = min(neighbours, key=lambda other: distance(problem, other), default=None)
        start = None if nearest is None else nearest.start
        if not self.starting and resumable(problem, start) is None:
            start = None
        found = solve(problem, self.name, self.settings, start, self.of_kernel)
        return Neighbour(problem, found)
