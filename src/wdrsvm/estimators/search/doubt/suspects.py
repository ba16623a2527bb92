"""Labels that a search with random label noise finds suspicious."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ....arrays import Codes, Flags, Floats, Labels
from ....robustness.frames import ColumnsMixin
from ....robustness.labels.audit_result import suspects_html, suspects_text
from ....robustness.labels.suspicion import n_to_check
from ...fitting.label_noise import LIKELY
from .choice import Doubts
from .judged import judged_labels
from .mean import PointWeights


@dataclass(frozen=True, eq=False)
class SuspectLabels(ColumnsMixin):
    """Labels from the most to the least suspicious, and how many of them to check.

    Attributes
    ----------
    row : ndarray of shape (n_samples,)
        Row of the training data.
    given : ndarray of shape (n_samples,)
        The given label.
    suggested : ndarray of shape (n_samples,)
        The likeliest other label.
    doubt : ndarray of shape (n_samples,)
        Probability that the given label is wrong, by classifiers that have not seen it.
    believed : ndarray of shape (n_samples,)
        Whether the fit to all rows believes the label.
    n_suspects : int
        Suggested number of labels to check, from the top.
    wrong_share : float
        Estimated share of wrong labels among all labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from wdrsvm import RobustLogisticRegressionCV
    >>> from wdrsvm.datasets import flip_labels
    >>> X, y = load_iris(return_X_y=True)
    >>> labels = flip_labels(y, 0.2, random_state=0)
    >>> search = RobustLogisticRegressionCV(label_noise="random").fit(scale(X), labels)
    >>> suspects = search.suspects()
    >>> wrong = labels != y
    >>> print(wrong.sum(), wrong[suspects.row[:20]].sum())
    30 20
    """

    row: Codes
    given: Labels
    suggested: Labels
    doubt: Floats
    believed: Flags
    n_suspects: int
    wrong_share: float

    def _columns(self) -> dict[str, Any]:
        """The columns of a table; ``check`` is true for the first ``n_suspects`` rows."""
        names = ("row", "given", "suggested", "doubt", "believed")
        check = np.arange(len(self.row)) < self.n_suspects
        return {name: getattr(self, name) for name in names} | {"check": check}

    def __repr__(self) -> str:
        return suspects_text(self)

    def _repr_html_(self) -> str:
        return suspects_html(self, self.doubt)


class SuspectsMixin:
    """The list of suspicious labels of a fitted search."""

    label_noise: Any
    classes_: Labels
    label_belief_: Floats
    best_index_: int

    def suspects(self) -> SuspectLabels:
        """The training labels, from the most to the least suspicious.

        Two opinions are averaged: the probability that a label is wrong, by the classifiers
        of the cross-validation, which have not seen it; and the disbelief of the fit, which
        is 1 less ``label_belief_``.  If the fit believes all labels, the first opinion
        counts alone, which is an audit of the labels.  The suggested number of labels has
        the largest expected F1, as for :func:`audit_labels`.  Labels with infinite
        ``label_trust`` are verified, and come last.

        Returns
        -------
        SuspectLabels
            The list, with a suggested number of labels to check.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from wdrsvm import RobustLogisticRegressionCV
        >>> X, y = load_iris(return_X_y=True)
        >>> y[7] = 2
        >>> search = RobustLogisticRegressionCV([0.01], label_noise="random").fit(X, y)
        >>> suspects = search.suspects()
        >>> print(suspects.row[0], suspects.given[0], suspects.suggested[0])
        7 2 0
        """
        check_is_fitted(self)
        if not hasattr(self, "label_doubt_"):
            raise ValueError(
                "suspects needs a fit with label_noise='random', got "
                f"label_noise={self.label_noise!r}."
            )
        suspicion = _suspicion(self.label_doubt_, self.label_belief_)
        order = np.lexsort((-self._log_odds, -suspicion))
        return SuspectLabels(
            row=order,
            given=self.classes_[self._given_codes[order]],
            suggested=self.classes_[self._other_codes[order]],
            doubt=self.label_doubt_[order],
            believed=self.label_belief_[order] >= LIKELY,
            n_suspects=n_to_check(suspicion[order]),
            wrong_share=self.wrong_share_,
        )

    def _keep_doubts(
        self, doubted: Doubts | None, points: PointWeights | None, trust: Floats | None
    ) -> None:
        """Keep the out-of-fold opinions of the mean classifier, or of the chosen point.

        Labels with infinite trust are verified: nobody need check them.
        """
        for name in _KEPT:
            vars(self).pop(name, None)
        if doubted is None or points is None:
            return
        scale = points.weight * points.factor
        judged = judged_labels(doubted.told, doubted.codes, scale, trust)
        self.label_doubt_ = judged.wrong
        self.wrong_share_ = float(np.average(judged.wrong, weights=doubted.evidence.weight))
        self._other_codes = judged.other
        self._log_odds = judged.log_odds
        self._given_codes = doubted.codes


def _suspicion(doubt: Floats, belief: Floats) -> Floats:
    """The mean of the doubt and of the disbelief; if no label is disbelieved, the doubt."""
    return (doubt + 1 - belief) / 2 if (belief < LIKELY).any() else doubt


_KEPT = ("label_doubt_", "wrong_share_", "_other_codes", "_log_odds", "_given_codes")
