"""Solves of neighbouring problems, each beginning where it is cheapest.

The problems of a chain differ in radius and label cost alone.  Scaling and design are
made once.  An interior point begins with a point on the path of a neighbour, either that
of the next larger radius or that of the next smaller label cost: going that way its slacks
only grow.  Other solvers start from the neighbour's classifier.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np

from ..problem import RobustProblem
from .choose import choose, solve
from .interior_point import from_near
from .interrupts import plain_interrupts
from .primal_dual import Iterate, ScaledData
from .result import SolverResult, SolverSettings, Start
from .scaling import Scaling
from .threads import single_threaded_blas
from .warm_points import PathMemory, PathPoint, placed, taken_over

# The gap of the neighbour's point for a radius that halves, and the least gap worth it.
HALVED_RADIUS_GAP = 0.3
LEAST_GAP = 0.03


class Neighbour(NamedTuple):
    """A problem that was solved: its result, and points on the way to it."""

    problem: RobustProblem
    result: SolverResult
    memory: PathMemory

    @property
    def start(self) -> Start:
        found = self.result
        return Start(found.coef, found.intercept, found.certificate.lam)


class Chain(Protocol):
    """Solves one problem after the other."""

    def solve(
        self, problem: RobustProblem, neighbours: list[Neighbour]
    ) -> Neighbour: ...


@contextmanager
def chain_of(
    problem: RobustProblem, name: str, settings: SolverSettings, of_kernel: bool = False
) -> Iterator[Chain]:
    """A chain of problems like the given one, by the named solver."""
    chosen = choose(problem, settings.tol, of_kernel) if name == "auto" else name
    with single_threaded_blas(), plain_interrupts():
        inside = chosen == "interior-point" and problem.radius > 0
        if inside and not problem.is_bounded and problem.weight.all():
            yield InteriorChain(settings)
        else:
            yield StartedChain(name, settings, of_kernel)


@dataclass
class StartedChain:
    """Each solve starts from the nearest neighbour's classifier."""

    name: str
    settings: SolverSettings
    of_kernel: bool

    def solve(self, problem: RobustProblem, neighbours: list[Neighbour]) -> Neighbour:
        nearest = min(neighbours, key=lambda other: _distance(problem, other), default=None)
        start = None if nearest is None else nearest.start
        found = solve(problem, self.name, self.settings, start, self.of_kernel)
        return Neighbour(problem, found, PathMemory())


@dataclass
class InteriorChain:
    """Interior points that begin on the path of a neighbour."""

    settings: SolverSettings
    design: dict[bool, ScaledData] = field(default_factory=dict)

    def solve(self, problem: RobustProblem, neighbours: list[Neighbour]) -> Neighbour:
        data, memory = self._data(problem), PathMemory()
        near = self._near(problem, data, neighbours)
        result = from_near(problem, self.settings, data, near, memory.look)
        return Neighbour(problem, result, memory)

    def _data(self, problem: RobustProblem) -> ScaledData:
        """Without a budget no feature is touchable, which makes other columns."""
        key = problem.radius > 0
        if key not in self.design:
            self.design[key] = ScaledData.of(problem, Scaling.of(problem))
        known = self.design[key]
        unit = known.scaling.unit
        return replace(
            known,
            kappa=problem.attainable_flip_cost() / unit,
            radius=problem.radius / unit * known.mass,
        )

    def _near(
        self, problem: RobustProblem, data: ScaledData, neighbours: list[Neighbour]
    ) -> Iterate | None:
        for other in sorted(neighbours, key=lambda other: _distance(problem, other)):
            gap = float(np.clip(_distance(problem, other), LEAST_GAP, 1.0))
            point: PathPoint | None = other.memory.nearest(gap)
            begun = None if point is None else taken_over(data, problem.norm, point)
            if begun is not None:
                return begun
        if not neighbours or not problem.radius > 0:
            return None
        return placed(data, problem, neighbours[-1].start)


def _distance(problem: RobustProblem, other: Neighbour) -> float:
    """How far apart two problems are, as a gap relative to the objective."""
    mine, its = problem.label_cost, other.problem.label_cost
    finite = np.isfinite(mine) & np.isfinite(its) & (its > 0)
    if not np.array_equal(np.isfinite(mine), np.isfinite(its)):
        return np.inf
    by_cost = float(np.abs(mine[finite] / its[finite] - 1).max(initial=0.0))
    ratio = problem.radius / other.problem.radius if other.problem.radius > 0 else np.inf
    by_radius = HALVED_RADIUS_GAP * abs(np.log2(ratio)) if 0 < ratio < np.inf else np.inf
    return by_cost + by_radius
