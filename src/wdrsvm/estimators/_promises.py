"""What a fitted estimator can say of its own robustness, in its own ball."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..robustness.certified import certified_radius
from ..robustness.distribution import WorstCaseDistribution, worst_case_distribution


class PromisesMixin:
    """Methods for a linear estimator with ``_ball``."""

    def worst_case_distribution(
        self,
        X: Any,
        y: Any,
        *,
        tail_mass: float = 1e-4,
        sample_weight: Any = None,
        label_trust: Any = None,
    ) -> WorstCaseDistribution:
        """A distribution in the estimator's own ball that is nearly as bad as any.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels, each one of ``classes_``.
        tail_mass : float, default=1e-4
            Mass that moves; the smaller, the closer to the worst-case risk.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        label_trust : array-like of shape (n_samples,), default=None
            Factors on the label cost, row by row.

        Returns
        -------
        WorstCaseDistribution
            The atoms, their transport cost and their expected loss.
        """
        return worst_case_distribution(
            self,
            X,
            y,
            cast(Any, self)._ball(),
            tail_mass=tail_mass,
            sample_weight=sample_weight,
            label_trust=label_trust,
        )

    def certified_radius(self, X: Any) -> Any:
        """Distance of each row to the nearest point with another prediction.

        Measured by the estimator's own norm and feature costs, with categorical features
        as they are.  In a box, whose walls are not counted, a lower bound.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            The radii; ``inf`` where no movement changes the prediction.
        """
        ball = cast(Any, self)._ball()
        check_is_fitted(self)
        n_features = cast(Any, self).n_features_in_
        cost = ball.feature_costs(n_features).copy()
        for group in ball.groups(n_features):
            cost[group.columns] = np.inf
        return certified_radius(self, X, ball.norm, cost)
