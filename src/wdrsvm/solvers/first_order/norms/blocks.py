"""What the first-order method asks of a norm, and the norms that it knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ....arrays import Codes, Floats
from .l1 import BoxBlock
from .l2 import EuclideanBlock, TriangleBlock
from .linf import FlowBlock


class Block(Protocol):
    """The interface of a norm: coefficients (T, C) of the touchable columns.

    ``sweep`` settles the rows and the multipliers of the norm.  ``recentre`` moves the
    proximal step, ``soften`` makes it longer.  ``stiffness`` is the mean curvature of a
    row.  For a gradient G (T, C), ``polar`` bounds sigma(G) from above; a search for a
    better bound ends when it gains less than the share ``rtol``.  ``own_gradient``
    is the gradient of the norm's multipliers, ``flow`` (pairs, T) are these multipliers.
    """

    coef: Floats

    @property
    def stiffness(self) -> float: ...
    def sweep(self, order: Codes, tol: float, least_weight: float) -> None: ...
    def recentre(self) -> None: ...
    def soften(self, factor: float) -> None: ...
    def polar(self, gradient: Floats, rtol: float = 0.0) -> float: ...
    def own_gradient(self, gradient: Floats) -> Floats: ...
    def flow(self) -> Floats | None: ...


# The block of each norm.
BLOCKS: dict[str, Callable[..., Block]] = {
    "l1": BoxBlock,
    "l2": EuclideanBlock,
    "linf": FlowBlock,
    "triangle": TriangleBlock,
}
