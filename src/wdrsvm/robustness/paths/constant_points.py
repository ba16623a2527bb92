"""Constant classifiers: what the best of them promises at each point of a grid."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ...arrays import Floats
from ...problem import RobustProblem, WassersteinBall
from ...problem.norms import TINY
from ...solvers import SolverSettings, solve
from .plane import solve_plane

# A classifier is as good as constant if its risk is within this share of a constant one's.
CONSTANT_SHARE = 0.01
# The risks of constant classifiers must be known to a small part of this share.
ENOUGH = SolverSettings(tol=1e-4)


def without_features(problem: RobustProblem) -> RobustProblem:
    """The problem of classifiers without features: one row per label and trust."""
    trust = problem.label_trust
    trust = np.ones(len(problem.y)) if trust is None else np.asarray(trust, dtype=float)
    kinds, kind = np.unique(np.stack([problem.y, trust]), axis=1, return_inverse=True)
    weight = np.bincount(kind.ravel(), problem.weight, kinds.shape[1]).astype(np.float64)
    ball = WassersteinBall(problem.radius, problem.ball.label_cost, problem.ball.norm)
    return RobustProblem.of(
        np.zeros((kinds.shape[1], 1)),
        kinds[0].astype(np.intp),
        weight,
        ball,
        problem.n_classes,
        problem.fit_intercept,
        None if problem.label_trust is None else kinds[1],
        loss=problem.loss,
    )


def best_intercept(problem: RobustProblem) -> Floats:
    """The intercepts of the best constant classifier for trusted labels.

    With a softmax without a margin these are the logarithms of the class weights.
    """
    loss = problem.loss
    if loss.temperature == 0 or loss.margin != 0 or not problem.fit_intercept:
        return solve(without_features(problem), settings=ENOUGH).intercept
    weight = np.bincount(problem.y, problem.weight, problem.n_classes)
    return loss.temperature * np.log(np.maximum(weight, TINY))


def constant_risks(
    problem: RobustProblem,
    radii: Sequence[float],
    label_costs: Sequence[Any],
    wanted: Collection[tuple[int, int]] | None = None,
) -> Floats:
    """Worst-case risks of the best constant classifiers, shape (radii, label costs).

    NaN where ``wanted``, which is as for ``solve_plane``, leaves a point out.
    """
    alone = without_features(problem)
    found = solve_plane(alone, radii, label_costs, settings=ENOUGH, wanted=wanted)
    risks = np.full((len(radii), len(label_costs)), np.nan)
    for place, result in found.items():
        risks[place] = result.certificate.objective
    return risks


def is_as_good_as_constant(risk: Any, constant_risk: Any) -> Any:
    """Whether certified risks promise hardly more than constant classifiers."""
    return np.asarray(risk) >= (1 - CONSTANT_SHARE) * np.asarray(constant_risk)
