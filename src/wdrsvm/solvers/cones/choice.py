"""The cone of a problem's norm, its start, and its multipliers in the problem's units."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Floats
from ..scaling import Scaling
from .kernels import native
from .settings import CONES

CONE_OF_NORM = {
    "l1": native.Box,
    "l2": native.SecondOrder,
    "linf": native.AbsoluteSums,
    "triangle": native.SingleClasses,
}


def starting_cone(
    norm: str,
    shape: tuple[int, int],
    n_touchable: int,
    flip_cost: Floats,
    radius: float,
    centre: float,
    most: float = CONES.max_start_lam,
) -> tuple[Any, float]:
    """The norm constraint on coefficients (C, Q) at M = 0, and the first lam.

    At this lam the multipliers of the cone sum to the radius, unless that needs a lam above
    ``most``.
    """
    if n_touchable:
        cone = CONE_OF_NORM[norm](*shape, n_touchable)
    elif radius > 0 or (np.isfinite(flip_cost) & (flip_cost > 0)).any():
        cone = native.Floor(*shape)
    else:
        return native.Absent(*shape), 0.0
    lam = _spending_lam(cone.degree * centre, radius, most)
    cone.place(np.zeros((shape[0], n_touchable)), lam, centre)
    return cone, lam


def _spending_lam(complementarity: float, radius: float, most: float) -> float:
    return complementarity / radius if complementarity < most * radius else most


def norm_multipliers(
    cone: Any, scaling: Scaling, weight_sum: float
) -> tuple[Floats | None, Floats | None]:
    """Flow and gradient of a cone's multipliers in the problem's units; None if absent."""
    if not scaling.n_touchable:
        return None, None
    flow = cone.flow()
    gradient = scaling.on_features(cone.gradient() / weight_sum)
    return None if flow is None else scaling.on_features(flow / weight_sum), gradient
