"""One robust binary machine per class: a baseline for the multiclass machines."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from ..inputs.arrays import (
    as_matrix,
    check_labels_present,
    checked_weight,
    nominal_weight,
    observed_classes,
)
from ..inputs.frames import texts_named
from ..problem import LOSSES, Loss, WassersteinBall
from ..rows.moments import column_deviations
from ..rows.threads import at_most, n_processors
from ._base import LargestScore
from ._promises import RiskPromisesMixin
from .fitting.feature_cost import in_deviations
from .fitting.limits import found_limits
from .fitting.steps import unchanged_on_error
from .kernel import RobustSVC
from .linear import RobustLinearSVC

# Parameters that linear machines and kernel machines share.
SHARED = (
    "radius",
    "label_cost",
    "fit_intercept",
    "solver",
    "tol",
    "max_iter",
    "random_state",
    "verbose",
)
LINEAR = ("norm", "feature_cost", "support", "categorical")
KERNEL = ("kernel", "gamma", "degree", "coef0", "kernel_params", "n_components")


class RobustOneVsRestSVC(RiskPromisesMixin, LargestScore):
    """One-vs-rest robust support vector machine: one binary machine per class.

    Each machine separates one class from all others with the least worst-case hinge loss.
    All machines use the same ball.  The largest score decides.  The guarantee of a machine
    holds for its binary problem, not for the joint decision of all machines.

    Parameters
    ----------
    radius : float, default=0.05
        Budget of the adversary of each machine.
    label_cost : float, default=2.0
        Cost of turning a label of the class into one of the rest or back; ``inf`` trusts
        every label.  A matrix has no meaning here.
    kernel : {"linear", "rbf", "laplacian", "poly", "precomputed"} or callable, \
            default="linear"
        ``"linear"`` is a linear machine in the features with a ball of any norm; others
        are kernel machines, with the ball in the space of the kernel.
    norm : {"l1", "l2", "linf"}, default="l2"
        Norm of the transport cost on features; kernel machines have ``"l2"``.
    n_jobs : int or None, default=None
        Number of machines that are trained at the same time, in threads.
    feature_cost : array-like of shape (n_features,), "std" or None, default=None
        Price of moving each feature by one unit, for linear machines; ``"std"`` as for
        :class:`RobustLinearSVC`, the same for all machines.
    support, categorical
        Box and categories of linear machines, as for :class:`RobustLinearSVC`.
    gamma, degree, coef0, kernel_params, n_components
        Parameters of the kernel, as for :class:`RobustSVC`.
    fit_intercept : bool, default=True
        Whether scores have an intercept, which the adversary cannot move.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights, class by class.
    solver : {"auto", "interior-point", "newton", "first-order", "subgradient", \
            "stochastic", "highs", "clarabel"}, default="auto"
        How the problem is solved.  ``"auto"`` chooses by size, loss and norm.  The last
        two need the packages highspy and clarabel.
    tol : float, default=1e-6
        Relative duality gap asked for, of each machine.
    max_iter : int or None, default=None
        Limit of iterations of each machine; None is the solver's own.
    random_state : int, RandomState instance or None, default=None
        Seed of solvers that draw random numbers.
    verbose : int, default=0
        1 prints a line of progress for each round.

    Attributes
    ----------
    estimators_ : list
        The machines, one per class in the order of ``classes_``; for two classes only the
        machine of ``classes_[1]``.
    coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
        Coefficients of linear machines, one row per machine.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    lambda_, objective_, dual_bound_, duality_gap_ : ndarray of shape (n_machines,)
        Certificate of each machine, see :class:`RobustLinearSVC`.
    n_iter_ : ndarray of shape (n_machines,)
        Iterations of each machine's solver.
    solver_ : str
        Solver that was used.
    feature_cost_ : ndarray of shape (n_features,)
        Price of moving each feature by one unit, as used by linear machines.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where they are all strings.

    See Also
    --------
    RobustLinearSVC : One problem for all classes.
    RobustSVC : The same with kernels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from wdrsvm import RobustOneVsRestSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = RobustOneVsRestSVC(radius=0.02, label_cost=2.0).fit(scale(X), y)
    >>> print(f"{classifier.score(scale(X), y):.2f}")
    0.92
    >>> print(classifier.objective_.round(2))
    [0.05 0.61 0.19]
    """

    def __init__(
        self,
        radius: Any = 0.05,
        label_cost: Any = 2.0,
        *,
        kernel: Any = "linear",
        norm: Any = "l2",
        n_jobs: Any = None,
        feature_cost: Any = None,
        support: Any = None,
        categorical: Any = None,
        gamma: Any = "scale",
        degree: Any = 3,
        coef0: Any = 1.0,
        kernel_params: Any = None,
        n_components: Any = None,
        fit_intercept: Any = True,
        class_weight: Any = None,
        solver: Any = "auto",
        tol: Any = 1e-6,
        max_iter: Any = None,
        random_state: Any = None,
        verbose: Any = 0,
    ) -> None:
        self.radius = radius
        self.label_cost = label_cost
        self.kernel = kernel
        self.norm = norm
        self.n_jobs = n_jobs
        self.feature_cost = feature_cost
        self.support = support
        self.categorical = categorical
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, label_trust: Any = None
    ) -> RobustOneVsRestSVC:
        """Train one machine per class.

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
        RobustOneVsRestSVC
            The fitted classifier itself.
        """
        with unchanged_on_error(self):
            kind, parameters = self._machine()
            check_labels_present(y)
            given = X
            with texts_named(X):
                X, y = validate_data(
                    self, X, y, accept_sparse="csr", dtype=np.float64, order="C"
                )
            X = as_matrix(X)
            parameters |= found_limits(self, given, X)
            self.classes_, codes = observed_classes(y)
            weight = nominal_weight(sample_weight, self.class_weight, self.classes_, codes)
            if in_deviations(self):
                weighed = checked_weight(sample_weight, len(codes))
                parameters["feature_cost"] = 1 / column_deviations(X, weighed)
            told_apart = range(len(self.classes_)) if len(self.classes_) > 2 else (1,)
            train = delayed(_trained)
            n_threads = n_processors() // effective_n_jobs(self.n_jobs)
            self.estimators_ = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                train(kind, parameters, X, codes == code, weight, label_trust, n_threads)
                for code in told_apart
            )
            self._collect()
        return self

    def decision_function(self, X: Any) -> Any:
        """Scores: one per class, or for two classes only the score of ``classes_[1]``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, or for a precomputed kernel its values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            The scores.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        X = as_matrix(X)
        scores = [machine.decision_function(X) for machine in self.estimators_]
        return scores[0] if len(scores) == 1 else np.column_stack(scores)

    def _loss(self) -> Loss:
        """The loss of the joint decision of all machines."""
        return LOSSES["crammer-singer"]

    def _ball(self) -> WassersteinBall:
        """The ball that all machines share."""
        return self.estimators_[0]._ball()

    def _machine(self) -> tuple[type, dict[str, Any]]:
        """Class and parameters of a machine."""
        if not isinstance(self.label_cost, Real):
            raise ValueError(
                "label_cost must be a number, because a machine knows one class and the "
                f"rest only, got {self.label_cost!r}."
            )
        parameters = self.get_params(deep=False)
        chosen = {name: parameters[name] for name in SHARED}
        if isinstance(self.kernel, str) and self.kernel == "linear":
            return RobustLinearSVC, chosen | {name: parameters[name] for name in LINEAR}
        self._check_kernel_ball()
        return RobustSVC, chosen | {name: parameters[name] for name in KERNEL}

    def _check_kernel_ball(self) -> None:
        given = {name: getattr(self, name) for name in LINEAR if name != "norm"}
        if self.norm != "l2" or any(value is not None for value in given.values()):
            told = " and ".join(f"{name}={value!r}" for name, value in given.items())
            raise ValueError(
                "norm must be 'l2' and feature_cost, support and categorical None for a "
                "kernel machine, whose ball is in the space of the kernel, got "
                f"norm={self.norm!r} and {told}."
            )

    def _collect(self) -> None:
        """Collect the results of all machines in arrays."""
        machines = self.estimators_
        for name in ("lambda_", "objective_", "dual_bound_", "duality_gap_", "n_iter_"):
            setattr(self, name, np.array([getattr(each, name) for each in machines]))
        self.solver_ = machines[0].solver_
        self.intercept_ = np.concatenate([each.intercept_ for each in machines])
        if hasattr(machines[0], "coef_"):
            self.coef_ = np.vstack([each.coef_ for each in machines])
            self.feature_cost_ = machines[0].feature_cost_
        elif hasattr(self, "coef_"):
            del self.coef_, self.feature_cost_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and (
            self.kernel == "precomputed"
        )
        return tags


def _trained(
    kind: type,
    parameters: dict[str, Any],
    X: Any,
    y: Any,
    weight: Any,
    trust: Any,
    n_threads: int,
) -> Any:
    with at_most(n_threads):
        return kind(**parameters).fit(X, y, sample_weight=weight, label_trust=trust)
