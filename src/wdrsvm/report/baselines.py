"""What a model is compared with: always the same answer, and logistic regression.

They are learned from the rows that the model is learned from, and stand in its file as
plain values, so that every table can judge all three.
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
    """The largest class of the training rows, and a logistic regression's scores.

    ``logistic`` is None where a model comes without one.
    """

    largest_class: Any
    logistic: LinearScores | None = None

    @classmethod
    def learned(cls, X: Any, y: Any) -> Baselines:
        """Both, from the features that the classifier sees."""
        with warnings.catch_warnings():
            # It is a yardstick, fitted as people do; nobody asked about its iterations.
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = LogisticRegression(max_iter=MAX_ITER).fit(X, y)
        return cls(largest_class(y), linear_scores(fitted))

    @classmethod
    def of_rows(cls, y: Any) -> Baselines:
        """The largest class of the rows at hand, where no others are known."""
        return cls(largest_class(y))

    @classmethod
    def of_model(cls, model: Any, y: Any) -> Baselines:
        """Those that a model carries; of the rows at hand if it carries none."""
        kept = getattr(model, ATTRIBUTE, None)
        if kept is None:
            return cls.of_rows(y)
        scores = LinearScores(kept["coef"], kept["intercept"], model.classes_)
        return cls(kept["largest_class"], scores)

    def plain(self) -> dict[str, Any]:
        """As plain values and arrays, for a model's file."""
        if self.logistic is None:
            raise ValueError("logistic must be learned before it is kept, got None.")
        return {
            "largest_class": self.largest_class,
            "coef": self.logistic.coef,
            "intercept": self.logistic.intercept,
        }


def largest_class(y: Any) -> Any:
    """The label that most rows have, the first one of several."""
    classes, counts = np.unique(np.asarray(y), return_counts=True)
    return classes[counts.argmax()].item()
