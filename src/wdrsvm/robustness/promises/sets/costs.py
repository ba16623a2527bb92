r"""What it costs the adversary to take the label of a row out of its set.

The set S_q(x) = {c : max_j z_j - z_c <= q} holds every label whose score is at most q below
the largest.  The adversary gives row n a label c and moves it until c falls out:

    c_n(q) = min over c of  k[n, c] + d_n(c, q)
    d_n(c, q) = min over j != c of  max(0, z_c - z_j + q) / || (M_c - M_j) / cost ||_*

with k[n, y_n] = 0.  Doing both can be cheaper than either.  q = 0 is the classifier itself.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ....arrays import Codes, Flags, Floats
from ....problem.rivals import leads_in
from ....rows.blocks import scores_of
from ..bounded_steps import BoundedSteps
from ..distributions.atoms import label_costs
from ..errors.wrong_costs import WrongCosts, class_scores
from ..worst_case import Judged, features_for, linear_scores, linear_step


class SetCosts:
    """Costs of losing the labels of some rows, for any thresholds."""

    def __init__(self, judged: Judged) -> None:
        self.judged = judged
        coef, intercept, *_ = judged.scores
        self.wrong = WrongCosts(coef, intercept, judged.problem.ball)
        self.scores = class_scores(judged.problem.X, coef, intercept)
        self._steps: dict[int, BoundedSteps | None] = {}

    @property
    def codes(self) -> Codes:
        return np.asarray(self.judged.problem.y)

    @cached_property
    def price(self) -> Floats:
        """What each label costs each row, (N, C); 0 for the row's own label."""
        return label_costs(self.judged, np.arange(len(self.codes)))

    @cached_property
    def free_gaps(self) -> Floats:
        """How far the score of a label that costs nothing is below the largest, (N,).

        Of several such labels the lowest counts.
        """
        gaps = gaps_below(self.scores.T)
        return np.asarray(np.where(self.price == 0, gaps, 0.0).max(axis=1))

    def lost(self, thresholds: Floats) -> Flags:
        """Which rows (N,) lose their label, or a free label, without moving."""
        outside = ~sets_of(self.scores.T, thresholds)
        return np.asarray((outside & (self.price == 0)).any(axis=1))

    def __call__(self, thresholds: Floats) -> Floats:
        """Costs (N,) of losing the label; ``thresholds`` (C,) are those of the labels."""
        best = np.full(len(self.codes), np.inf)
        for label in np.flatnonzero(np.isfinite(thresholds)).tolist():
            rows = self._rows(label)
            cost = self.price[rows, label]
            cost = cost + self._movements(label, rows, thresholds[label])
            best[rows] = np.minimum(best[rows], cost)
        return best

    def _rows(self, label: int) -> Codes:
        return np.flatnonzero(np.isfinite(self.price[:, label]))

    def _movements(self, label: int, rows: Codes, threshold: float) -> Floats:
        """The least movement after which the label is out of the sets of some rows."""
        given = np.full(len(rows), label)
        leads = leads_in(self.scores[:, rows], given)
        leads += threshold
        if label not in self._steps:
            X = self.judged.problem.X[rows]
            self._steps[label] = self.wrong.steps(X, given)
        return self.wrong.movements(leads, given, self._steps[label])


def judged_scores(classifier: Any, X: Any) -> Floats:
    """Scores (N, C) of a classifier that is linear, or has the features of a kernel."""
    features, last = linear_step(X, classifier)
    scores = linear_scores(last)
    checked = features_for(last, scores, features)
    return scores_of(checked, scores.coef, scores.intercept)


def gaps_below(scores: Floats) -> Floats:
    """How far each score (N, C) is below the largest of its row."""
    return np.asarray(scores.max(axis=1, keepdims=True) - scores)


def sets_of(scores: Floats, thresholds: Floats) -> Flags:
    """Which labels (N, C) are in the sets of rows with these scores (N, C)."""
    return np.asarray(gaps_below(scores) <= thresholds)


def nearest_labels(scores: list[Floats]) -> Codes:
    """The label whose score is, on average over classifiers, least below the largest."""
    gaps = np.mean([gaps_below(each) for each in scores], axis=0)
    return np.asarray(gaps.argmin(axis=1))
