"""The points of a search, and what is fitted there."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...arrays import Floats


class SearchGrid(NamedTuple):
    """The points of a search, in the order of scikit-learn's parameter grids."""

    radii: Floats
    label_costs: list[Any]

    @property
    def params(self) -> list[dict[str, Any]]:
        return [
            {"label_cost": cost, "radius": float(radius)}
            for cost in self.label_costs
            for radius in self.radii
        ]


class FittedPoint(NamedTuple):
    """A classifier, its place in the grid, and the risk of the best constant classifier
    in the same ball."""

    place: int
    fitted: Any
    constant_risk: float
