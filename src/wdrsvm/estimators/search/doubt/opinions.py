r"""What classifiers say about labels that they have not seen, in the folds of a search.

Let p_n be the probability that a classifier gives to the label of row n, which it has not
seen.  Suppose that a share r of all labels is replaced by labels drawn at random.  Then the
label of row n has the likelihood

.. math:: q_n = (1 - r) \, p_n + r / C .

The share r is the one for which the mean of log q_n over the rows is the largest.  This
mean is a proper score of the true labels, unlike the log-loss of the given labels, which
has r = 0.  The evidence for a classifier is this mean plus the accuracy.  Each of the two
ranks classifiers as the true labels do, and their errors are different.

Scores of support vector machines have no scale of probabilities.  Therefore their scores
are multiplied by the factor for which the mean is the largest.  The probability that a
label is wrong uses such a factor for all classifiers, because a large radius makes
probabilities too even.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_softmax

from ....arrays import Codes, Floats, Labels
from ....inputs.arrays import observed_classes

# Factors on scores, and shares of replaced labels, that are tried.
FACTORS = (0.5, 0.7, 1.0, 1.4, 2.0, 4.0)
UNCHANGED = [FACTORS.index(1.0)]
SHARES = np.array([0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6])
# The likelihood of a label that a classifier excludes.
LEAST_LIKELIHOOD = 1e-12


class Opinion(NamedTuple):
    """About the rows of one fold, by one classifier.

    ``probability`` (factors, rows) is that of the given label, for each factor on the
    scores.  ``has_scale`` says whether the factor 1 gives probabilities.  ``other`` is the
    likeliest other label, as a code.  ``log_odds`` compares it with the given label.
    """

    probability: Floats
    other: Codes
    log_odds: Floats
    has_scale: bool


def opinion_giver(y: Any, rows: Codes) -> Callable[[Any, Any], Opinion]:
    """A function of a fitted classifier and features: the opinion on labels of rows."""
    classes, codes = observed_classes(y)
    return lambda fitted, X: opinion_of(fitted, X, codes[rows], classes)


def opinion_of(fitted: Any, X: Any, codes: Codes, classes: Labels) -> Opinion:
    """The opinion of a fitted classifier; ``classes`` are all classes of the data."""
    scores = np.full((len(codes), len(classes)), -np.inf)
    scores[:, np.searchsorted(classes, fitted.classes_)] = _all_scores(fitted, X)
    n = np.arange(len(codes))
    probability = [log_softmax(factor * scores, axis=1)[n, codes] for factor in FACTORS]
    others = scores.copy()
    others[n, codes] = -np.inf
    other = others.argmax(axis=1)
    log_odds = others[n, other] - scores[n, codes]
    return Opinion(np.exp(probability), other, log_odds, hasattr(fitted, "predict_proba"))


def _all_scores(fitted: Any, X: Any) -> Floats:
    scores = fitted.decision_function(X)
    return np.column_stack([np.zeros_like(scores), scores]) if scores.ndim == 1 else scores


class Evidence(NamedTuple):
    """About all rows, by all points of a grid.

    ``value`` (points, rows) is the logarithm of the likelihood of the given label, plus 1
    if the label is predicted.
    ``share`` (points,) is the share of replaced labels that fits best, at any factor.
    ``wrong`` (points, rows) is the probability that the label is wrong.  ``other`` and
    ``log_odds`` (points, rows) are as in an opinion.  ``weight`` (rows,) is 0 for rows
    that are in no fold; their values are 0.
    """

    value: Floats
    share: Floats
    wrong: Floats
    other: Codes
    log_odds: Floats
    weight: Floats

    @property
    def mean(self) -> Floats:
        """The evidence for each point; -inf for points that are left out of a fold."""
        mean = self.value @ self.weight / self.weight.sum()
        return np.where(np.isnan(mean), -np.inf, mean)


def pooled(
    opinions: Sequence[Sequence[Opinion | None]],
    held_out: Sequence[Codes],
    weight: Floats,
    n_classes: int,
) -> Evidence:
    """Put the opinions of all folds together; of a row's opinions, the mean counts."""
    n_rows, n_points = len(weight), len(opinions[0])
    visits = np.bincount(np.concatenate(held_out), minlength=n_rows)
    known = np.where(visits > 0, weight, 0.0)
    parts = [
        _of_point([fold[k] for fold in opinions], held_out, known, visits, n_classes)
        for k in range(n_points)
    ]
    value, share, wrong, other, log_odds = zip(*parts, strict=True)
    return Evidence(
        value=np.array(value),
        share=np.array(share),
        wrong=np.array(wrong),
        other=np.array(other),
        log_odds=np.array(log_odds),
        weight=known,
    )


def _of_point(
    opinions: Sequence[Opinion | None],
    held_out: Sequence[Codes],
    weight: Floats,
    visits: Codes,
    n_classes: int,
) -> tuple[Floats, float, Floats, Codes, Floats]:
    n_rows = len(weight)
    if any(each is None for each in opinions):
        unknown = np.full(n_rows, np.nan)
        return unknown, np.nan, unknown, np.zeros(n_rows, dtype=np.intp), unknown
    told = [each for each in opinions if each is not None]
    rows = np.concatenate(held_out)
    probability = np.concatenate([each.probability for each in told], axis=1)
    per_row = weight[rows] / visits[rows]
    fair = probability[UNCHANGED] if told[0].has_scale else probability
    likelihood = _best_share(fair, per_row, n_classes)[2]
    share, given, sharpest = _best_share(probability, per_row, n_classes)
    log_odds = np.concatenate([each.log_odds for each in told])
    other = np.zeros(n_rows, dtype=np.intp)
    other[rows] = np.concatenate([each.other for each in told])

    def mean(values: Floats) -> Floats:
        return np.bincount(rows, values, n_rows) / np.maximum(visits, 1)

    # A label drawn at random is right if it happens to be the true one.
    wrong = mean(share / n_classes * (1 - given) / sharpest)
    return (
        mean(np.log(likelihood) + (log_odds < 0)),
        share,
        wrong,
        other,
        mean(_finite(log_odds)),
    )


def _best_share(
    probability: Floats, weight: Floats, n_classes: int
) -> tuple[float, Floats, Floats]:
    """The share of wrong labels with the largest evidence, at the best factor.

    Then the probabilities, and the likelihoods, of the given labels.
    """
    best, chosen = -np.inf, (0.0, probability[0], probability[0])
    for given in probability:
        for share in SHARES:
            q = np.maximum((1 - share) * given + share / n_classes, LEAST_LIKELIHOOD)
            value = float(weight @ np.log(q))
            if value > best:
                best, chosen = value, (float(share), given, q)
    return chosen


def _finite(log_odds: Floats) -> Floats:
    """Log-odds with a limit, for labels that a classifier has never seen."""
    limit = -np.log(LEAST_LIKELIHOOD)
    return np.clip(log_odds, -limit, limit)
