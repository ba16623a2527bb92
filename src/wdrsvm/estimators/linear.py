"""The robust multiclass support vector machine with linear scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..problem import RobustProblem, WassersteinBall
from ..robustness.worst_case import linear_scores, worst_case_risk
from ..solvers import SolverResult, Start, solve
from ._fit import (
    TrainingData,
    check_available,
    concluded,
    solver_settings,
    training_data,
    unchanged_on_error,
)
from ._partial_fit import PartialFitMixin
from ._promises import PromisesMixin


class RobustLinearSVC(PromisesMixin, PartialFitMixin, ClassifierMixin, BaseEstimator):
    """Linear classifier with the least worst-case risk in a Wasserstein ball.

    Minimises the largest expected Crammer-Singer loss over all distributions that
    moving features and changing labels can reach within a budget.  The objective of
    the fit is a guarantee, and a lower bound of the optimum comes with it.

    Parameters
    ----------
    radius : float, default=0.05
        Budget of the adversary.  The default suits standardised features.
    label_cost : float or array of shape (n_classes, n_classes), default=2.0
        Cost of changing a label, in the units of the features; ``inf`` trusts every
        label.  A matrix is in the order of ``classes_``.
    norm : {"l1", "l2", "linf"}, default="l2"
        Norm of the transport cost on features.
    smoothing : float, default=0.0
        Temperature of the loss.  Only 0 is available.
    label_noise : {"adversarial"}, default="adversarial"
        How labels go wrong.
    disbelief : {"trim", "repair"}, default="trim"
        What is done with a label that is not believed; random label noise only.
    max_disbelief : float, default=0.4
        Largest share of labels that are not believed; random label noise only.
    feature_cost : array-like of shape (n_features,), default=None
        Price of moving each feature by one unit; ``inf`` marks a feature that the
        adversary cannot touch.
    support : pair (low, high) or None, default=None
        Box that holds all features, wherever the adversary moves them; numbers or
        arrays of shape (n_features,), infinite ends allowed.  Exact for ``norm="l1"``;
        with the other norms ``objective_`` is a safe upper bound of the worst-case
        risk, which :meth:`worst_case_risk` gives exactly.
    categorical : sequence of pairs (columns, cost) or None, default=None
        Groups of one-hot columns, each a categorical feature whose category the
        adversary may switch at that cost; ``inf`` forbids it.  Exact.
    fit_intercept : bool, default=True
        Whether scores have an intercept, which the adversary cannot move.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights, class by class; ``"balanced"`` gives every class the
        same total weight.
    solver : str, default="auto"
        Name of the solver.
    tol : float, default=1e-6
        Relative duality gap asked for.
    max_iter : int or None, default=None
        Limit of iterations; None is the solver's own.
    warm_start : bool, default=False
        Whether to start from the previous fit.
    random_state : int, RandomState instance or None, default=None
        Seed of solvers that draw random numbers.
    verbose : int, default=0
        1 prints a line of progress for each round.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
        Coefficients; for two classes, one row that decides for ``classes_[1]``.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    lambda_ : float
        Worst-case risk added by the last unit of budget.
    objective_ : float
        Certified worst-case risk on the training data.
    dual_bound_ : float
        Lower bound of the least possible worst-case risk.
    duality_gap_ : float
        ``objective_ - dual_bound_``.
    n_iter_ : int
        Iterations of the solver.
    solver_ : str
        Solver that was used.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where they are all strings.

    See Also
    --------
    wdrsvm.radius_max : The largest radius worth trying.
    wdrsvm.worst_case_risk : The same guarantee for any linear classifier.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from wdrsvm import RobustLinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = RobustLinearSVC(radius=0.05, label_cost=2.0).fit(scale(X), y)
    >>> print(f"{classifier.score(scale(X), y):.2f}")
    0.97
    >>> print(f"{classifier.objective_:.3f}")
    0.342
    """

    def __init__(
        self,
        radius: Any = 0.05,
        label_cost: Any = 2.0,
        *,
        norm: Any = "l2",
        smoothing: Any = 0.0,
        label_noise: Any = "adversarial",
        disbelief: Any = "trim",
        max_disbelief: Any = 0.4,
        feature_cost: Any = None,
        support: Any = None,
        categorical: Any = None,
        fit_intercept: Any = True,
        class_weight: Any = None,
        solver: Any = "auto",
        tol: Any = 1e-6,
        max_iter: Any = None,
        warm_start: Any = False,
        random_state: Any = None,
        verbose: Any = 0,
    ) -> None:
        self.radius = radius
        self.label_cost = label_cost
        self.norm = norm
        self.smoothing = smoothing
        self.label_noise = label_noise
        self.disbelief = disbelief
        self.max_disbelief = max_disbelief
        self.feature_cost = feature_cost
        self.support = support
        self.categorical = categorical
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, label_trust: Any = None
    ) -> RobustLinearSVC:
        """Find the classifier with the least worst-case risk.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        label_trust : array-like of shape (n_samples,), default=None
            Factors >= 0 on the label cost, row by row; ``inf`` marks a verified label.

        Returns
        -------
        RobustLinearSVC
            The fitted classifier itself.
        """
        with unchanged_on_error(self):
            ball, settings = self._ball(), solver_settings(self)
            data = training_data(self, X, y, sample_weight, label_trust)
            problem = self._problem(data, ball)
            result = solve(problem, self.solver, settings, self._start(data))
            self._keep(concluded(self, problem, result), data)
        return self

    def decision_function(self, X: Any) -> Any:
        """Scores: one a class, or for two classes that of ``classes_[1]``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            The scores.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

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
        return worst_case_risk(
            self,
            X,
            y,
            self._ball(),
            sample_weight=sample_weight,
            label_trust=label_trust,
        )

    def _ball(self) -> WassersteinBall:
        check_available(self, smoothing=0.0, label_noise="adversarial")
        return WassersteinBall(
            self.radius,
            self.label_cost,
            self.norm,
            self.feature_cost,
            self.support,
            self.categorical,
        )

    def _problem(self, data: TrainingData, ball: WassersteinBall) -> RobustProblem:
        return RobustProblem(
            data.rows.X,
            data.rows.y,
            data.rows.weight,
            ball,
            n_classes=len(data.classes),
            fit_intercept=bool(self.fit_intercept),
            label_trust=data.rows.label_trust,
        )

    def _start(self, data: TrainingData) -> Start | None:
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        scores = linear_scores(self)
        same_classes = np.array_equal(scores.classes, data.classes)
        if not same_classes or scores.coef.shape[1] != data.rows.X.shape[1]:
            return None
        return Start(scores.coef, scores.intercept, self.lambda_)

    def _keep(self, result: SolverResult, data: TrainingData) -> None:
        # One vector added to all rows of coef changes nothing: take the centred one.
        coef = result.coef - result.coef.mean(axis=0)
        intercept = result.intercept - result.intercept.mean()
        if len(data.classes) == 2:
            coef, intercept = np.diff(coef, axis=0), np.diff(intercept)
        self.coef_, self.intercept_ = coef, intercept
        self.classes_ = data.classes
        self.objective_, self.dual_bound_, self.lambda_ = result.certificate
        self.duality_gap_ = result.certificate.gap
        self.n_iter_ = result.n_iter
        self.solver_ = result.solver

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
