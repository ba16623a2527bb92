"""The largest share of wrong predictions over all distributions in a ball."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ....arrays import Floats
from ....inputs.dask_collections import is_lazy
from ....problem import RobustProblem, WassersteinBall
from ..worst_case import has_kernel, last_classifier
from .curve_points import error_at
from .error_curve import CurveRows, ErrorCurve, Wording, curve_of
from .row_costs import RowCosts, check_space, lazy_error, row_costs
from .wrong_costs import WrongCosts


def worst_case_error(
    classifier: Any,
    X: ArrayLike,
    y: ArrayLike,
    ball: WassersteinBall,
    *,
    sample_weight: ArrayLike | None = None,
    label_trust: ArrayLike | None = None,
    space: str = "features",
) -> float:
    """Largest share of wrong predictions over all distributions in a ball around the data.

    Exact, and little dearer than predicting: the adversary makes those rows wrong for which
    it is cheapest, until its budget is spent.  A row whose largest score is tied counts as
    wrong.

    Parameters
    ----------
    classifier : object
        A fitted linear classifier with ``coef_``, ``intercept_`` and ``classes_``,
        such as scikit-learn's, a :class:`~wdrsvm.RobustSVC`, or a pipeline that ends in
        one.  A fitted search of scikit-learn stands for its ``best_estimator_``.  The ball
        of a pipeline lies in the space of its last step, what the steps before it give;
        that of a kernel model in its feature space.
    X : {array-like, sparse matrix, dask collection} of shape (n_samples, n_features)
        Features.  Arrays and memory maps are read block by block; rows of a dask array or
        data frame stay where they are, and only sums by cost leave them.
    y : array-like of shape (n_samples,)
        Labels, each one of ``classifier.classes_``.
    ball : WassersteinBall
        What the adversary may do.  Inside a box the value is exact in every norm.  With
        more than six categorical features it is an upper bound, else exact.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, normalised to sum to 1.
    label_trust : array-like of shape (n_samples,), default=None
        Factors on the label cost, row by row; ``inf`` marks a verified label.
    space : {"features", "inputs"}, default="features"
        Where the rows of a kernel model move.  ``"inputs"`` gives an upper bound of the
        error when the model's inputs move, measured by the norm of the ball; it needs a
        kernel that is calm, see :meth:`RobustSVC.input_distance`.  For other classifiers
        both are the same.

    Returns
    -------
    float
        The worst-case error, between 0 and 1.

    See Also
    --------
    error_curve : The same for all radii at once.
    worst_case_distribution : The distribution behind it, with ``loss="zero-one"``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from wdrsvm import WassersteinBall, worst_case_error
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = LogisticRegression(max_iter=1000).fit(X, y)
    >>> calm = worst_case_error(classifier, X, y, WassersteinBall(radius=0.0))
    >>> rough = worst_case_error(classifier, X, y, WassersteinBall(radius=0.1))
    >>> print(f"{calm:.3f} {rough:.3f}")
    0.027 0.319
    """
    if is_lazy(X):
        check_space(space)
        return lazy_error(classifier, X, y, ball, sample_weight, label_trust)
    rows, _ = row_costs(classifier, X, y, ball, sample_weight, label_trust, space)
    return error_at(rows.cost, rows.weight, ball.radius)


def error_of_rows(problem: RobustProblem, coef: Floats, intercept: Floats) -> float:
    """The worst-case error of a classifier over a problem's rows, in its ball."""
    costs, trust = WrongCosts(coef, intercept, problem.ball), problem.label_trust
    parts = [
        costs(
            problem.features(rows), problem.y[rows], None if trust is None else trust[rows]
        )
        for rows in problem.blocks()
    ]
    cost, used = np.concatenate(parts), problem.weight > 0
    return error_at(cost[used], problem.weight[used], problem.radius)


def error_curve(
    classifier: Any,
    X: ArrayLike,
    y: ArrayLike,
    ball: WassersteinBall,
    *,
    sample_weight: ArrayLike | None = None,
    label_trust: ArrayLike | None = None,
    confidence: float | None = None,
    space: str = "features",
) -> ErrorCurve:
    """The worst-case error for every radius, at the cost of one sort.

    Parameters
    ----------
    classifier : object
        What :func:`worst_case_error` takes.
    X : {array-like, sparse matrix, dask collection} of shape (n_samples, n_features)
        Features.  Of a dask collection a cost, a weight and a label come here for each row.
    y : array-like of shape (n_samples,)
        Labels, each one of ``classifier.classes_``.
    ball : WassersteinBall
        What the adversary may do; its radius is the one that :meth:`ErrorCurve.sentence`
        speaks of.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, normalised to sum to 1.
    label_trust : array-like of shape (n_samples,), default=None
        Factors on the label cost, row by row; ``inf`` marks a verified label.
    confidence : float, default=None
        None speaks of the rows given.  A number in [0.5, 1) makes the curve a promise about
        new rows from the same source, for all radii at once: with that probability over
        the draw of the rows no distribution within the radius of their source has a
        larger error.  It adds sqrt(log(1 / (1 - confidence)) / 2n).  The rows must be
        independent, and the classifier must not have been trained or chosen on them.
        Weights are refused.
    space : {"features", "inputs"}, default="features"
        Where the rows of a kernel model move, as for :func:`worst_case_error`.

    Returns
    -------
    ErrorCurve
        The curve.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import train_test_split
    >>> from wdrsvm import WassersteinBall, error_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
    >>> classifier = LogisticRegression(max_iter=1000).fit(X, y)
    >>> ball = WassersteinBall(radius=0.05)
    >>> print(error_curve(classifier, X_new, y_new, ball).sentence())
    If these rows move by 0.05 on average, at most 30.3 % of them are classified wrongly.
    >>> print(error_curve(classifier, X_new, y_new, ball, confidence=0.95).sentence())
    With 95 % confidence: if new rows from the same source move by 0.05 on average, at most
    44.5 % of them are classified wrongly.
    """
    _check_confidence(confidence)
    rows, classes = row_costs(classifier, X, y, ball, sample_weight, label_trust, space)
    if confidence is not None:
        _check_equal_weights(rows)
    labels_stay = ball.trusts_labels(len(classes))
    wording = wording_of(classifier, labels_stay, confidence, space)
    return curve_of(
        rows, ball.radius, wording, confidence, CurveRows(rows, classes, labels_stay)
    )


def wording_of(
    classifier: Any, labels_stay: bool, confidence: float | None, space: str = "features"
) -> Wording:
    """The rows of a promise in words; with a confidence they are new rows."""
    who = "these rows" if confidence is None else "new rows from the same source"
    last = last_classifier(classifier)
    how = (
        "move by {radius:g}"
        if labels_stay
        else "move or change labels at a cost of {radius:g}"
    )
    where = " in feature space" if has_kernel(last) and space == "features" else ""
    return Wording(who, f"{how}{where} on average")


def _check_confidence(confidence: Any) -> None:
    if confidence is None:
        return
    number = isinstance(confidence, (float, int, np.floating))
    if not number or not 0.5 <= confidence < 1:
        raise ValueError(
            f"confidence must be None or a number in [0.5, 1), got {confidence!r}."
        )


def _check_equal_weights(rows: RowCosts) -> None:
    if rows.weight.min() < rows.weight.max():
        raise ValueError(
            "sample_weight must be None, or the same for all rows, with confidence, which "
            "is about rows drawn alike, got weights that differ."
        )
