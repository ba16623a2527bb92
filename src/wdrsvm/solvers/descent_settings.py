"""The tuning numbers of the descents on objectives that are not convex, on one page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DescentSettings:
    """What the rounds of "label_noise" and of "ramp" go by.

    Parameters
    ----------
    rough_tol : float
        Gap of the fits on the way: the rows kept hardly change below it.
    max_rounds : int
        Rounds of the last descent, at most.
    negligible_fall : float
        A fall of the objective by less than this share of the tolerance counts as none.
    price_factors : tuple of float
        Factors on the price of disbelief, on the way from belief in all labels to the
        prices asked for.
    disbelief_limits : tuple of float
        Limits of disbelief whose ends a larger limit may keep.
    n_folds : int
        Folds whose classifiers score the rows they have not seen.
    ramp_rough_rounds : int
        Rounds of a rough descent on the ramp bound: most end before.
    ramp_smaller_radius : float
        The smaller radius of a start, as a share of the one asked for.
    ramp_far_wrong : float
        A start leaves out the rows that lose more than this: they are wrong by far.
    """

    rough_tol: float = 1e-2
    max_rounds: int = 200
    negligible_fall: float = 1e-3
    price_factors: tuple[float, ...] = (4.0, 2.0, 1.0)
    disbelief_limits: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    n_folds: int = 3
    ramp_rough_rounds: int = 4
    ramp_smaller_radius: float = 0.3
    ramp_far_wrong: float = 2.0


DESCENT = DescentSettings()
