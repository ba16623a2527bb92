"""Choose the way to train: a function that solves, and a function that concludes.

An ordinary fit solves one convex problem.  Random label noise (``label_noise``) and the
worst-case error (``ramp``) need several convex problems and other conclusions.
"""

from __future__ import annotations

from typing import Any

from ...robustness.paths.constant_points import constant_risks
from .label_noise import DOUBTING, doubted_constant_value, doubts_labels, forget_beliefs
from .ramp import RAMP_TRAINING, forget_error, ramp_constant_value, trains_for_error
from .steps import ORDINARY, Training


def training_of(estimator: Any) -> Training:
    """The way to train for these parameters; forbidden combinations are refused."""
    doubting = doubts_labels(estimator)
    if trains_for_error(estimator):
        return RAMP_TRAINING
    return DOUBTING if doubting else ORDINARY


def is_convex(estimator: Any) -> bool:
    """Whether a fit solves one convex problem only."""
    return training_of(estimator) is ORDINARY


def disbelieves(estimator: Any) -> bool:
    """Whether a fit may disbelieve labels."""
    return training_of(estimator) is DOUBTING


def forget_earlier(estimator: Any) -> None:
    """Remove attributes that only an earlier fit with other parameters sets."""
    forget_beliefs(estimator)
    forget_error(estimator)


def constant_value(estimator: Any, data: Any) -> float:
    """The objective of the best constant classifier, for the estimator's parameters."""
    problem = estimator._problem(data, estimator._ball())
    training = training_of(estimator)
    if training is RAMP_TRAINING:
        return ramp_constant_value(problem)
    if training is DOUBTING:
        return doubted_constant_value(estimator, problem)
    radius, cost = problem.radius, problem.ball.label_cost
    return float(constant_risks(problem, [radius], [cost])[0, 0])
