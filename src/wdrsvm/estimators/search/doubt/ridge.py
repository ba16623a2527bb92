"""Logistic regressions with a ridge penalty, as further points of a mean classifier.

The penalty of a ball is the largest distance between coefficients of two classes.  With
several classes and few rows the sum of squares, which shrinks all classes, is the better
penalty.  So a search whose classifier is a mean has scikit-learn's ``LogisticRegression``
among its points.  These points believe all labels.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from ..judges import GivenRows

# Values of C, if the weights of all rows have the sum ``TOTAL_WEIGHT``.  So neither the
# scale of the weights matters, nor whether a row is repeated or has twice the weight.
TOTAL_WEIGHT = 200.0
STRENGTHS = tuple(float(10**power) for power in np.linspace(-2.25, 2.25, 7))
MAX_ITER = 1000


def ridge_points(estimator: Any, rows: GivenRows) -> list[Any]:
    """The fitted classifiers; None each if a class has no weight."""
    # Equal rows are merged, and weights are those of rows and classes.
    data = clone(estimator)._training_data(*rows)
    merged, y = data.rows, data.classes[data.rows.y]
    if len(np.unique(merged.y)) < len(data.classes):
        return [None] * len(STRENGTHS)
    with warnings.catch_warnings():
        # Scores hardly change after so many steps.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [
            LogisticRegression(
                C=strength,
                fit_intercept=estimator.fit_intercept,
                max_iter=MAX_ITER,
            ).fit(merged.X, y, sample_weight=TOTAL_WEIGHT * merged.weight)
            for strength in STRENGTHS
        ]
