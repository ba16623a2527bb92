"""Base classes of the robust classifiers: one shared ``fit``, and linear scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..inputs.arrays import READ_AS_THEY_ARE, as_matrix, check_scores, checked_flag
from ..problem import LOSSES, Loss, RobustProblem, WassersteinBall
from ..problem.rounding.last_digits import with_sums_of_zero
from ..robustness.promises.worst_case import linear_scores
from ..rows.blocks import scores_of
from ..solvers import SolverResult, Start
from ._notebook import NotebookMixin
from ._promises import PromisesMixin
from ._states import PlainStateMixin
from .fitting.feature_cost import fitted_cost, resolved_cost
from .fitting.lazy import by_blocks, is_lazy, lazy_inputs
from .fitting.limits import keep_limits, resolved_limits
from .fitting.steps import (
    Inputs,
    TrainingData,
    checked_inputs,
    solver_settings,
    unchanged_on_error,
)
from .fitting.training import forget_earlier, training_of


class LargestScore(NotebookMixin, PlainStateMixin, ClassifierMixin, BaseEstimator):
    """A classifier that predicts the class with the largest ``decision_function``.

    Sparse rows are allowed.
    """

    def predict(self, X: Any) -> Any:
        """The label of the largest score.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class RobustClassifier(PromisesMixin, LargestScore):
    """A classifier with the least worst-case risk in a ball.

    A subclass defines the ``_ball``, the ``_loss``, the ``_problem`` that is built from
    the data, the ``_start`` of the solver, the attributes to ``_keep`` from its result,
    and the scores (``decision_function``).
    """

    # Whether the problem's features come from a kernel; the choice of a solver uses it.
    _of_kernel = False

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, label_trust: Any = None
    ) -> Any:
        """Find the classifier with the least worst-case risk.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask collection} of shape (n_samples, n_features)
            Features.  Large dense arrays and memory maps of floats or integers, in C or
            Fortran order, are read in blocks without a copy, unless rows of zero weight
            have to be left out.  Other numeric types are converted in one piece.  Linear
            classifiers also take dask arrays and data frames.  With a current client
            their rows stay on its workers; without one they are read chunk by chunk.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        label_trust : array-like of shape (n_samples,), default=None
            Factors >= 0 on the label cost, one per row; ``inf`` marks a verified label.

        Returns
        -------
        object
            The fitted classifier itself.
        """
        with unchanged_on_error(self):
            # Refuse invalid parameters before the rows are read.
            self._ball()
            settings, training = solver_settings(self), training_of(self)
            inputs = self._inputs(X, y, sample_weight, label_trust)
            data = self._canonical_rows(inputs)
            problem = self._problem(data, self._ball())
            solved = training.solve(self, problem, settings, self._start(data))
            forget_earlier(self)
            self._keep(training.conclude(self, problem, data, solved), data)
            self._review(data)
        return self

    def _inputs(self, X: Any, y: Any, sample_weight: Any, label_trust: Any) -> Inputs:
        return checked_inputs(self, X, y, sample_weight, label_trust, READ_AS_THEY_ARE)

    def _canonical_rows(self, inputs: Any) -> TrainingData:
        data: TrainingData = inputs.in_canonical_form()
        return data

    def _training_data(self, X: Any, y: Any, sample_weight: Any, label_trust: Any) -> Any:
        """Check the arguments of a fit, and bring them to canonical form."""
        return self._canonical_rows(self._inputs(X, y, sample_weight, label_trust))

    def _ball(self) -> WassersteinBall:
        cost, limits = resolved_cost(self), resolved_limits(self)
        return WassersteinBall(self.radius, self.label_cost, self.norm, cost, *limits)

    def _loss(self) -> Loss:
        return LOSSES["crammer-singer"]

    def _problem(self, data: TrainingData, ball: WassersteinBall) -> RobustProblem:
        return RobustProblem(
            data.rows,
            ball,
            n_classes=len(data.classes),
            fit_intercept=checked_flag(self.fit_intercept, "fit_intercept"),
            loss=self._loss(),
        )

    def _start(self, data: TrainingData) -> Start | None:
        return None

    def _review(self, data: TrainingData) -> None:
        """Check the fitted classifier, and warn if it has a numerical problem."""

    def _keep(self, result: SolverResult, data: TrainingData) -> None:
        self.classes_ = data.classes
        self.objective_, self.dual_bound_, self.lambda_ = result.certificate
        self.duality_gap_ = result.certificate.gap
        self.n_iter_ = result.n_iter
        self.solver_ = result.solver


class RobustLinearClassifier(RobustClassifier):
    """A robust classifier whose scores are ``X @ coef_.T + intercept_``."""

    def decision_function(self, X: Any) -> Any:
        """Scores: one per class, or for two classes only the score of ``classes_[1]``.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask collection} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            The scores; for a dask collection a dask array that is not yet computed.
        """
        if is_lazy(X):
            return by_blocks(self, "decision_function", X)
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=READ_AS_THEY_ARE, reset=False)
        scores = scores_of(as_matrix(X), self.coef_, self.intercept_)
        check_scores(scores)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _inputs(self, X: Any, y: Any, sample_weight: Any, label_trust: Any) -> Inputs:
        if is_lazy(X):
            keep_limits(self, X, None)
            return lazy_inputs(self, X, y, sample_weight, label_trust)
        inputs: Any = super()._inputs(X, y, sample_weight, label_trust)
        keep_limits(self, X, inputs.X)
        return inputs

    def _canonical_rows(self, inputs: Any) -> TrainingData:
        data = super()._canonical_rows(inputs)
        self.feature_cost_ = fitted_cost(self, data.deviations, data.rows.n_features)
        return data

    def predict(self, X: Any) -> Any:
        """The label of the largest score.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask collection} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels; for a dask collection a dask array that is not yet computed.
        """
        return by_blocks(self, "predict", X) if is_lazy(X) else super().predict(X)

    def _start(self, data: TrainingData) -> Start | None:
        if not (checked_flag(self.warm_start, "warm_start") and hasattr(self, "coef_")):
            return None
        scores = linear_scores(self)
        same_classes = np.array_equal(scores.classes, data.classes)
        if not same_classes or scores.coef.shape[1] != data.rows.n_features:
            return None
        return Start(scores.coef, scores.intercept, self.lambda_)

    def _keep(self, result: SolverResult, data: TrainingData) -> None:
        super()._keep(result, data)
        # Adding one vector to all rows of coef changes no prediction.
        coef, intercept = with_sums_of_zero(result.coef, result.intercept)
        if len(data.classes) == 2:
            coef, intercept = np.diff(coef, axis=0), np.diff(intercept)
        self.coef_, self.intercept_ = coef, intercept
