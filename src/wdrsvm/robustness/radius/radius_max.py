r"""The radius beyond which no classifier promises more than a constant one.

The optimum V(radius) is concave and non-decreasing.  Its ceiling V* is the optimum at
lam = 0: coefficients only on features the adversary cannot touch, every possible flip
free.  A feasible (M, b, lam) of objective F at radius r bounds V by its tangent,

    V(r') <= F + lam (r' - r),

so that V cannot reach V* before r + (V* - F) / lam.  Following tangents therefore
climbs to ``radius_max`` from below, whatever the accuracy of the solves.  Of large problems
the tangents are those of their class means (``class_means``), whose ``radius_max`` is an
upper bound at the price of a few rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length

from ...arrays import Codes, Flags, Floats
from ...inputs.arrays import (
    checked_features,
    checked_loss,
    checked_trust,
    nominal_weight,
    observed_classes,
)
from ...problem import Loss, RobustProblem, WassersteinBall, canonical_rows
from ...problem.class_means import class_means
from ...rows.reduce import added
from ...solvers import SolverSettings, solve

MAX_TANGENTS = 100
# Entries of all rows times classes beyond which class means stand for them.
MAX_ENTRIES = 2_000_000


def radius_max(
    X: ArrayLike,
    y: ArrayLike,
    *,
    label_cost: float | ArrayLike = 2.0,
    norm: str = "l2",
    feature_cost: ArrayLike | None = None,
    support: tuple[ArrayLike, ArrayLike] | None = None,
    categorical: Sequence[tuple[ArrayLike, float]] | None = None,
    fit_intercept: bool = True,
    class_weight: dict[Any, float] | str | None = None,
    sample_weight: ArrayLike | None = None,
    label_trust: ArrayLike | None = None,
    loss: str | Loss = "crammer-singer",
    solver: str = "auto",
    tol: float = 1e-4,
) -> float:
    """Smallest radius at which a constant classifier is as robust as any.

    A larger radius leaves nothing to learn.  Of large data (rows times features times
    classes above two million) an upper bound of it: that of the class means, at which it
    is proven too that nothing beats a constant classifier.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Labels.
    label_cost, norm, feature_cost, support, categorical
        Shape of the ball, as for :class:`wdrsvm.WassersteinBall`.
    fit_intercept : bool, default=True
        Whether classifiers have an intercept.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights, class by class.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    label_trust : array-like of shape (n_samples,), default=None
        Factors on the label cost, row by row.
    loss : {"crammer-singer", "logistic"} or Loss, default="crammer-singer"
        The loss.
    solver : str, default="auto"
        Solver of the training problems on the way.
    tol : float, default=1e-4
        At the radius returned the optimum is within this share of its ceiling.  Except
        for large data, the radius is a lower bound of the exact one.

    Returns
    -------
    float
        The radius; 0 if even without an adversary nothing beats a constant classifier.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from wdrsvm import radius_max
    >>> X, y = load_iris(return_X_y=True)
    >>> print(f"{radius_max(scale(X), y, label_cost=2.0):.2f}")
    0.43
    """
    features = checked_features(X)
    classes, codes = observed_classes(y)
    check_consistent_length(features, codes)
    weight = nominal_weight(sample_weight, class_weight, classes, codes)
    rows = canonical_rows(features, codes, weight, checked_trust(label_trust, len(codes)))
    problem = RobustProblem.of(
        rows.X,
        rows.y,
        rows.weight,
        WassersteinBall(0.0, label_cost, norm, feature_cost, support, categorical),
        n_classes=len(classes),
        fit_intercept=fit_intercept,
        label_trust=rows.label_trust,
        loss=checked_loss(loss),
    )
    return radius_max_of(problem, tol, solver)


def radius_max_of(problem: RobustProblem, tol: float = 1e-4, solver: str = "auto") -> float:
    """:func:`radius_max` of a problem, whose own radius does not matter.

    Parameters
    ----------
    problem : RobustProblem
        Data, ball and loss.
    tol : float, default=1e-4
        Share of the ceiling that the optimum may lack at the radius returned.
    solver : str, default="auto"
        Solver of the training problems on the way.

    Returns
    -------
    float
        The radius.

    Examples
    --------
    >>> import numpy as np
    >>> from wdrsvm import WassersteinBall
    >>> from wdrsvm.problem import RobustProblem
    >>> from wdrsvm.robustness import radius_max_of
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    >>> problem = RobustProblem.of(X, y, np.full(2, 0.5), WassersteinBall(0.0), n_classes=2)
    >>> round(radius_max_of(problem), 3)
    1.0
    """
    if _is_large(problem):
        problem = class_means(problem)
    top = limit_classifier(problem, solver).risk
    settings = SolverSettings(tol=tol / 10)
    radius = 0.0
    for _ in range(MAX_TANGENTS):
        found = solve(problem.with_radius(radius), solver, settings).certificate
        if found.objective >= top * (1 - tol) or found.lam == 0:
            break
        radius += (top - found.objective) / found.lam
    return radius


def _is_large(problem: RobustProblem) -> bool:
    n_entries = problem.n_rows * (problem.n_features + 1) * problem.n_classes
    return n_entries > MAX_ENTRIES


class LimitClassifier(NamedTuple):
    """The best classifier at lam = 0, and its risk: the ceiling of the optimum."""

    coef: Floats
    intercept: Floats
    risk: float


def limit_classifier(problem: RobustProblem, solver: str = "auto") -> LimitClassifier:
    """What the optimal classifier tends to as the radius grows."""
    cost = np.where(np.isfinite(problem.label_cost), 0.0, np.inf)
    coef = np.zeros((problem.n_classes, problem.n_features))
    if np.isfinite(cost).all() and not _some_are_trusted(problem):
        # Any label at no cost: by convexity and symmetry equal scores are best.
        level = problem.loss.of_equal_scores(problem.n_classes)
        return LimitClassifier(coef, np.zeros(problem.n_classes), level)
    mass = _masses_that_decide(problem, cost)
    if mass is not None and (known := _best_constant(problem.loss, mass)) is not None:
        return LimitClassifier(coef, *known)
    limit = _untouchable_problem(problem, cost)
    found = solve(limit, solver, SolverSettings(tol=1e-8))
    coef[:, np.isinf(problem.feature_cost)] = found.coef
    return LimitClassifier(coef, found.intercept, found.certificate.objective)


def _masses_that_decide(problem: RobustProblem, cost: Floats) -> Floats | None:
    """The masses of the classes (C,), where the best intercepts depend on them alone.

    So it is for trusted labels and no feature to look at; else None.
    """
    flips = cost[~np.eye(problem.n_classes, dtype=bool)]
    looks = np.isinf(problem.feature_cost).any() or not problem.fit_intercept
    if looks or np.isfinite(flips).any():
        return None
    with problem.reduction() as reduction:
        mass = reduction.fold(_mass_of_labels, added).sum(axis=1)
    return mass if (mass > 0).all() else None


def _best_constant(loss: Loss, mass: Floats) -> tuple[Floats, float] | None:
    """The best intercepts and their risk for trusted labels with these masses (C,).

    The best probabilities are the shares.  With a hinge, equal scores cost the margin in
    each row.  A class with more than half of the mass wins instead, by the margin: its rows
    cost nothing, the others twice the margin.  None for other losses.
    """
    total = float(mass.sum())
    if loss.temperature == 0:
        largest = float(mass.max())
        wins = np.where(mass == largest, loss.margin * (2 * largest > total), 0.0)
        return wins, loss.margin * min(total, 2 * (total - largest))
    if loss.margin > 0:
        return None
    intercept = loss.temperature * np.log(mass / total)
    return intercept, float(-mass @ intercept)


def _some_are_trusted(problem: RobustProblem) -> bool:
    if not problem.rows.with_trust:
        return False
    with problem.reduction() as reduction:
        return bool(reduction.fold(_any_trusted, np.logical_or))


def _any_trusted(problem: RobustProblem, rows: slice) -> Any:
    return _trusted(problem, rows).any()


def _trusted(problem: RobustProblem, rows: slice) -> Flags:
    if problem.label_trust is None:
        return np.zeros(len(problem.y[rows]), dtype=bool)
    return np.asarray(np.isinf(problem.label_trust[rows]))


def _untouchable_problem(problem: RobustProblem, cost: Floats) -> RobustProblem:
    """Without an adversary, on the features it could not have touched."""
    untouchable = np.flatnonzero(np.isinf(problem.feature_cost))
    ball = WassersteinBall(0.0, cost, problem.ball.norm)
    if len(untouchable):
        return problem.by_chunks(partial(_without_adversary, untouchable, ball))
    with problem.reduction() as reduction:
        mass = reduction.fold(_mass_of_labels, added)
    # One row for each label, trusted or not: without features the others repeat it.
    label, is_trusted = np.nonzero(mass)
    return RobustProblem.of(
        np.empty((len(label), 0)),
        label,
        mass[label, is_trusted],
        ball,
        problem.n_classes,
        problem.fit_intercept,
        np.where(is_trusted, np.inf, 1.0),
        loss=problem.loss,
    )


def _without_adversary(
    columns: Codes, ball: WassersteinBall, problem: RobustProblem
) -> RobustProblem:
    trusted = np.where(_trusted(problem, slice(None)), np.inf, 1.0)
    shaped = problem.with_rows(X=problem.X[:, columns], label_trust=trusted)
    return replace(shaped, ball=ball, lipschitz="exact")


def _mass_of_labels(problem: RobustProblem, rows: slice) -> Floats:
    """Mass of each label whose rows are not trusted, and are, shape (C, 2)."""
    group = 2 * problem.y[rows] + _trusted(problem, rows)
    mass = np.bincount(group, problem.weight[rows], 2 * problem.n_classes)
    return mass.astype(np.float64).reshape(problem.n_classes, 2)
