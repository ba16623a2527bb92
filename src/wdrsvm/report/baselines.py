"""Baselines of a model: the constant answer, and logistic regression.

The baselines are learned from the training rows of the model.  The model file stores them
as plain values, so that all three can be compared on every table.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from ..robustness.promises.worst_case import LinearScores, linear_scores

LOGISTIC = "LogisticRegression"
ATTRIBUTE = "baselines_"
MAX_ITER = 1000


@dataclass(frozen=True, eq=False)
class Baselines:
    """The largest class of the training rows, and the scores of a logistic regression.

    ``logistic`` is None if the model has no such baseline.
    """

    largest_class: Any
    logistic: LinearScores | None = None

    @classmethod
    def learned(cls, X: Any, y: Any) -> Baselines:
        """Learn both baselines from the features that the classifier receives."""
        with warnings.catch_warnings():
            # The user did not ask for this fit, so its convergence warning is hidden.
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = LogisticRegression(max_iter=MAX_ITER).fit(X, y)
        return cls(largest_class(y), linear_scores(fitted))

    @classmethod
    def of_rows(cls, y: Any) -> Baselines:
        """The largest class of the given rows, if the training rows are not known."""
        return cls(largest_class(y))

    @classmethod
    def of_model(cls, model: Any, y: Any) -> Baselines:
        """The baselines in a model; from the given rows if the model has none."""
        kept = getattr(model, ATTRIBUTE, None)
        if kept is None:
            return cls.of_rows(y)
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


def largest_class(y: Any) -> Any:
    """The most frequent label; if several tie, the first of them."""
    classes, counts = np.unique(np.asarray(y), return_counts=True)
    return classes[counts.argmax()].item()
