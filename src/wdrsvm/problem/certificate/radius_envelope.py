r"""Lower bounds of the optimum at every radius, from multipliers found at some radii.

Let f_n(M, b, lam) be the maximum in the objective F (``problem.py``).  Multipliers that
meet the equalities of ``bound.py`` prove, for all lam >= L(M),

    sum_n w_n f_n(M, b, lam)  >=  value - lam spending,
    spending = sigma(G) + sum k phi.

Hence the optimum at any radius is at least

    min over lam >= 0 of  radius lam + max(0, max over multipliers of value - lam spending).

This is the upper concave envelope of the points (spending, value) and the origin, constant
beyond its largest value.  It does not matter at which radius the multipliers were found.
The label cost matters only through the spending.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Floats


class DualPoint(NamedTuple):
    """Multipliers summarised by three numbers: value, sigma(G) and sum k phi."""

    value: float
    on_moves: float
    on_flips: float

    @property
    def spending(self) -> float:
        return self.on_moves + self.on_flips

    def share(self, radius: float) -> float:
        """The factor that scales the multipliers into a budget."""
        return 1.0 if self.spending <= radius else radius / self.spending

    def bound(self, radius: float) -> float:
        """The lower bound that these multipliers alone prove."""
        return self.share(radius) * self.value


NOTHING = DualPoint(0.0, 0.0, 0.0)


def envelope(spending: Floats, value: Floats, radius: float) -> float:
    """The bound at a radius from several points; infinite spending is allowed.

    Parameters
    ----------
    spending, value : ndarray of shape (n_points,)
        The points; the origin is added to them.
    radius : float
        Where the bound is wanted.

    Returns
    -------
    float
        The upper concave envelope there.

    Examples
    --------
    >>> import numpy as np
    >>> from wdrsvm.problem.certificate.radius_envelope import envelope
    >>> print(envelope(np.array([1.0, 3.0]), np.array([0.5, 0.7]), 2.0))
    0.6
    """
    within = spending <= radius
    near_cost = np.append(spending[within], 0.0)
    near = np.append(value[within], 0.0)
    best = float(near.max())
    # The slope to a point of infinite spending is 0.
    beyond = value > best
    if not beyond.any():
        return best
    far_cost, far = spending[beyond], value[beyond]
    slope = (far - near[:, None]) / (far_cost - near_cost[:, None])
    return float((near + slope.max(axis=1) * (radius - near_cost)).max())
