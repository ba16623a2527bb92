"""Random label noise: ``label_noise="random"``.

``problem.label_noise`` has the objective, and ``solvers.label_noise`` has the method.
This file has the parameters, the warnings and the fitted attributes.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...problem import RobustProblem
from ...problem.ball import as_float
from ...problem.label_noise import Beliefs, DoubtedProblem
from ...robustness.paths.constant_points import best_intercept
from ...solvers import SolverResult, SolverSettings, Start
from ...solvers.descent_settings import DESCENT
from ...solvers.label_noise import disbelieve
from .steps import Training, TrainingData, check_choice, concluded, solver_of

# A label is believed if the belief in it is at least this.
LIKELY = 0.5


class DisbeliefWarning(UserWarning):
    """The limit on disbelieved labels was reached: a fit without it would disbelieve more.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import load_iris
    >>> from wdrsvm import DisbeliefWarning, RobustLinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RobustLinearSVC(label_cost=0.01, label_noise="random", max_disbelief=0.1)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", DisbeliefWarning)
    ...     _ = model.fit(X, y)
    >>> caught[0].category.__name__
    'DisbeliefWarning'
    """


def check_label_noise(estimator: Any) -> None:
    """Refuse invalid parameters of label noise."""
    check_choice(estimator, "label_noise", ("adversarial", "random"))
    check_choice(estimator, "disbelief", ("trim", "repair"))
    share = estimator.max_disbelief
    is_number = isinstance(share, Real) and not isinstance(share, bool)
    if not is_number or not 0 <= as_float(share) < 1:
        raise ValueError(f"max_disbelief must be a number >= 0 and < 1, got {share!r}.")


def doubts_labels(estimator: Any) -> bool:
    """Whether the estimator assumes random label noise."""
    check_label_noise(estimator)
    return bool(estimator.label_noise == "random")


def _disbelieve(
    estimator: Any, problem: RobustProblem, settings: SolverSettings, start: Start | None
) -> Any:
    """Fit a classifier that may disbelieve labels at the cost ``label_cost``."""
    doubted = doubted_problem(estimator, problem)
    return disbelieve(doubted, settings, start, solver_of(estimator))


def check_can_doubt(problem: RobustProblem) -> None:
    """Refuse problems whose labels cannot be doubted."""
    if problem.is_distributed:
        raise ValueError(
            "label_noise='random' needs all rows in memory, got a dask collection: use "
            "label_noise='adversarial', or fit on X.compute()."
        )


def _conclude_doubts(
    estimator: Any, problem: RobustProblem, data: TrainingData, point: Any
) -> SolverResult:
    """Keep the beliefs in the estimator.

    The result's objective is the objective with beliefs.  The dual bound is the bound of
    the convex problem for the final beliefs.  It proves that the classifier is optimal
    for these beliefs, and does not prove that the beliefs are optimal.
    """
    believed = concluded(estimator, point.piece.problem, point.found, point.piece.mass)
    if not point.settled:
        _warn_about_rounds(estimator)
    if point.beliefs.guarded:
        _warn_about_guards(estimator)
    keep_beliefs(estimator, point.beliefs, data)
    return replace(believed, certificate=point.piece.certified(believed.certificate))


DOUBTING = Training(_disbelieve, _conclude_doubts)


def doubted_problem(estimator: Any, problem: RobustProblem) -> DoubtedProblem:
    """The problem with the estimator's way to disbelieve labels."""
    check_can_doubt(problem)
    share = float(estimator.max_disbelief)
    return DoubtedProblem(problem, estimator.disbelief == "repair", share)


def doubted_constant_value(estimator: Any, problem: RobustProblem) -> float:
    """The objective of the best constant classifier under random label noise.

    It is the best of three constant classifiers.  The first gives all classes equal
    scores.  The second is optimal if all labels are believed.  The third is optimal for
    the beliefs that follow from the second.
    """
    doubted = doubted_problem(estimator, problem)
    nothing = np.zeros((problem.n_classes, problem.n_features))
    intercepts = [np.zeros(problem.n_classes)]
    beliefs = doubted.all_believed
    for _ in range(2):
        believed = doubted.convex_piece(beliefs).problem
        intercepts.append(best_intercept(believed))
        beliefs = doubted.beliefs(nothing, intercepts[-1])
    return min(doubted.value(nothing, intercept) for intercept in intercepts)


def _warn_about_rounds(estimator: Any) -> None:
    warnings.warn(
        f"{type(estimator).__name__} stopped after {DESCENT.max_rounds} rounds, although a "
        "change of beliefs would still lower the objective. Raise label_cost or tol.",
        ConvergenceWarning,
        stacklevel=4,
    )


def _warn_about_guards(estimator: Any) -> None:
    warnings.warn(
        f"{type(estimator).__name__} would disbelieve more labels at this label_cost than "
        f"max_disbelief={estimator.max_disbelief:g} of the weight, or all of a class. "
        "Raise label_cost, or max_disbelief if so many labels are wrong.",
        DisbeliefWarning,
        stacklevel=4,
    )


def keep_beliefs(estimator: Any, beliefs: Beliefs, data: TrainingData) -> None:
    """Keep one belief and one label per given row; rows without weight are believed."""
    became = data.rows.became
    weighed = became >= 0
    belief = np.ones(len(became))
    belief[weighed] = beliefs.belief[became[weighed]]
    given = data.codes.copy()
    likelier = np.where(beliefs.belief < LIKELY, beliefs.label, data.rows.y)
    given[weighed] = likelier[became[weighed]]
    estimator.label_belief_ = belief
    estimator.suggested_labels_ = data.classes[given]


def forget_beliefs(estimator: Any) -> None:
    """Remove the beliefs of an earlier fit."""
    for name in ("label_belief_", "suggested_labels_"):
        vars(estimator).pop(name, None)
