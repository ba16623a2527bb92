"""What a conformal classifier answers and promises: sets of labels, and their coverage."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...arrays import Flags
from ...inputs.arrays import checked_flag
from ...robustness.promises.sets.costs import nearest_labels, sets_of
from ...robustness.promises.sets.label_sets import LabelSets
from .._notebook import NotebookMixin
from ..search.judges import GivenRows
from .calibration import lost_shares
from .words import promise_in_words


class SetPromisesMixin(NotebookMixin):
    """Methods for a classifier with ``estimators_``, ``ball_`` and thresholds."""

    classes_: Any
    estimators_: list[Any]
    estimator_: Any
    ball_: Any
    promised_coverage_: float
    n_calibration_: Any
    _thresholds: Any
    _scores: Any

    def predict_set(self, X: Any) -> Flags:
        """Which labels are in the set of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_classes)
            True where a label is in the set; the prediction always is.
        """
        check_is_fitted(self)
        scores = self._scores(X)
        held = [sets_of(*pair) for pair in zip(scores, self._thresholds, strict=True)]
        # A label is lost if more than half of the sets lack it.
        sets = np.asarray(2 * np.sum(held, axis=0) >= len(held))
        sets[np.arange(len(sets)), nearest_labels(scores)] = True
        return sets

    def label_sets(self, X: Any) -> LabelSets:
        """The sets of :meth:`predict_set`, with their labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        LabelSets
            The sets; ``sets[k]`` has the labels of row k, ``to_frame()`` is a table.
        """
        return LabelSets(self.predict_set(X), self.classes_)

    def worst_case_coverage(
        self, X: Any, y: Any, label_trust: Any = None, *, by_class: bool = False
    ) -> Any:
        """Least share of labels that the sets hold, over the ball around some rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels, each one of ``classes_``.
        label_trust : array-like of shape (n_samples,), default=None
            Factors on the label cost, row by row.
        by_class : bool, default=False
            Whether to compute the coverage within each class: the rows of the class move
            by the radius on average.

        Returns
        -------
        float or ndarray of shape (n_classes,)
            The coverage; NaN for classes without rows.
        """
        check_is_fitted(self)
        if len(self.estimators_) > 1:
            raise ValueError(
                "worst_case_coverage needs cv=None or 'prefit', because no formula is "
                f"known for several classifiers together, got {len(self.estimators_)}."
            )
        by_class = checked_flag(by_class, "by_class")
        shares = 1.0 - lost_shares(
            self.estimator_,
            GivenRows(X, y, None, label_trust),
            self.ball_,
            self._thresholds[0],
            by_class,
        )
        return shares if by_class else float(shares[0])

    def sentence(self) -> str:
        """The promise in words.

        Returns
        -------
        str
            A sentence about new rows from the source of the calibration rows.
        """
        check_is_fitted(self)
        return promise_in_words(self)

    def _fit_facts(self) -> dict[str, Any]:
        return {
            "promise": self.sentence(),
            "proven coverage": float(self.promised_coverage_),
            "calibration rows": self.n_calibration_,
            "classes": ", ".join(map(str, self.classes_)),
        }
