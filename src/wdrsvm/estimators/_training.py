"""How an estimator is trained: its problem is solved, and the result concluded.

An ordinary fit solves one convex problem.  Doubting labels (``_label_noise``) and training
for the worst-case error (``_ramp``) solve several, and bring their own conclusion.
"""

from __future__ import annotations

from typing import Any

from ..robustness.paths.constant_points import constant_risks
from ._fit import ORDINARY, Training
from ._label_noise import DOUBTING, doubted_constant_value, doubts_labels, forget_beliefs
from ._ramp import RAMP_TRAINING, forget_error, ramp_constant_value, trains_for_error


def training_of(estimator: Any) -> Training:
    """The way that the parameters ask for; refuses what does not go together."""
    doubting = doubts_labels(estimator)
    if trains_for_error(estimator):
        return RAMP_TRAINING
    return DOUBTING if doubting else ORDINARY


def is_convex(estimator: Any) -> bool:
    """Whether a fit is one convex problem."""
    return training_of(estimator) is ORDINARY


def forget_earlier(estimator: Any) -> None:
    """Remove what only an earlier fit, with other parameters, knew."""
    forget_beliefs(estimator)
    forget_error(estimator)


def constant_value(estimator: Any, data: Any) -> float:
    """What the best constant classifier reaches with the estimator's parameters."""
    problem = estimator._problem(data, estimator._ball())
    training = training_of(estimator)
    if training is RAMP_TRAINING:
        return ramp_constant_value(problem)
    if training is DOUBTING:
        return doubted_constant_value(estimator, problem)
    radius, cost = problem.radius, problem.ball.label_cost
    return float(constant_risks(problem, [radius], [cost])[0, 0])
