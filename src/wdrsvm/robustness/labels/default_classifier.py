"""The classifier of audits, without scikit-learn's base classes.

It is the robust logistic regression on standardised features that believes all labels.  Its
radius is a fixed share of the largest one worth trying.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import softmax
from sklearn.preprocessing import StandardScaler

from ...arrays import Codes, Floats
from ...inputs.arrays import as_matrix, checked_features
from ...problem import LOSSES, RobustProblem, WassersteinBall, canonical_rows, polar
from ...solvers import SolverSettings, solve

BALL = WassersteinBall(radius=0.0)
# Fixed on tables other than those of the study in the documentation.
RADIUS_SHARE = 0.15
SETTINGS = SolverSettings(tol=1e-2)


class StandardModel:
    """Fits label codes 0 ... C-1, all of which must be present."""

    def fit(
        self,
        X: ArrayLike,
        y: Codes,
        sample_weight: Floats,
        label_trust: Floats | None = None,
    ) -> StandardModel:
        features = checked_features(X)
        self.scaler = StandardScaler(with_mean=not sparse.issparse(features))
        scaled = as_matrix(self.scaler.fit_transform(features))
        # All labels are trusted, so that single trusts change nothing.
        rows = canonical_rows(scaled, y, sample_weight, None)
        problem = RobustProblem.of(
            rows.X,
            rows.y,
            rows.weight,
            BALL,
            n_classes=int(y.max()) + 1,
            loss=LOSSES["logistic"],
        )
        radius = RADIUS_SHARE * largest_radius(problem)
        found = solve(problem.with_radius(radius), settings=SETTINGS)
        self.coef, self.intercept = found.coef, found.intercept
        return self

    def decision_function(self, X: ArrayLike) -> Any:
        scaled = self.scaler.transform(checked_features(X))
        return np.asarray(scaled @ self.coef.T + self.intercept)

    def predict_proba(self, X: ArrayLike) -> Any:
        return softmax(self.decision_function(X), axis=1)


def largest_radius(problem: RobustProblem) -> float:
    """The radius from which on a constant classifier is as robust as any.

    Labels must be trusted and the loss logistic.  Then the best constant classifier has the
    shares of the classes as probabilities, and the slope of its risk in the coefficients
    decides.  No problem has to be solved, as :func:`wdrsvm.radius_max` does in general.
    """
    observed = np.eye(problem.n_classes)[problem.y]
    shares = problem.weight @ observed
    slope = (problem.X.T @ (problem.weight[:, None] * (shares - observed))).T
    return polar(np.asarray(slope), problem.ball.norm, np.ones(problem.n_features))
