"""Where a linear score rises fastest, per unit of transport cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arrays import Floats


def _one_feature(slope: Floats) -> Floats:
    unit = np.zeros_like(slope)
    steepest = np.abs(slope).argmax()
    unit[steepest] = np.sign(slope[steepest])
    return unit


def _along(slope: Floats) -> Floats:
    return np.asarray(slope / np.linalg.norm(slope))


# Unit vectors v of the norm with slope . v = ||slope||_*, for slope != 0.
STEEPEST: dict[str, Callable[[Floats], Floats]] = {
    "l1": _one_feature,
    "l2": _along,
    "linf": np.sign,
}


def steepest_direction(slope: Floats, norm: str, feature_cost: Floats) -> Floats:
    """A movement of cost 1 that raises ``slope . x`` the most; slope != 0 where it counts.

    Features of infinite cost stay where they are.
    """
    direction = np.zeros_like(slope)
    touchable = np.isfinite(feature_cost)
    cost = feature_cost[touchable]
    direction[touchable] = STEEPEST[norm](slope[touchable] / cost) / cost
    return direction
