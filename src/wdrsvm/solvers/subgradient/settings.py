"""The settings of Algorithm 1, of the stochastic method and of a stream, on one page."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..result import SolverSettings

STEP_RULE_NAMES = ("polyak", "1/t", "1/sqrt(t)")


@dataclass(frozen=True)
class SubgradientSettings(SolverSettings):
    """Settings of Algorithm 1.

    Parameters
    ----------
    tol, max_iter, seed, callback
        As for every solver; ``max_iter`` is the paper's T, ``default_max_iter`` if None.
    step_rule : {"polyak", "1/t", "1/sqrt(t)"}, default="polyak"
        Length of the steps.  ``"1/t"`` is the paper's.
    step0 : float or None, default=None
        sigma_0 of the rules in t; a factor, between 0 and 2, on Polyak's step.  None tries
        five powers of ten for 30 iterations each, which ``max_iter`` does not count.  The
        best of them becomes sigma_0.  Polyak's steps then start from its last point, with
        the factor 1.
    average : bool, default=True
        Whether the average of the iterates is a candidate besides the best iterate.  Later
        iterates have more weight in the average.
    certify : bool, default=True
        Whether to look for a lower bound of the optimum.  Without it the bound is -inf
        and all iterations are run.
    default_max_iter : int, default=2000
        See ``max_iter``.
    record_factor, judge_factor : float, default=1.2, 2.0
        The next line of history, and the next certificate, come at the last iteration of
        this kind times the factor.
    first_judgement : int, default=250
        Iteration of the first certificate.
    projection_rtol : float, default=1e-9
        Rounds of the projection for l2 and linf end at this relative change.  More accuracy
        does not improve a step.
    patience : int, default=30
        Iterations without progress after which Polyak's target moves nearer.
    slack_growth : float, default=1.5
        Factor on the slack of Polyak's target after a gain.
    slack_floor : float, default=0.1
        The slack of Polyak's target is at least this share of F / sqrt(t).
    trial_steps : tuple of float, default=(1, 10, 100, 1000, 10000)
        Steps that are tried if ``step0`` is None, as multiples of the step that brings F
        to 0 if F is linear.
    trial_iter : int, default=30
        Iterations of each trial.
    tangent_share : float, default=0.1
        Share of the last step at which the tangent of the set is measured.
    """

    step_rule: str = "polyak"
    step0: float | None = None
    average: bool = True
    certify: bool = True
    default_max_iter: int = 2000
    record_factor: float = 1.2
    judge_factor: float = 2.0
    first_judgement: int = 250
    projection_rtol: float = 1e-9
    patience: int = 30
    slack_growth: float = 1.5
    slack_floor: float = 0.1
    trial_steps: tuple[float, ...] = (1.0, 10.0, 100.0, 1e3, 1e4)
    trial_iter: int = 30
    tangent_share: float = 0.1

    def __post_init__(self) -> None:
        if self.step_rule not in STEP_RULE_NAMES:
            allowed = ", ".join(repr(rule) for rule in STEP_RULE_NAMES)
            raise ValueError(f"step_rule must be one of {allowed}, got {self.step_rule!r}.")
        if self.step0 is not None and not 0 < self.step0 < np.inf:
            raise ValueError(f"step0 must be a finite number > 0, got {self.step0!r}.")

    @classmethod
    def of(cls, settings: SolverSettings) -> SubgradientSettings:
        """These settings, or the defaults of this method around plain ones."""
        return settings if isinstance(settings, cls) else cls(**_common(settings))


@dataclass(frozen=True)
class StreamSettings:
    """Settings of a stream of mini-batches.

    Parameters
    ----------
    batch_size : int
        Rows per step.
    block_rows : int
        Number of rows that are made dense and standardised together.
    penalty : float
        The penalty of a violated norm constraint is this number times the radius.  The
        penalty is exact from 1 on.
    first_reach : float
        The first reach, in units of the scores.  It is small, because a reach only grows.
    mean_power : int
        The weight of an iterate in the mean is this power of its number.
    flip_share : float
        Unit of lam as a share of the cheapest flip.
    """

    batch_size: int = 32
    block_rows: int = 4096
    penalty: float = 2.0
    first_reach: float = 1e-2
    mean_power: int = 3
    flip_share: float = 0.1


STREAM = StreamSettings()


@dataclass(frozen=True)
class StochasticSettings(SolverSettings):
    """Settings of the stochastic method.

    Parameters
    ----------
    tol, max_iter, seed, callback
        As for every solver; ``max_iter`` counts epochs, ``default_max_iter`` if None.
    batch_size : int, default=32
        Rows per step.
    validation_share : float, default=0.1
        Share of the rows that is held out to decide when to stop.  If these are fewer than
        ``min_validation`` rows, all rows are used for training and for stopping.
    min_validation : int, default=500
        See ``validation_share``.
    patience : int, default=5
        Epochs without progress after which to stop.
    progress : float, default=1e-3
        The risk must fall by this share to count as progress.
    default_max_iter : int, default=100
        See ``max_iter``.
    bound_mus : tuple of float, default=(0.1, 0.03, 0.01)
        Smoothings whose multipliers are tried for a bound at the end.
    """

    batch_size: int = STREAM.batch_size
    validation_share: float = 0.1
    min_validation: int = 500
    patience: int = 5
    progress: float = 1e-3
    default_max_iter: int = 100
    bound_mus: tuple[float, ...] = (0.1, 0.03, 0.01)

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise ValueError(f"batch_size must be >= 1, got {self.batch_size!r}.")
        if not 0 <= self.validation_share < 1:
            raise ValueError(
                f"validation_share must be >= 0 and < 1, got {self.validation_share!r}."
            )

    @classmethod
    def of(cls, settings: SolverSettings) -> StochasticSettings:
        """These settings, or the defaults of this method around plain ones."""
        return settings if isinstance(settings, cls) else cls(**_common(settings))


def _common(settings: SolverSettings) -> dict[str, Any]:
    """The settings that all solvers have."""
    return {each.name: getattr(settings, each.name) for each in fields(SolverSettings)}
