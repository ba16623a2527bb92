"""``loss="ramp"``, which trains for the worst-case error.

``problem.ramp`` has the bound, and ``solvers.ramp`` has the method.  This file has the
parameter, the forbidden combinations, the warnings and the fitted attribute.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from ...problem import Certificate, RobustProblem
from ...problem.ramp import RampProblem
from ...robustness.promises.errors.worst_case_error import error_of_rows
from ...solvers import SolverResult, SolverSettings, SolverStatus, Start
from ...solvers.ramp import minimise_ramp
from .steps import RadiusWarning, Training, TrainingData, solver_of, warn_about_gap

RAMP = "ramp"
HINGES = ("hinge", "crammer-singer")


def trains_for_error(estimator: Any) -> bool:
    """Whether the loss is the ramp; refuses unknown losses and forbidden combinations.

    The answer is False for estimators without a parameter ``loss``.
    """
    loss = getattr(estimator, "loss", HINGES[0])
    if not isinstance(loss, str) or loss not in (*HINGES, RAMP):
        allowed = ", ".join(repr(known) for known in (*HINGES, RAMP))
        raise ValueError(f"loss must be one of {allowed}, got {loss!r}.")
    if loss != RAMP:
        return False
    _check_combination(estimator)
    return True


def _check_combination(estimator: Any) -> None:
    if estimator.label_noise == "random":
        raise ValueError(
            "loss='ramp' knows no label_noise='random': use label_noise='adversarial' or "
            "loss='hinge'."
        )
    smoothing = getattr(estimator, "smoothing", 0.0)
    if smoothing != 0:
        raise ValueError(
            f"loss='ramp' knows no smoothing, got smoothing={smoothing!r}: use smoothing=0 "
            "or loss='hinge'."
        )


def forget_error(estimator: Any) -> None:
    """Remove the worst-case error of an earlier fit."""
    vars(estimator).pop("worst_case_error_", None)


def _minimise(
    estimator: Any, problem: RobustProblem, settings: SolverSettings, start: Start | None
) -> Any:
    """Train a classifier for the worst-case error; ``start`` is not used."""
    _check_rows(problem)
    return minimise_ramp(_without_limits(problem), settings, solver_of(estimator))


def _without_limits(problem: RobustProblem) -> RampProblem:
    """The problem in a ball without box and categories that contains its ball.

    The bound holds in the smaller ball too, and the worst-case error is computed there.
    """
    ball = problem.ball.freed(problem.n_features)
    return RampProblem(problem if ball is problem.ball else replace(problem, ball=ball))


def _conclude_error(
    estimator: Any, problem: RobustProblem, data: TrainingData, solved: Any
) -> SolverResult:
    """Keep the exact worst-case error in the estimator.

    The result's objective is an upper bound of that error.  The dual bound is the bound of
    the convex problem on the rows that are right.  It proves that no classifier has a lower
    objective with these rows.
    """
    found: SolverResult = solved
    _say_what_failed(estimator, problem, found)
    error = error_of_rows(problem, found.coef, found.intercept)
    estimator.worst_case_error_ = error
    objective, bound, lam = found.certificate
    # If both are equal, rounding may put the error slightly above its bound.
    certified = Certificate(max(objective, error), bound, lam)
    return replace(found, certificate=certified)


RAMP_TRAINING = Training(_minimise, _conclude_error)


def ramp_constant_value(problem: RobustProblem) -> float:
    """The bound of the best constant classifier."""
    return _without_limits(problem).constant().value


def _say_what_failed(estimator: Any, problem: RobustProblem, found: SolverResult) -> None:
    if found.status is not SolverStatus.CONVERGED:
        warn_about_gap(estimator, problem, found)
    if not found.coef.any() and problem.radius > 0:
        _warn_about_constant(problem, found)


def _check_rows(problem: RobustProblem) -> None:
    if problem.is_distributed:
        raise ValueError(
            "loss='ramp' needs all rows in memory, got a dask collection: use "
            "loss='hinge', or fit on X.compute()."
        )


def _warn_about_constant(problem: RobustProblem, found: SolverResult) -> None:
    value = found.certificate.objective
    warnings.warn(
        f"At radius={problem.radius:g} no classifier was found that withstands more than a "
        f"constant one (worst-case error {value:.4g}). Choose a smaller radius, or "
        "class_weight='balanced' if some classes are rare.",
        RadiusWarning,
        stacklevel=5,
    )
