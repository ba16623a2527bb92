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


NO_GRADIENT = np.empty((0, 0))


class Place(NamedTuple):
    """Coefficients (C, Q), the norm and the sums of the loss there."""

    coef: Floats
    smoothed: Smoothed
    sums: LossSums


class End(NamedTuple):
    """One end of the lengths still looked at, the risk's slope there, and whether the risk
    is higher than at the start."""

    length: float
    slope: float
    has_risen: bool = False


def search(descent: Descent, step: Floats, slope: float) -> Place | None:
    """Where to go along the step; None if the smoothed risk never falls."""
    if descent.line is None:
        return backtrack(descent, step, slope)
    return along_line(descent.line, descent, step, slope)


def backtrack(descent: Descent, step: Floats, slope: float) -> Place | None:
    """Shorten the step until the smoothed risk falls; None if it never does."""
    length, risk = 1.0, descent.smooth_risk
    for _ in range(PRODUCTS.max_trials):
        coef = descent.coef + length * step
        smoothed = descent.smoothed_at(coef)
        place = Place(coef, smoothed, descent.sums_at(coef, smoothed.value))
        rise = descent.smooth_risk_of(place.smoothed, place.sums) - risk
        after = descent.gradient_of(place.smoothed, place.sums)
        if _suffices(rise, risk, float(np.vdot(after, step)), slope, length):
            return place
        lowest = -slope * length / (2 * (rise - slope * length))
        length *= min(max(lowest, 0.1), 0.5)
    return None


def along_line(line: Line, descent: Descent, step: Floats, slope: float) -> Place | None:
    """Where the smoothed risk is about the least along the step; None if it never falls."""
    line.aim(step)
    risk, n = descent.smooth_risk, descent.n_touchable
    length, low, high = 1.0, End(0.0, slope), None
    for trial in range(PRODUCTS.max_looks):
        coef = descent.coef + length * step
        smoothed = descent.smoothed_at(coef)
        told = descent.told(smoothed)
        ahead = line.look(length, *told)
        sums = ahead.sums(NO_GRADIENT)
        on_norm = descent.left_at(smoothed, sums)
        tilt = ahead.slope + on_norm * float(np.vdot(smoothed.gradient, step[:, :n]))
        rise = descent.smooth_risk_of(smoothed, sums) - risk
        is_best = _is_level(rise, risk) and abs(tilt) <= -PRODUCTS.flat * slope
        is_late = trial >= PRODUCTS.patient_looks
        if is_best or (is_late and _suffices(rise, risk, tilt, slope, length)):
            return Place(coef, smoothed, line.arrive(coef, ahead, slope, *told))
        end = End(length, tilt, not _is_level(rise, risk))
        low, high = (end, high) if tilt < 0 and not end.has_risen else (low, end)
        length = _between(low, high)
    return None


def _is_level(rise: float, risk: float) -> bool:
    """Whether the risk has fallen, or risen by no more than rounding."""
    return rise <= PRODUCTS.risk_rounding * risk


def _suffices(rise: float, risk: float, tilt: float, slope: float, length: float) -> bool:
    """Whether the risk has fallen, or is level where its slope has become smaller."""
    is_flatter = tilt <= -PRODUCTS.max_slope * slope
    has_fallen = rise <= PRODUCTS.least_gain * length * slope
    return has_fallen or (_is_level(rise, risk) and is_flatter)


def _between(low: End, high: End | None) -> float:
    """The next length: where a straight line through the slopes is zero, not too close to
    an end; beyond the lower end if there is no other.

    Where a parabola has risen above its start, its lowest point lies before the middle.
    """
    if high is None:
        return PRODUCTS.longer * low.length
    share = low.slope / (low.slope - high.slope) if high.slope > 0 else 0.5
    is_early = low.length == 0 and high.has_risen
    share = min(share, 0.5 if is_early else 1 - PRODUCTS.least_cut)
    share = max(share, PRODUCTS.least_cut)
    return low.length + share * (high.length - low.length)
