"""Robust multinomial logistic regression: probabilities with a guarantee."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_softmax

from ..problem import LOSSES, Loss
from ._base import RobustLinearClassifier
from .fitting.lazy import by_blocks, is_lazy
from .fitting.partial_fit import PartialFitMixin


class LogisticClassifier(RobustLinearClassifier):
    """Linear scores under the log-loss, and the probabilities of the classes."""

    decision_function: Any

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the classes' probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask collection} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Log-probabilities, in the order of ``classes_``; for a dask collection a dask
            array that is not yet computed.
        """
        if is_lazy(X):
            return by_blocks(self, "predict_log_proba", X)
        scores = self.decision_function(X)
        if scores.ndim == 1:
            # The log-odds of the second class.
            scores = np.column_stack([np.zeros_like(scores), scores])
        return log_softmax(scores, axis=1)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask collection} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of ``classes_``; each row sums to 1.  For a dask
            collection a dask array that is not yet computed.
        """
        if is_lazy(X):
            return by_blocks(self, "predict_proba", X)
        return np.exp(self.predict_log_proba(X))

    def _loss(self) -> Loss:
        return LOSSES["logistic"]


class RobustLogisticRegression(PartialFitMixin, LogisticClassifier):
    """Logistic regression with the least worst-case log-loss in a Wasserstein ball.

    Minimises the largest expected cross-entropy over all distributions that moving
    features, and at a finite ``label_cost`` changing labels, can reach within a budget.
    With trusted labels, the default, that is the mean log-loss plus ``radius`` times the
    largest distance between two rows of coefficients in the dual norm.

    Parameters
    ----------
    radius : float, default=0.05
        Budget of the adversary: what moved features and changed labels may cost, on average
        over the rows.  The default suits standardised features.
    label_cost : float or array of shape (n_classes, n_classes), default=inf
        Cost of changing a label, in the units of the features; ``inf`` trusts every
        label.  A matrix is in the order of ``classes_``.
    norm : {"l1", "l2", "linf"}, default="l2"
        Norm of the transport cost on features.
    label_noise : {"adversarial", "random"}, default="adversarial"
        Which wrong labels are expected.  ``"adversarial"``: the worst changes that
        ``label_cost`` allows.  ``"random"``: mistakes, so that the fit may disbelieve a
        label at the cost ``label_cost``, which is then in the units of the loss.
    disbelief : {"trim", "repair"}, default="trim"
        What the fit does with a disbelieved label, with random label noise.  ``"trim"``
        drops the row, so that the row's loss is at most ``label_cost``.  If that is a
        matrix, the least entry of the label's matrix row counts.  ``"repair"`` gives the
        row the other label with the least sum of loss and ``label_cost``.
    max_disbelief : float, default=0.4
        Largest share of the weight that may be disbelieved, with random label noise.
    feature_cost : array-like of shape (n_features,), "std" or None, default=None
        Price of moving each feature by one unit; ``inf`` marks a feature that the
        adversary cannot touch; None is 1 for each.  ``"std"`` measures movement in
        standard deviations of the training rows, weighted by ``sample_weight`` alone, so
        that raw features need no ``StandardScaler``; a constant feature counts as having
        the standard deviation 1.
    support : pair (low, high), "auto" or None, default=None
        Box outside which the adversary cannot move features, as for
        :class:`RobustLinearSVC`.  ``objective_`` is then a safe upper bound of the
        worst-case log-loss: the gain of a move is taken inside the softmax.
    categorical : sequence of pairs (columns, cost), "auto" or None, default=None
        Groups of one-hot columns, each a categorical feature whose category the
        adversary may switch at that cost, as for :class:`RobustLinearSVC`.
    fit_intercept : bool, default=True
        Whether scores have an intercept, which the adversary cannot move.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights, class by class; ``"balanced"`` gives every class the
        same total weight.
    solver : {"auto", "newton", "first-order", "interior-point"}, default="auto"
        How the problem is solved.  ``"auto"`` chooses by size and norm.  The last one is
        for ``support`` and ``categorical`` only.
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
        Coefficients; for two classes, one row: the log-odds of ``classes_[1]``.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    lambda_ : float
        Increase of the worst-case risk per unit of ``radius``.
    objective_ : float
        Certified worst-case log-loss on the training data.  With random label noise: the
        loss of the believed rows plus the price of the disbelieved ones.
    dual_bound_ : float
        Lower bound of the least possible worst-case log-loss.  With random label noise:
        of the least possible objective for the same beliefs.
    duality_gap_ : float
        ``objective_ - dual_bound_``.
    n_iter_ : int
        Iterations of the solver.
    solver_ : str
        Solver that was used.
    label_belief_ : ndarray of shape (n_samples,)
        With random label noise: the belief in each label, 1 or 0.  It is a
        fraction if ``max_disbelief`` is reached within the weight of the row.
    suggested_labels_ : ndarray of shape (n_samples,)
        With random label noise: the given label if it is believed, otherwise the
        likeliest other label.
    feature_cost_ : ndarray of shape (n_features,)
        Price of moving each feature by one unit, as used in the fit: with ``"std"``, one
        over the standard deviation.
    support_, categorical_ : tuple of two arrays, list of pairs
        With ``"auto"``: the box and the groups that were found.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where they are all strings.

    See Also
    --------
    RobustLinearSVC : The same ball around the Crammer-Singer loss.
    wdrsvm.worst_case_risk : The same guarantee for any linear classifier.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from wdrsvm import RobustLogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = RobustLogisticRegression(radius=0.02).fit(scale(X), y)
    >>> print(f"{classifier.score(scale(X), y):.2f}")
    0.97
    >>> print(classifier.predict_proba(scale(X)[:1]).round(2))
    [[0.99 0.01 0.  ]]
    """

    def __init__(
        self,
        radius: Any = 0.05,
        label_cost: Any = np.inf,
        *,
        norm: Any = "l2",
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
