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
        Limits of disbelief, each of which goes on from the best end of the one before.
    disbelief_landmarks : tuple of float
        Those limits at which all starts are tried again.
    n_folds : int
        Folds whose classifiers score the rows they have not seen.
    softness : float
        Softness of the smooth worst-case errors that "ramp" descends on.
    radius_shares : tuple of float
        Shares of the radius at which "ramp" takes these errors.  A smaller radius gives
        fewer classes up.
    soft_rounds : int
        Rounds of such a descent; each takes the multiplier anew.
    soft_steps : int
        Steps of each round, at most: more of them learn the rows by heart.
    soft_memory : int
        Steps that the quasi-Newton directions of such a descent remember.
    soft_trials : int
        Lengths of a step that are tried, at most.  More of them only help to come closer to
        a kink.
    soft_least_fall : float
        A step falls by at least this share of what its slope promises.
    soft_flatter : float
        The slope at the end of a step is at most this share of the slope at its beginning.
    soft_least_slope : float
        A descent ends where no entry of the gradient is larger.
    soft_negligible : float
        A descent ends if a step gains less.
    soft_many_scores : int
        Numbers of scores from which on Ctrl-C is heard at every trial.
    least_bought : float
        The softness is measured by the cost of making this share of the weight wrong, at
        least: a small budget would leave the descent too few rows.
    plain_weight : float
        How many points of worst-case error one point of plain error is worth, both of rows
        left out.
    """

    rough_tol: float = 1e-2
    max_rounds: int = 200
    negligible_fall: float = 1e-3
    price_factors: tuple[float, ...] = (4.0, 2.0, 1.0)
    disbelief_limits: tuple[float, ...] = tuple(k / 20 for k in range(1, 20))
    disbelief_landmarks: tuple[float, ...] = tuple(k / 10 for k in range(1, 10))
    n_folds: int = 3
    softness: float = 0.5
    radius_shares: tuple[float, ...] = (1.0, 0.25)
    soft_rounds: int = 2
    soft_steps: int = 20
    soft_memory: int = 10
    soft_trials: int = 5
    soft_least_fall: float = 1e-3
    soft_flatter: float = 0.9
    soft_least_slope: float = 1e-5
    soft_negligible: float = 2e-9
    soft_many_scores: int = 100_000
    least_bought: float = 0.05
    plain_weight: float = 0.7


DESCENT = DescentSettings()
