"""Interior points of similar problems; each starts from a point on another's path."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ...problem import RobustProblem
from ..neighbours import Neighbour, distance
from ..result import SolverSettings
from ..scaling import Scaling
from .loop import from_near
from .point import Iterate, ScaledData
from .settings import INTERIOR_POINT
from .warm_start import PathMemory, placed, taken_over


@dataclass
class InteriorChain:
    """Interior points that start from a point on the path of a similar problem."""

    settings: SolverSettings
    design: dict[bool, ScaledData] = field(default_factory=dict)

    def solve(self, problem: RobustProblem, neighbours: list[Neighbour]) -> Neighbour:
        data, memory = self._data(problem), PathMemory()
        near = self._near(problem, data, neighbours)
        result = from_near(problem, self.settings, data, near, memory.look)
        return Neighbour(problem, result, memory)

    def _data(self, problem: RobustProblem) -> ScaledData:
        """The scaled data, computed once for radius 0 and once for positive radii.

        At radius 0 no feature is touchable, so that the columns differ.
        """
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
        for other in sorted(neighbours, key=lambda other: distance(problem, other)):
            least = INTERIOR_POINT.least_distance
            gap = float(np.clip(distance(problem, other), least, 1.0))
            point = other.memory.nearest(gap)
            begun = None if point is None else taken_over(data, problem.norm, point)
            if begun is not None:
                return begun
        if not neighbours or not problem.radius > 0:
            return None
        return placed(data, problem, neighbours[-1].start)
