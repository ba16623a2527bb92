"""Which cone a problem's norm asks for, and what both second-order solvers do with it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arrays import Floats
from ..scaling import Scaling
from .normal_system import NormalSystem, fix_gauge
from .polyhedral import Absent, AbsoluteSums, Box, Cone, Curvature, Floor
from .second_order import SecondOrder, SingleClasses

__all__ = [
    "MAX_START_LAM",
    "Cone",
    "norm_multipliers",
    "normal_system",
    "starting_cone",
]


CONES: dict[str, Callable[[int, int, float, float], Cone]] = {
    "l1": Box,
    "l2": SecondOrder,
    "linf": AbsoluteSums,
    "triangle": SingleClasses,
}

# lam starts at most here, in the solver's units.
MAX_START_LAM = 30.0


def starting_cone(
    norm: str,
    n_classes: int,
    n_touchable: int,
    flip_cost: Floats,
    radius: float,
    centre: float,
    most: float = MAX_START_LAM,
) -> tuple[Cone, float]:
    """The constraint at M = 0 and a lam at which its multipliers alone spend the radius,
    or that is the ``most``."""
    if n_touchable:
        degree = CONES[norm](n_classes, n_touchable, 1.0, 1.0).degree
        lam = _spending_lam(degree * centre, radius, most)
        return CONES[norm](n_classes, n_touchable, lam, centre), lam
    if radius > 0 or (np.isfinite(flip_cost) & (flip_cost > 0)).any():
        lam = _spending_lam(centre, radius, most)
        return Floor(lam, centre), lam
    return Absent(), 0.0


def _spending_lam(complementarity: float, radius: float, most: float) -> float:
    return complementarity / radius if complementarity < most * radius else most


def normal_system(
    matrix: Floats, cone: Cone, shape: tuple[int, int], n_touchable: int
) -> NormalSystem:
    """The samples' curvature in (coef, lam) completed by the cone's, factorised."""
    cone.add_curvature(Curvature(matrix, *shape, n_touchable))
    fix_gauge(matrix, *shape, n_touchable if cone.fixes_gauge else 0)
    return NormalSystem(matrix)


def norm_multipliers(
    cone: Cone, scaling: Scaling, weight_sum: float
) -> tuple[Floats | None, Floats | None]:
    """Flow and gradient of a cone's multipliers in the problem's units, if it has any."""
    if not scaling.n_touchable:
        return None, None
    flow = cone.flow()
    gradient = scaling.on_features(cone.gradient() / weight_sum)
    return None if flow is None else scaling.on_features(flow / weight_sum), gradient
