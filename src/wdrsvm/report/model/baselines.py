"""Baselines of a model: the constant answer, and logistic regression.

``wdrsvm fit`` learns the baselines from the training rows.  The model file stores them as
plain values, so that all three can be compared on every table.  Where the training rows are
not known, logistic regression is cross-validated on the rows of the comparison.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_array

from ...robustness.promises.worst_case import LinearScores, linear_scores

LOGISTIC = "LogisticRegression"
ATTRIBUTE = "baselines_"
MAX_ITER = 1000
FOLDS = 5


class BaselineFold(NamedTuple):
    """Rows of a fold, and the scores of a classifier that was learned from the others."""

    rows: Any
    scores: LinearScores


@dataclass(frozen=True, eq=False)
class Baselines:
    """The largest class of the training rows, and the scores of a logistic regression.

    ``logistic`` is None if the model has no such baseline; ``folds`` are then used, if
    there are any.
    """

    largest_class: Any
    logistic: LinearScores | None = None
    folds: tuple[BaselineFold, ...] = ()

    @property
    def about_logistic(self) -> str:
        """Which rows the logistic regression is learned from, as part of a sentence."""
        how = "cross-validated on these rows" if self.folds else "on the same rows"
        return f"{LOGISTIC} {how}"

    @classmethod
    def learned(cls, X: Any, y: Any) -> Baselines:
        """Learn both baselines from the features that the classifier receives."""
        return cls(largest_class(y), _logistic(X, y))

    @classmethod
    def of_rows(cls, y: Any) -> Baselines:
        """The largest class of the given rows, if the training rows are not known."""
        return cls(largest_class(y))

    @classmethod
    def cross_validated(cls, X: Any, y: Any) -> Baselines:
        """Both baselines from the given rows; no row is judged by a fit that saw it.

        There is no logistic regression if some class has a single row.
        """
        y = np.asarray(y)
        classes, counts = np.unique(y, return_counts=True)
        n_folds = min(FOLDS, int(counts.min()))
        if n_folds < 2 or len(classes) < 2:
            return cls.of_rows(y)
        X = check_array(X, accept_sparse="csr")
        splits = StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y)
        folds = [
            BaselineFold(test, _logistic(X[train], y[train])) for train, test in splits
        ]
        return cls(largest_class(y), folds=tuple(folds))

    @classmethod
    def of_model(cls, model: Any, y: Any, X: Any = None) -> Baselines:
        """The baselines in a model; from the given rows if the model has none.

        ``X`` are the features that the classifier receives; None leaves the logistic
        regression out.
        """
        kept = getattr(model, ATTRIBUTE, None)
        if kept is None:
            return cls.of_rows(y) if X is None else cls.cross_validated(X, y)
        scores = LinearScores(kept["coef"], kept["intercept"], model.classes_)
        return cls(kept["largest_class"], scores)

    def plain(self) -> dict[str, Any]:
        """The baselines as plain values and arrays, for a model file."""
        if self.logistic is None:
            raise ValueError("logistic must be learned before it is kept, got None.")
        return {
            "largest_class": self.largest_class,
            "coef": self.logistic.coef,
            "intercept": self.logistic.intercept,
        }


def _logistic(X: Any, y: Any) -> LinearScores:
    with warnings.catch_warnings():
        # The user did not ask for this fit, so its convergence warning is hidden.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return linear_scores(LogisticRegression(max_iter=MAX_ITER).fit(X, y))


def largest_class(y: Any) -> Any:
    """The most frequent label; if several tie, the first of them."""
    classes, counts = np.unique(np.asarray(y), return_counts=True)
    largest = classes[counts.argmax()]
    # Labels in an array of objects are Python's values already.
    return largest.item() if isinstance(largest, np.generic) else largest
