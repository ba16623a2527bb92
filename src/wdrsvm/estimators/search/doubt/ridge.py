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
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from ..judges import GivenRows

# Values of C, if the weights of all rows have the sum ``TOTAL_WEIGHT``.  So neither the
# scale of the weights matters, nor whether a row is repeated or has twice the weight.
TOTAL_WEIGHT = 200.0
STRENGTHS = tuple(float(10**power) for power in np.linspace(-2.25, 2.25, 7))
MAX_ITER = 1000


def ridge_points(estimator: Any, rows: GivenRows) -> list[Any]:
    """The fitted classifiers; None each if there is only one class."""
    if len(np.unique(rows.y)) < 2:
        return [None] * len(STRENGTHS)
    weight = np.ones(len(rows.y)) if rows.sample_weight is None else rows.sample_weight
    weight = weight * (TOTAL_WEIGHT / weight.sum())
    with warnings.catch_warnings():
        # Scores hardly change after so many steps.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [
            LogisticRegression(
                C=strength,
                fit_intercept=estimator.fit_intercept,
                class_weight=estimator.class_weight,
                max_iter=MAX_ITER,
            ).fit(rows.X, rows.y, sample_weight=weight)
            for strength in STRENGTHS
        ]
