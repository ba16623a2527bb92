"""The robust linear classifier on standardised features, without scikit-learn's bases."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from ...arrays import Codes, Floats
from ...inputs.arrays import as_matrix, checked_features
from ...problem import RobustProblem, WassersteinBall, canonical_rows
from ...solvers import SolverSettings, solve

BALL = WassersteinBall(radius=0.05, label_cost=2.0)
SETTINGS = SolverSettings(tol=1e-4)


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
        rows = canonical_rows(scaled, y, sample_weight, label_trust)
        problem = RobustProblem.of(
            rows.X,
            rows.y,
            rows.weight,
            BALL,
            n_classes=int(y.max()) + 1,
            label_trust=rows.label_trust,
        )
        found = solve(problem, settings=SETTINGS)
        self.coef, self.intercept = found.coef, found.intercept
        return self

    def decision_function(self, X: ArrayLike) -> Any:
        scaled = self.scaler.transform(checked_features(X))
        return np.asarray(scaled @ self.coef.T + self.intercept)
