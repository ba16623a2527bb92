r"""Which labels look wrong, and which would hurt most if they were.

*Suspicion.*  A row's label is judged by models that never saw it, averaged over repeated
folds.  Scores without probabilities, such as margins of a support vector machine, become
log-probabilities by a logistic model, out of fold too.  From these, models of the label
noise (``noise_model``) estimate the probabilities q of the true label, given everything.
An adversary who turned c into the given y has gained log q_c - log q_y at the cost k[c, y].

*Exposure.*  What an adversary would gain per unit of cost by turning the given label into
another, under a model of all rows: that model's worst-case flips, best first.  Verifying
these labels takes most from the worst-case risk.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length

from ...arrays import Codes, Floats, Labels
from ...inputs.arrays import checked_trust, checked_weight, observed_classes
from ...problem import LOSSES, RobustProblem, WassersteinBall
from ...problem.label_flips import flip_envelope
from .audit_result import LabelAudit
from .default_classifier import StandardModel
from .noise_model import Opinions
from .out_of_fold import (
    TRUST,
    WEIGHT,
    LabelledRows,
    OutOfFoldScores,
    all_scores,
    checked_judge,
    log_of,
    mean_opinion,
    repeated_folds,
)
from .suspicion import n_to_check, noise_models, share_interval

# A label that is trusted not at all can be changed for next to nothing.
LEAST_PRICE = 1e-9
# Probabilities of a row may miss the sum 1 by rounding to single precision.
ROUNDING = 1e-3


def audit_labels(
    X: Any,
    y: ArrayLike,
    estimator: Any = None,
    *,
    pred_probs: ArrayLike | None = None,
    label_cost: float | ArrayLike = 1.0,
    n_splits: int = 5,
    n_repeats: int = 3,
    sample_weight: ArrayLike | None = None,
    label_trust: ArrayLike | None = None,
    random_state: int = 0,
) -> LabelAudit:
    """Rank labels by how suspicious they are, and say how many to check.

    Fix or confirm the first ``n_suspects`` labels, pass ``label_trust=inf`` for those
    confirmed, and fit or audit again.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or None
        Features; None is allowed beside ``pred_probs``, and ignored there.
    y : array-like of shape (n_samples,)
        Labels; each class needs two rows at least.
    estimator : object, default=None
        Classifier with ``fit`` and ``decision_function`` or ``predict_proba``, or a
        pipeline that ends in one.  ``fit`` gets ``sample_weight`` if it takes weights, and
        must take what is given.  None is a
        :class:`wdrsvm.RobustLogisticRegression` on standardised features that believes
        all labels, with 15 % of :func:`wdrsvm.radius_max` as its radius.
    pred_probs : array-like of shape (n_samples, n_classes), default=None
        Out-of-fold probabilities of the labels, in the order of the sorted labels.  With
        these, no model is fitted.
    label_cost : float or array of shape (n_classes, n_classes), default=1.0
        Cost of turning a true label (row) into a given one (column), positive; ``inf``
        marks a mistake that nobody makes.
    n_splits : int, default=5
        Number of folds; fewer where a class has fewer rows.
    n_repeats : int, default=3
        How often rows are divided into folds anew.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    label_trust : array-like of shape (n_samples,), default=None
        Factors on the label cost, row by row; ``inf`` marks a verified label.
    random_state : int, default=0
        Seed of the folds.

    Returns
    -------
    LabelAudit
        The labels, most suspicious first.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from wdrsvm import audit_labels
    >>> X, y = load_wine(return_X_y=True)
    >>> wrong = np.array([3, 70, 150])
    >>> y[wrong] = [2, 0, 1]
    >>> np.sort(audit_labels(X, y).row[:3])
    array([  3,  70, 150])
    """
    classes, codes = observed_classes(y)
    if pred_probs is None or X is not None:
        check_consistent_length(X, codes)
    trust = checked_trust(label_trust, len(codes))
    rows = LabelledRows(X, codes, checked_weight(sample_weight, len(codes)), trust)
    cost = _checked_cost(label_cost, len(classes))
    counts = (
        checked_count(n_splits, "n_splits", 2),
        checked_count(n_repeats, "n_repeats"),
    )
    if pred_probs is None:
        judge = StandardModel() if estimator is None else estimator
        given = {WEIGHT: sample_weight, TRUST: label_trust}
        model = checked_judge(X, judge, **given)
        divisions = repeated_folds(codes, *counts, random_state)
        opinion = mean_opinion(model, rows, divisions)
        whole = all_scores(rows.fitted(model, np.arange(len(codes))), X)
    else:
        opinion = given_opinion(pred_probs, estimator, len(codes), len(classes))
        whole = opinion.scores
    return _audit(opinion, whole, rows, cost, classes, random_state)


def _audit(
    opinion: OutOfFoldScores,
    whole: Floats,
    rows: LabelledRows,
    cost: Floats,
    classes: Labels,
    random_state: int,
) -> LabelAudit:
    """The audit, from what models think of the labels."""
    opinions = _unverified(opinion.log_probability, rows)
    models = noise_models(opinions)
    posterior = _possible(models.posterior(opinions), rows, cost)
    gain, suggested = _doubt(log_of(posterior), rows, cost)
    order = np.argsort(-gain, kind="stable")
    wrong = 1 - posterior[np.arange(len(rows.y)), rows.y]
    share = float(np.average(wrong, weights=rows.weight))
    # Verified labels, which are not wrong, lower the share and its interval alike.
    unverified = share / models.wrong_share(opinions)
    low, high = share_interval(opinions, models, random_state)
    return LabelAudit(
        row=order,
        given=classes[rows.y[order]],
        suggested=classes[suggested[order]],
        gain=gain[order],
        margin=_margin(opinion.scores, rows.y)[order],
        exposure=_exposure(whole, rows, cost)[order],
        wrong_probability=wrong[order],
        n_suspects=n_to_check(wrong[order]),
        wrong_share=share,
        wrong_share_interval=(unverified * low, unverified * high),
    )


def given_opinion(
    pred_probs: ArrayLike, estimator: Any, n_rows: int, n_classes: int
) -> OutOfFoldScores:
    """What the user's own models think of the labels."""
    if estimator is not None:
        raise ValueError("pred_probs must be None with an estimator, got both.")
    shape = (n_rows, n_classes)
    values = np.asarray(pred_probs, dtype=np.float64)
    if values.shape != shape:
        raise ValueError(f"pred_probs must have shape {shape}, got {values.shape}.")
    is_share = (values >= 0).all() and np.abs(values.sum(axis=1) - 1).max() < ROUNDING
    if not is_share:
        raise ValueError("pred_probs must be >= 0 with the sum 1 in every row.")
    return OutOfFoldScores(log_of(values), log_of(values))


def _unverified(log_probability: Floats, rows: LabelledRows) -> Opinions:
    """The opinions; verified labels have no weight in the models of the noise."""
    weight = rows.weight.copy()
    if rows.label_trust is not None:
        weight[np.isinf(rows.label_trust)] = 0.0
    # With all labels verified there is nothing to estimate, and any weight will do.
    weight = weight if weight.any() else np.ones_like(weight)
    return Opinions(log_probability, rows.y, weight / weight.mean())


def _possible(posterior: Floats, rows: LabelledRows, cost: Floats) -> Floats:
    """Probabilities of the true labels, without mistakes that are impossible."""
    price = _prices(rows, cost.T)
    price[np.arange(len(rows.y)), rows.y] = 0.0
    possible = np.where(np.isfinite(price), posterior, 0.0)
    return np.asarray(possible / possible.sum(axis=1, keepdims=True))


def _checked_cost(label_cost: float | ArrayLike, n_classes: int) -> Floats:
    cost = WassersteinBall(0.0, label_cost).label_cost_matrix(n_classes)
    if (cost[~np.eye(n_classes, dtype=bool)] == 0).any():
        raise ValueError(f"label_cost must be > 0 for every mistake, got {label_cost!r}.")
    return cost


def checked_count(value: Any, name: str, least: int = 1) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}, got {value!r}.")
    return int(value)


def _prices(rows: LabelledRows, cost: Floats) -> Floats:
    """Trust times the cost of turning each row's label into each other, inf for its own."""
    ball = WassersteinBall(0.0, cost)
    problem = RobustProblem.of(
        rows.X, rows.y, rows.weight, ball, len(cost), label_trust=rows.label_trust
    )
    return np.maximum(problem.flip_cost(), LEAST_PRICE)


def _doubt(
    log_probability: Floats, rows: LabelledRows, cost: Floats
) -> tuple[Floats, Codes]:
    """What the likeliest mistake would have gained per unit of cost, and its true label."""
    n = np.arange(len(rows.y))
    gain = log_probability - log_probability[n, rows.y][:, None]
    likely = np.where(np.isfinite(cost.T[rows.y]), gain, -np.inf)
    # The given label itself, where no mistake is possible.
    likely[n, rows.y] = np.finfo(np.float64).min
    suggested = likely.argmax(axis=1)
    price = _prices(rows, cost.T)[n, suggested]
    return np.where(np.isfinite(price), gain[n, suggested] / price, -np.inf), suggested


def _margin(scores: Floats, y: Codes) -> Floats:
    others = scores.copy()
    others[np.arange(len(y)), y] = -np.inf
    return np.asarray(scores[np.arange(len(y)), y] - others.max(axis=1))


def _exposure(scores: Floats, rows: LabelledRows, cost: Floats) -> Floats:
    """The best rate at which flipping each label would raise the loss."""
    losses = LOSSES["crammer-singer"].of_labels(scores)
    flips = flip_envelope(losses, rows.y, _prices(rows, cost)).flips
    exposure = np.zeros(len(rows.y))
    np.maximum.at(exposure, flips.row, flips.rate)
    return exposure
