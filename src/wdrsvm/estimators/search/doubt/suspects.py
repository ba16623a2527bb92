"""Labels that a search with random label noise finds suspicious."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ....arrays import Codes, Flags, Floats, Labels
from ....robustness.frames import ColumnsMixin
from ....robustness.labels.audit_result import suspects_html, suspects_text
from ...fitting.label_noise import LIKELY
from .choice import Doubts
from .mean import PointWeights

# Out of fold, a label is worth a check if it is more probably wrong than right.
LIKELY_WRONG = 0.5


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
        return suspects_html(self, doubt=self.doubt)


class SuspectsMixin:
    """The list of suspicious labels of a fitted search."""

    label_noise: Any
    classes_: Labels
    label_belief_: Floats
    best_index_: int

    def suspects(self) -> SuspectLabels:
        """The training labels, from the most to the least suspicious.

        A label is to be checked if the fit does not believe it, or if the classifiers of
        the cross-validation, which have not seen it, find it more probably wrong than
        right.  So a fit that believes all labels leaves an audit of the labels.  Labels to
        be checked come first.  Ranks follow the sum of this probability and of the
        disbelief, which is 1 less the belief.  Labels with infinite ``label_trust`` are
        verified: they come last, and their probability is 0.

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
        doubt, belief = self.label_doubt_, self.label_belief_
        check = (belief < LIKELY) | (doubt > LIKELY_WRONG)
        order = np.lexsort((-self._log_odds, belief - doubt, ~check))
        return SuspectLabels(
            row=order,
            given=self.classes_[self._given_codes[order]],
            suggested=self.classes_[self._other_codes[order]],
            doubt=doubt[order],
            believed=belief[order] >= LIKELY,
            n_suspects=int(check.sum()),
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
        said = doubted.of_mean(points.weight, points.factor)
        verified = False if trust is None else np.isinf(trust)
        self.label_doubt_ = np.where(verified, 0.0, said.wrong[0])
        self.wrong_share_ = float(said.share[0] * (1 - 1 / len(doubted.classes)))
        self._other_codes = said.other[0]
        self._log_odds = np.where(verified, -np.inf, said.log_odds[0])
        self._given_codes = doubted.codes


_KEPT = ("label_doubt_", "wrong_share_", "_other_codes", "_log_odds", "_given_codes")
