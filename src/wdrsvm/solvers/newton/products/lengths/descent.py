"""Quasi-Newton steps on the risk with smoothed lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .....arrays import Floats
from ..held.curvature import AxisCurvature
from ..held.descent import HeldDescent
from ..settings import PRODUCTS
from .diameter import LengthDiameter, SmoothedLengths
from .settings import LENGTHS

if TYPE_CHECKING:
    from .model import LengthModel


class LengthCurvature(AxisCurvature):
    """With more axes, which cost little where classes are few."""

    @staticmethod
    def n_axes(n_classes: int) -> int:
        return max(LENGTHS.axes, LENGTHS.axes_of_all // n_classes)


class LengthDescent(HeldDescent):
    """Steps whose settling adapts the shares and the multipliers."""

    diameter: LengthDiameter  # type: ignore[assignment]
    smoothed: SmoothedLengths  # type: ignore[assignment]

    held_curvature = LengthCurvature
    heavy_after = LENGTHS.heavy_after
    # Many axes do without a basis of the point's own; tables too small for axes do, too.
    basis_steps = np.inf
    # Whether shares and multipliers stay as they are.
    is_resting = False
    # The step before which the preconditioner was built the last time.
    built_at = 0
    # The power of the mean rises up to this one.
    last_power = LENGTHS.last_power
    # The last model of the loss.
    model: LengthModel | None = None

    def rebuild(self) -> None:
        super().rebuild()
        self.built_at = self.n_iter

    def _needs_rebuild(self) -> bool:
        """Not soon after a model of the loss has built it."""
        is_old = self.n_iter - self.built_at >= LENGTHS.least_age
        return is_old and super()._needs_rebuild()

    @property
    def held(self) -> Floats:
        return self.diameter.held(self.smoothed)

    @property
    def held_along(self) -> Floats:
        return self.diameter.held_along(self.smoothed)[:, None]

    @property
    def spread(self) -> float:
        return super().spread + self.smoothed.lag

    @property
    def most_spread(self) -> float:
        return super().most_spread + self.smoothed.lag

    @property
    def has_settled(self) -> bool:
        if self.has_flips:
            return super().has_settled
        if not self.knows_entries:
            return self.settles(LENGTHS.patience, LENGTHS.settled)
        return self.is_resting or self.settles(LENGTHS.patience, LENGTHS.model_first)

    @property
    def is_sharp(self) -> bool:
        return self.is_resting or super().is_sharp

    def _sharpen_diameter(self) -> None:
        power = self.diameter.power
        if self.n_since <= PRODUCTS.quick_steps:
            power = min(self.last_power, PRODUCTS.power_factor * power)
        self.diameter = self.diameter.adapted(self.smoothed, power)

    def flow(self, tol: float) -> Any:
        if self.is_paid_directly:
            return np.zeros(self.diameter.multipliers.shape)
        return self.diameter.flow(self.smoothed, self.flow_gradient, self.left)

    def repaired(self, tol: float, enough: float = -np.inf) -> Floats:
        """All coefficients are zero where the radius pays for everything else."""
        if not self.is_paid_directly:
            return super().repaired(tol, enough)
        coef = self.coef.copy()
        coef[:, : self.n_touchable] = 0.0
        return coef

    @property
    def is_paid_directly(self) -> bool:
        """Whether the radius pays for a flow that sends the loss's gradient from every
        class to every other.

        It does where all coefficients become zero.  The smoothed lengths are no help there.
        """
        return 2 * _exchange(self.flow_gradient) <= self.left

    @property
    def unbalanced(self) -> float:
        """What a flow must cost at least that has the gradient of the smoothed risk as its
        divergence: the flow of a certificate costs the radius and some share of it."""
        return _exchange(self.gradient[:, : self.n_touchable])


def _exchange(divergence: Floats) -> float:
    """Half the sum of the largest entries of the classes.

    A flow with this divergence (C, T) costs at least so much.  The flow from every class to
    every other costs less than twice as much.
    """
    return 0.5 * float(np.abs(divergence).max(axis=1, initial=0.0).sum())
