"""How far a point must move before its prediction can change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Floats
from ...inputs.frames import observed_box
from ...problem import WassersteinBall
from ...problem.norms import pairwise_moduli
from ...rows.blocks import scores_of
from .errors.row_costs import row_costs
from .worst_case import features_for, has_kernel, last_step, linear_scores


def certified_radius(
    classifier: Any,
    X: ArrayLike,
    norm: str = "l2",
    feature_cost: ArrayLike | None = None,
) -> Floats:
    """Distance of each row to the nearest point with another prediction.

    Exact: no movement of a lower transport cost changes the prediction, and one of any
    higher cost does,

        min over j != k of (z_k - z_j) / ||(M_k - M_j) / feature_cost||_*

    with z the scores of a row and k its prediction, up to the rounding of scores.  For a
    kernel model a lower bound: the distance of inputs that their features need to go as far
    as that.

    Parameters
    ----------
    classifier : object
        A fitted linear classifier with ``coef_``, ``intercept_`` and ``classes_``,
        such as scikit-learn's, a :class:`~wdrsvm.RobustSVC` with a calm kernel (linear,
        rbf, laplacian, or poly of degree 1), or a pipeline that ends in one.  A fitted
        search of scikit-learn stands for its ``best_estimator_``.  The distance of a
        pipeline is measured in the space of its last step.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features.
    norm : {"l1", "l2", "linf"}, default="l2"
        Norm of the movement.
    feature_cost : array-like of shape (n_features,), default=None
        Price of moving each feature by one unit; ``inf`` marks a feature that does not
        move.  None for a kernel model.

    Returns
    -------
    ndarray of shape (n_samples,)
        The radii; ``inf`` where no movement changes the prediction.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from wdrsvm import certified_radius
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = LogisticRegression(max_iter=1000).fit(X, y)
    >>> certified_radius(classifier, X[[0, 70, 100]]).round(2)
    array([1.41, 0.05, 1.31])
    """
    ball = WassersteinBall(0.0, norm=norm, feature_cost=feature_cost)
    X, classifier = last_step(X, classifier)
    if not has_kernel(classifier):
        return _radii(classifier, X, ball)
    if feature_cost is not None:
        raise ValueError(
            "feature_cost must be None for a kernel model, whose features are all of "
            f"one price, got {feature_cost!r}."
        )
    features, scores = classifier.linear_form(X)
    reach = _radii(scores, features, WassersteinBall(0.0))
    return np.asarray(classifier.input_distance(reach, norm))


def bounded_radius(classifier: Any, X: ArrayLike, ball: WassersteinBall) -> Floats:
    """The same distance in a bounded ball: inside its box, and with switched categories.

    Rows outside the box widen it.
    """
    features = features_for(classifier, linear_scores(classifier), X)
    trusted = replace(ball, label_cost=np.inf)
    if ball.support is not None:
        trusted = replace(trusted, support=observed_box(features, ball.support))
    costs, _ = row_costs(classifier, features, classifier.predict(X), trusted)
    return costs.cost


def _radii(classifier: Any, X: ArrayLike, ball: WassersteinBall) -> Floats:
    scores = linear_scores(classifier)
    features = features_for(classifier, scores, X)
    moduli = pairwise_moduli(scores.coef, ball.norm, ball.feature_costs(features.shape[1]))
    return _nearest_change(scores_of(features, scores.coef, scores.intercept), moduli)


def _nearest_change(scores: Floats, moduli: Floats) -> Floats:
    """Least ratio of a lead over a rival to the rate at which it can shrink."""
    predicted = scores.argmax(axis=1)
    lead = scores[np.arange(len(scores)), predicted][:, None] - scores
    rate = moduli[predicted]
    # A rival that nothing brings closer never wins, the row's own class among them.
    ratio = np.divide(lead, rate, out=np.full_like(lead, np.inf), where=rate > 0)
    return np.asarray(ratio.min(axis=1))
