"""The worst-case risk of a classifier that is already fitted, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ...arrays import Floats, Labels, Matrix
from ...inputs.arrays import (
    check_kernel_ball,
    checked_features,
    checked_loss,
    checked_trust,
    checked_weight,
    label_codes,
)
from ...inputs.dask_collections import is_lazy, known_rows
from ...problem import Loss, RobustProblem, WassersteinBall
from ...rows.blocks import scores_of
from ...rows.dask_rows import ChunkedRows


class LinearScores(NamedTuple):
    """A linear classifier with one row of coefficients per class.

    ``lipschitz`` says how its Lipschitz modulus was bounded in training: the ``"triangle"``
    bound is that of kernel models.
    """

    coef: Floats
    intercept: Floats
    classes: Labels
    lipschitz: str = "exact"


def worst_case_risk(
    classifier: Any,
    X: ArrayLike,
    y: ArrayLike,
    ball: WassersteinBall,
    *,
    loss: str | Loss = "crammer-singer",
    sample_weight: ArrayLike | None = None,
    label_trust: ArrayLike | None = None,
) -> float:
    """Largest expected loss over all distributions in a ball around the data.

    Exact, and no dearer than predicting: for a linear classifier the worst case is a
    fractional knapsack.

    Parameters
    ----------
    classifier : object
        A fitted linear classifier with ``coef_``, ``intercept_`` and ``classes_``,
        such as scikit-learn's, a :class:`~wdrsvm.RobustSVC`, or a pipeline that ends in
        one.  A fitted search of scikit-learn stands for its ``best_estimator_``.  The ball
        of a pipeline lies in the space of its last step, what the steps before it give;
        that of a kernel model in its feature space.
    X : {array-like, sparse matrix, dask collection} of shape (n_samples, n_features)
        Features.  Rows of a dask array or data frame stay where they are.
    y : array-like of shape (n_samples,)
        Labels, each one of ``classifier.classes_``.
    ball : WassersteinBall
        What the adversary may do.
    loss : {"crammer-singer", "logistic"} or Loss, default="crammer-singer"
        Loss whose expectation is taken; any member of the family of
        :class:`wdrsvm.problem.Loss`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, normalised to sum to 1.
    label_trust : array-like of shape (n_samples,), default=None
        Factors on the label cost, row by row; ``inf`` marks a verified label.

    Returns
    -------
    float
        The worst-case risk.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from wdrsvm import WassersteinBall, worst_case_risk
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = LogisticRegression(max_iter=1000).fit(X, y)
    >>> calm = worst_case_risk(classifier, X, y, WassersteinBall(radius=0.0))
    >>> rough = worst_case_risk(classifier, X, y, WassersteinBall(0.1, label_cost=2.0))
    >>> print(f"{calm:.2f} {rough:.2f}")
    0.07 1.08
    """
    judge = judged_lazily if is_lazy(X) else judged_classifier
    judged = judge(classifier, X, y, ball, loss, sample_weight, label_trust)
    return judged.problem.risk(judged.scores.coef, judged.scores.intercept).value


class Judged(NamedTuple):
    """A classifier's scores, and the problem whose objective judges them."""

    scores: LinearScores
    problem: RobustProblem


def judged_classifier(
    classifier: Any,
    X: ArrayLike,
    y: ArrayLike,
    ball: WassersteinBall,
    loss: str | Loss,
    sample_weight: ArrayLike | None,
    label_trust: ArrayLike | None,
) -> Judged:
    """Check what a user gave; pipelines are judged in the space of their last step."""
    X, classifier = last_step(X, classifier)
    if has_kernel(classifier):
        check_kernel_ball(ball)
    X, classifier = linear_step(X, classifier)
    scores = linear_scores(classifier)
    codes = label_codes(y, scores.classes)
    weight = checked_weight(sample_weight, len(codes))
    features = features_for(classifier, scores, X)
    check_consistent_length(features, codes)
    problem = RobustProblem.of(
        features,
        codes,
        weight / weight.sum(),
        ball,
        n_classes=len(scores.classes),
        label_trust=checked_trust(label_trust, len(codes)),
        loss=checked_loss(loss),
        lipschitz=scores.lipschitz,
    )
    return Judged(scores, problem)


def judged_lazily(
    classifier: Any,
    X: Any,
    y: Any,
    ball: WassersteinBall,
    loss: str | Loss,
    sample_weight: Any,
    label_trust: Any,
) -> Judged:
    """The same for a dask collection, chunk by chunk where its rows are."""
    scores, rows = lazy_rows(classifier, X, y, sample_weight, label_trust)
    problem = RobustProblem(
        rows,
        ball,
        n_classes=len(scores.classes),
        loss=checked_loss(loss),
    )
    return Judged(scores, problem)


def lazy_rows(
    classifier: Any, X: Any, y: Any, sample_weight: Any, label_trust: Any
) -> tuple[LinearScores, ChunkedRows]:
    """The scores of a classifier, and what its linear step sees of a dask collection."""
    last = last_classifier(classifier)
    if has_kernel(last):
        raise TypeError(
            "X must be in memory for a kernel model, got a dask collection: compute it."
        )
    scores = linear_scores(last)
    check = LinearFeatures(classifier, scores)
    rows = known_rows(check, X, y, sample_weight, label_trust, scores.classes)
    return scores, rows


@dataclass(frozen=True, eq=False)
class LinearFeatures:
    """What the linear step of a classifier sees of some rows."""

    classifier: Any
    scores: LinearScores

    def __call__(self, X: Any) -> Matrix:
        if not X.shape[0]:
            return np.empty((0, self.scores.coef.shape[1]))
        features, classifier = linear_step(X, self.classifier)
        return features_for(classifier, self.scores, features)


def linear_scores(classifier: Any) -> LinearScores:
    """Coefficients (C, P) and intercepts (C,) whose largest score is the prediction.

    A two-class decision d = w.x + b becomes the scores -d/2 and d/2: only differences
    of scores matter, to the loss and to the adversary.
    """
    if isinstance(classifier, LinearScores):
        return classifier
    check_is_fitted(classifier)
    wanted = ("coef_", "intercept_", "classes_")
    missing = [name for name in wanted if not hasattr(classifier, name)]
    if missing:
        refit = "; fit the search with refit=True" if _has_no_choice(classifier) else ""
        raise TypeError(
            "classifier must be linear, with coef_, intercept_ and classes_, but "
            f"{type(classifier).__name__} has no {' and no '.join(missing)}{refit}."
        )
    coef = _dense(classifier.coef_)
    classes = np.asarray(classifier.classes_)
    intercept = np.broadcast_to(np.asarray(classifier.intercept_, np.float64), len(coef))
    if len(classes) == 2 and len(coef) == 1:
        coef, intercept = (
            np.vstack([-coef, coef]) / 2,
            np.hstack([-intercept, intercept]) / 2,
        )
    if len(coef) != len(classes):
        raise ValueError(
            f"classifier must have one row of coef_ for each of its {len(classes)} "
            f"classes, got {len(coef)} rows."
        )
    return LinearScores(coef, intercept, classes)


def _dense(coef: Any) -> Floats:
    values = coef.toarray() if sparse.issparse(coef) else coef
    return np.atleast_2d(np.asarray(values, dtype=np.float64))


def linear_step(X: Any, classifier: Any) -> tuple[Any, Any]:
    """The linear classifier at the end of a pipeline, and the features it sees.

    A kernel model is such a pipeline: features of the kernel, then linear scores.
    """
    X, classifier = last_step(X, classifier)
    return classifier.linear_form(X) if has_kernel(classifier) else (X, classifier)


def last_step(X: Any, classifier: Any) -> tuple[Any, Any]:
    """The classifier at the end of a pipeline, and the features it sees."""
    if is_search(classifier):
        return last_step(X, classifier.best_estimator_)
    if not hasattr(classifier, "steps"):
        return X, classifier
    return last_step(classifier[:-1].transform(X), classifier[-1])


def _has_no_choice(classifier: Any) -> bool:
    """Whether this is a search that has fitted no classifier to all rows."""
    return hasattr(classifier, "cv_results_") and not hasattr(classifier, "best_estimator_")


def last_classifier(classifier: Any) -> Any:
    """The classifier at the end of a pipeline, or the one that a search has chosen."""
    if is_search(classifier):
        return last_classifier(classifier.best_estimator_)
    return last_classifier(classifier[-1]) if hasattr(classifier, "steps") else classifier


def is_search(classifier: Any) -> bool:
    """Whether this is a fitted search of scikit-learn, which predicts by its choice.

    The searches of this package have coefficients or a kernel of their own.
    """
    has_own = hasattr(classifier, "coef_") or has_kernel(classifier)
    return hasattr(classifier, "best_estimator_") and not has_own


def has_kernel(classifier: Any) -> bool:
    """Whether scores are linear in the features of a kernel."""
    return hasattr(classifier, "linear_form")


def features_for(classifier: Any, scores: LinearScores, X: ArrayLike) -> Matrix:
    """X checked, for a classifier whose scores follow from its coefficients."""
    checked = features_of(scores, X)
    _check_scores(classifier, X, scores_of(checked, scores.coef, scores.intercept))
    return checked


def features_of(scores: LinearScores, X: ArrayLike) -> Matrix:
    """X checked, with as many features as there are coefficients."""
    checked = checked_features(X)
    n_features = scores.coef.shape[1]
    if checked.shape[1] != n_features:
        raise ValueError(
            f"X has {checked.shape[1]} features, but the classifier expects {n_features}."
        )
    return checked


def _check_scores(classifier: Any, X: ArrayLike, scores: Floats) -> None:
    """Refuse a classifier whose ``coef_`` does not give one score per class.

    A one-vs-one machine of three classes has three rows of coefficients, one per pair.
    """
    if not hasattr(classifier, "decision_function"):
        return
    decision = np.asarray(classifier.decision_function(X))
    ours = scores[:, 1] - scores[:, 0] if decision.ndim == 1 else scores
    # Three classes have three pairs: their scores would pass for those of the classes.
    by_pairs = getattr(classifier, "decision_function_shape", None) == "ovo"
    is_score = ours.shape == decision.shape and not (by_pairs and decision.ndim == 2)
    if not is_score or not np.allclose(ours, decision, 1e-4, 1e-4):
        raise ValueError(
            "classifier must decide by the scores X @ coef_.T + intercept_, but the "
            f"decision_function of {type(classifier).__name__} differs from them."
        )
