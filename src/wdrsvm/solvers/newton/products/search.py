r"""How far to go along a step.

Where scores are kept (``line``), a length costs little to look at: the search goes on until
the slope there is a small share of the first one.  Elsewhere each length costs a pass, and
the first one at which the risk falls is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ....arrays import Floats
from .design import LossSums
from .diameter import Smoothed
from .settings import PRODUCTS

if TYPE_CHECKING:
    from .line import Line
    from .steps import Descent


class Place(NamedTuple):
    """Coefficients (C, Q), the norm and the sums of the loss there."""

    coef: Floats
    smoothed: Smoothed
    sums: LossSums


class End(NamedTuple):
    """One end of the lengths still looked at, and the risk's slope there."""

    length: float
    slope: float


def backtrack(descent: Descent, step: Floats, slope: float) -> Place | None:
    """Shorten the step until the smoothed risk falls; None if it never does."""
    length, risk = 1.0, descent.smooth_risk
    for _ in range(PRODUCTS.max_trials):
        place = descent.place(descent.coef + length * step)
        rise = descent.smooth_risk_of(place.smoothed, place.sums) - risk
        after = descent.gradient_of(place.smoothed, place.sums)
        is_level = rise <= PRODUCTS.risk_rounding * risk
        is_flatter = np.vdot(after, step) <= -PRODUCTS.max_slope * slope
        enough = PRODUCTS.least_gain * length * slope
        if rise <= enough or (is_level and is_flatter):
            return place
        lowest = -slope * length / (2 * (rise - slope * length))
        length *= min(max(lowest, 0.1), 0.5)
    return None


def along_line(line: Line, descent: Descent, step: Floats, slope: float) -> Place | None:
    """Where the smoothed risk is about the least along the step; None if it never falls."""
    line.aim(step)
    risk, n = descent.smooth_risk, descent.n_touchable
    length, low, high = 1.0, End(0.0, slope), None
    for trial in range(PRODUCTS.max_trials):
        coef = descent.coef + length * step
        smoothed, ahead = descent.smoothed_at(coef), line.look(length)
        tilt = ahead.slope + descent.radius * float(np.vdot(smoothed.gradient, step[:, :n]))
        rise = descent.radius * smoothed.value + ahead.loss - risk
        is_level = rise <= PRODUCTS.risk_rounding * risk
        is_flat = abs(tilt) <= -PRODUCTS.flat * slope
        is_late = trial >= PRODUCTS.line_trials
        enough = PRODUCTS.least_gain * length * slope
        if (is_level and is_flat) or (is_late and rise <= enough):
            return Place(coef, smoothed, line.arrive(coef, ahead, slope))
        end = End(length, tilt)
        low, high = (end, high) if is_level and tilt < 0 else (low, end)
        length = _between(low, high)
    return None


def _between(low: End, high: End | None) -> float:
    """The next length: where a straight line through the slopes is zero, not too close to
    an end; beyond the lower end if there is no other."""
    if high is None:
        return PRODUCTS.longer * low.length
    share = low.slope / (low.slope - high.slope) if high.slope > 0 else 0.5
    share = min(max(share, PRODUCTS.least_cut), 1 - PRODUCTS.least_cut)
    return low.length + share * (high.length - low.length)
