r"""What classifiers say about labels that they have not seen, in the folds of a search.

Let p[n, c] be the probability that a classifier gives to the label c of row n, whose own
label it has not seen.  Scores are multiplied by a factor first: a large radius makes
probabilities too even, and scores of support vector machines have no scale.  Suppose that a
share r of all labels is replaced by labels drawn at random.  Then the label y_n has the
likelihood

.. math:: q_n = (1 - r) \, p_{n, y_n} + r / C .

The factor and the share r are those for which the mean of log q_n over the rows is the
largest.  From there the confusion T[c, k], the probability of the given label k if c is the
true one, may be different for each pair of labels.  A prior of ``PSEUDO_LABELS`` labels per
class pulls it to the confusion of the share r.  The likelihood is then

.. math:: q_n = \sum_c p_{n, c} \, T_{c, y_n} .

The mean of log q_n is a proper score of the true labels, unlike the log-loss of the given
labels, which has r = 0.  The evidence for a classifier is this mean, less what the prior
takes for T, plus the accuracy.  Likelihood and accuracy both rank classifiers as the true
labels do, and their errors are different.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_softmax, rel_entr

from ....arrays import Codes, Flags, Floats, Labels
from ....inputs.arrays import observed_classes
from ....robustness.labels.noise_model import NoiseModel, Opinions, next_confusion

# Factors on scores, and shares of replaced labels, that are tried.
FACTORS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 8.0)
SHARES = np.array([0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6])
# Labels per class that the prior on the confusion adds, and rounds of its estimate.
PSEUDO_LABELS, CONFUSION_ROUNDS = 20.0, 15
# The likelihood of a label that a classifier excludes.
LEAST_LIKELIHOOD = 1e-12


class Opinion(NamedTuple):
    """About the rows of one fold, by one classifier: scores (rows, C), and the given
    labels as codes.  Single precision is enough, and all folds and points are kept."""

    scores: Floats
    codes: Codes


def opinion_giver(y: Any, rows: Codes) -> Callable[[Any, Any], Opinion]:
    """A function of a fitted classifier and features: the opinion on labels of rows."""
    classes, codes = observed_classes(y)
    return lambda fitted, X: opinion_of(fitted, X, codes[rows], classes)


def opinion_of(fitted: Any, X: Any, codes: Codes, classes: Labels) -> Opinion:
    """The opinion of a fitted classifier; ``classes`` are all classes of the data.

    Classes that the classifier does not know have the likelihood ``LEAST_LIKELIHOOD``.
    """
    known = _all_scores(fitted, X)
    least = known.max(axis=1, keepdims=True) + np.log(LEAST_LIKELIHOOD)
    scores = np.repeat(least, len(classes), axis=1)
    scores[:, np.searchsorted(classes, fitted.classes_)] = known
    return Opinion(scores.astype(np.float32), codes)


def _all_scores(fitted: Any, X: Any) -> Floats:
    scores = fitted.decision_function(X)
    return np.column_stack([np.zeros_like(scores), scores]) if scores.ndim == 1 else scores


class Evidence(NamedTuple):
    """About all rows, by all points of a grid.

    ``value`` (points, rows) is the logarithm of the likelihood of the given label, plus 1
    if the label is predicted.  ``taken`` (points,) is what the prior on the confusion
    takes from the evidence, and ``factor`` (points,) the factor on the scores.
    ``share`` (points,) is the share of replaced labels that fits best.  ``weight`` (rows,)
    is 0 for rows that are in no fold; their values are 0.  ``n_rows`` is the number of
    different rows in folds, so that a repeated row counts as a row of larger weight does.
    """

    value: Floats
    taken: Floats
    factor: Floats
    share: Floats
    weight: Floats
    n_rows: int

    @property
    def mean(self) -> Floats:
        """The evidence for each point; -inf for points that are left out of a fold."""
        mean = self.value @ self.weight / self.weight.sum() - self.taken
        return np.where(np.isnan(mean), -np.inf, mean)


class _OfPoint(NamedTuple):
    """The entries of the evidence for one point, in the same order."""

    value: Floats
    taken: float
    factor: float
    share: float


class Told(NamedTuple):
    """What was said in all folds: opinions by fold and point, and the rows of each fold.

    ``weight`` (rows,) has the weights of the rows.  Rows with the same number in ``merged``
    are equal.
    """

    opinions: Sequence[Sequence[Opinion | None]]
    held_out: Sequence[Codes]
    weight: Floats
    merged: Codes

    @property
    def visits(self) -> Codes:
        """How many folds each row is in."""
        return np.bincount(np.concatenate(self.held_out), minlength=len(self.weight))

    def log_probability(self, weight: Floats) -> Floats:
        """Log-probabilities (rows, C) by one classifier, means over the folds.

        Its scores are weighted sums of the points' scores.  Points without weight may have
        been left out of a fold.  Rows that are in no fold have zeros.
        """
        parts = [_weighted(fold, weight) for fold in self.opinions]
        total = np.zeros((len(self.weight), parts[0].shape[1]))
        np.add.at(
            total, np.concatenate(self.held_out), log_softmax(np.concatenate(parts), 1)
        )
        return np.asarray(total / np.maximum(self.visits, 1)[:, None])


def _weighted(fold: Sequence[Opinion | None], weight: Floats) -> Floats:
    """Weighted sums of the scores in one fold."""
    pairs = zip(weight, fold, strict=True)
    counted = [w * each.scores for w, each in pairs if w > 0 and each is not None]
    return np.asarray(np.sum(counted, axis=0, dtype=np.float64))


def pooled(told: Told) -> Evidence:
    """Put the opinions of all folds together; of a row's opinions, the mean counts."""
    opinions, held_out, weight, merged = told
    visits = told.visits
    known = np.where(visits > 0, weight, 0.0)
    n_rows = len(np.unique(merged[known > 0]))
    parts = [
        _of_point([fold[k] for fold in opinions], held_out, known, visits, n_rows)
        for k in range(len(opinions[0]))
    ]
    value, taken, factor, share = (np.array(column) for column in zip(*parts, strict=True))
    return Evidence(value, taken, factor, share, weight=known, n_rows=n_rows)


def _of_point(
    opinions: Sequence[Opinion | None],
    held_out: Sequence[Codes],
    weight: Floats,
    visits: Codes,
    n_rows: int,
) -> _OfPoint:
    told = [each for each in opinions if each is not None]
    if len(told) < len(opinions):
        return _left_out(len(weight))
    rows = np.concatenate(held_out)
    said = _joined(told, weight[rows] / visits[rows], n_rows)
    fit = _uniform_noise(said)
    q, taken = _noise_by_class(said, fit)
    value = np.log(q) + _is_predicted(said)
    mean = np.bincount(rows, value, len(weight)) / np.maximum(visits, 1)
    return _OfPoint(mean, taken, fit.factor, fit.share)


def _left_out(n_rows: int) -> _OfPoint:
    """No opinion: the point was left out of a fold."""
    return _OfPoint(np.full(n_rows, np.nan), np.nan, np.nan, np.nan)


def _joined(told: Sequence[Opinion], weight: Floats, n_rows: int) -> Opinions:
    """The opinions of all folds, with weights whose sum is the number of rows."""
    scores = np.concatenate([each.scores for each in told]).astype(np.float64)
    codes = np.concatenate([each.codes for each in told])
    return Opinions(scores, codes, weight * (n_rows / weight.sum()))


def _is_predicted(said: Opinions) -> Flags:
    """Whether the given label has a larger score than every other one."""
    n, others = np.arange(len(said.y)), said.log_probability.copy()
    others[n, said.y] = -np.inf
    return np.asarray(said.log_probability[n, said.y] > others.max(axis=1))


class _UniformNoise(NamedTuple):
    """The best factor and share."""

    factor: float
    share: float


def _uniform_noise(said: Opinions) -> _UniformNoise:
    """The factor and the share of replaced labels with the largest likelihood."""
    n = np.arange(len(said.y))
    best, chosen = -np.inf, None
    for factor in FACTORS:
        given = np.exp(log_softmax(factor * said.log_probability, axis=1)[n, said.y])
        for share in SHARES:
            q = (1 - share) * given + share / said.n_classes
            q = np.maximum(q, LEAST_LIKELIHOOD)
            value = float(said.weight @ np.log(q))
            if value > best:
                best, chosen = value, _UniformNoise(factor, float(share))
    assert chosen is not None
    return chosen


def _noise_by_class(said: Opinions, fit: _UniformNoise) -> tuple[Floats, float]:
    """Likelihoods of the given labels if some confusions are likelier than others, and
    what the prior takes from their mean logarithm."""
    n_classes = said.n_classes
    usual = (1 - fit.share) * np.eye(n_classes) + fit.share / n_classes
    offset, confusion = np.zeros(n_classes), usual
    for _ in range(CONFUSION_ROUNDS if fit.share > 0 else 0):
        model = NoiseModel(fit.factor, offset, confusion, 0.0)
        confusion = next_confusion(model, said, PSEUDO_LABELS * usual)
    true = NoiseModel(fit.factor, offset, confusion, 0.0)
    q = true.given_probability(said.log_probability)[np.arange(len(said.y)), said.y]
    away = float(rel_entr(usual, confusion).sum())
    return np.maximum(q, LEAST_LIKELIHOOD), PSEUDO_LABELS * away / said.weight.sum()
