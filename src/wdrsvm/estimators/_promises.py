"""Methods of fitted estimators about their robustness in the estimator's own ball."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..kernels import input_distance, lifted_radius
from ..robustness.promises.certified import bounded_radius, certified_radius
from ..robustness.promises.distributions.distribution import (
    WorstCaseDistribution,
    worst_case_distribution,
)
from ..robustness.promises.errors.error_curve import ErrorCurve
from ..robustness.promises.errors.worst_case_error import error_curve, worst_case_error
from ..robustness.promises.worst_case import worst_case_risk
from .fitting.limits import ball_around


class RiskPromisesMixin:
    """Worst-case risk and error rates of an estimator with ``_ball`` and ``_loss``."""

    _loss: Any

    def worst_case_risk(
        self, X: Any, y: Any, sample_weight: Any = None, label_trust: Any = None
    ) -> float:
        """Largest expected loss over the estimator's own ball around other data.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels, each one of ``classes_``.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        label_trust : array-like of shape (n_samples,), default=None
            Factors on the label cost, row by row.

        Returns
        -------
        float
            The worst-case risk.
        """
        check_is_fitted(self)
        given = {"sample_weight": sample_weight, "label_trust": label_trust}
        return worst_case_risk(self, X, y, ball_around(self, X), loss=self._loss(), **given)

    def worst_case_error(
        self, X: Any, y: Any, sample_weight: Any = None, label_trust: Any = None
    ) -> float:
        """Largest share of wrong predictions in the estimator's own ball around data.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels, each one of ``classes_``.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        label_trust : array-like of shape (n_samples,), default=None
            Factors on the label cost, row by row.

        Returns
        -------
        float
            The worst-case error, see :func:`wdrsvm.worst_case_error`.
        """
        check_is_fitted(self)
        given = {"sample_weight": sample_weight, "label_trust": label_trust}
        return worst_case_error(self, X, y, ball_around(self, X), **given)

    def error_curve(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        label_trust: Any = None,
        confidence: float | None = None,
    ) -> ErrorCurve:
        """Largest share of wrong predictions as a function of the radius.

        The other parts of the ball are the estimator's.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels, each one of ``classes_``.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        label_trust : array-like of shape (n_samples,), default=None
            Factors on the label cost, row by row.
        confidence : float, default=None
            Probability with which the curve holds for new rows from the same source.  With
            None the curve holds for the given rows only.

        Returns
        -------
        ErrorCurve
            The curve, see :func:`wdrsvm.error_curve`.
        """
        check_is_fitted(self)
        given = {"sample_weight": sample_weight, "label_trust": label_trust}
        ball = ball_around(self, X)
        return error_curve(self, X, y, ball, confidence=confidence, **given)


class PromisesMixin(RiskPromisesMixin):
    """Methods for an estimator that also has one linear form."""

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

        For a kernel model the flipped labels are exact.  Movement is described in feature
        space: the atoms have the features of ``linear_form``.  An atom that is moved may
        have features that no input has.  Distances are exact for each value of
        ``lipschitz``.  With ``"triangle"`` the supremum may therefore be less than
        :meth:`worst_case_risk`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, or for a precomputed kernel its values with the training rows.
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
            ball_around(self, X),
            tail_mass=tail_mass,
            loss=self._loss(),
            sample_weight=sample_weight,
            label_trust=label_trust,
        )

    def certified_radius(self, X: Any) -> Any:
        """Distance of each row to the nearest point with another prediction.

        The distance is the transport cost of the estimator's ball: its norm, its feature
        costs, and the costs of switching categories.  In a box, rows move inside it; rows
        outside widen the box.  With more than six categorical features that can switch,
        the distance is a lower bound.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.  The columns of a categorical feature must have a single 1 in each
            row: a category that the encoder has not seen raises an error.

        Returns
        -------
        ndarray of shape (n_samples,)
            The radii; ``inf`` where no movement changes the prediction.
        """
        check_is_fitted(self)
        estimator: Any = self
        ball = estimator._ball()
        if ball.is_bounded:
            return bounded_radius(self, X, ball)
        cost = ball.feature_costs(estimator.n_features_in_)
        return certified_radius(self, X, ball.norm, cost)


class KernelPromisesMixin(PromisesMixin):
    """Methods for a kernel model, whose ball lies in the kernel's feature space."""

    def certified_radius(self, X: Any) -> Any:
        """Lower bound of the distance of each input to another prediction.

        The distance is under the l2 norm.  An input that moves less keeps its prediction.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            The radii; ``inf`` where no movement changes the prediction.  Kernels that are
            not calm are refused.
        """
        return certified_radius(self, X)

    def lifted_radius(self, radius: float) -> float:
        """Radius in feature space whose ball contains a given ball of inputs.

        Parameters
        ----------
        radius : float
            Radius of a ball of inputs, under the l2 norm and the same label cost.

        Returns
        -------
        float
            The radius to train with.  Kernels that are not calm are refused.
        """
        check_is_fitted(self)
        estimator: Any = self
        return lifted_radius(radius, estimator._kernel, estimator.n_features_in_)

    def input_distance(self, distance: Any, norm: str = "l2") -> Any:
        """Least movement of inputs that can move their features by given distances.

        Parameters
        ----------
        distance : array-like
            Distances of features.
        norm : {"l1", "l2", "linf"}, default="l2"
            Norm of the movement of inputs.

        Returns
        -------
        ndarray
            Lower bounds of the movement; ``inf`` where features cannot move so far.
            Kernels that are not calm are refused.
        """
        check_is_fitted(self)
        estimator: Any = self
        n_features = estimator.n_features_in_
        return input_distance(distance, estimator._kernel, n_features, norm)
