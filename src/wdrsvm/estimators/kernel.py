"""The robust multiclass support vector machine with kernels."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from ..arrays import Floats
from ..inputs.arrays import as_matrix, check_scores
from ..problem import RobustProblem, WassersteinBall
from ..problem.certificate.gap import allowed_gap
from ..robustness.promises.worst_case import LinearScores
from ..rows.blocks import BLOCK_ENTRIES, dense_rows
from ..solvers import SolverResult
from ._base import RobustClassifier
from ._promises import KernelPromisesMixin
from .fitting.lifting import LiftedData, lifted
from .fitting.steps import Inputs, TrainingData, check_choice, checked_inputs


class RobustSVC(KernelPromisesMixin, RobustClassifier):
    """Kernel classifier with the least worst-case risk in a Wasserstein ball.

    The ball lies in the feature space of the kernel: the adversary moves features by a
    distance there, and changes labels, within one budget.  :meth:`lifted_radius` tells
    which radius covers a ball of inputs.

    Parameters
    ----------
    radius : float, default=0.05
        Budget of the adversary.
    label_cost : float or array of shape (n_classes, n_classes), default=2.0
        Cost of changing a label, in the units of the feature space; ``inf`` trusts every
        label.  A matrix is in the order of ``classes_``.
    kernel : {"linear", "rbf", "laplacian", "poly", "precomputed"} or callable, \
            default="rbf"
        The kernel.  A callable is given two matrices and returns the kernel values of all
        pairs of their rows; with ``"precomputed"`` X is such an array.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernels "rbf", "laplacian" and "poly".  ``"scale"`` is 1 over
        the number of features times the variance of X under the weights, ``"auto"`` is 1
        over the number of features.
    degree : int, default=3
        Degree of the kernel "poly".
    coef0 : float, default=1.0
        Constant of the kernel "poly".
    kernel_params : dict or None, default=None
        Keyword arguments of a callable kernel.
    lipschitz : {"exact", "triangle"}, default="exact"
        How the effect of moved features is computed.  ``"exact"`` uses the distances
        between the classes' functions and solves the robust problem in feature space.
        ``"triangle"`` is the published upper bound, by the sum of the functions' lengths.
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
    n_components : int or None, default=None
        Number of landmarks of a Nystroem approximation, for many rows; None is exact.
    fit_intercept : bool, default=True
        Whether scores have an intercept, which the adversary cannot move.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights, class by class; ``"balanced"`` gives every class the
        same total weight.
    solver : {"auto", "interior-point", "newton", "first-order", "subgradient", \
            "stochastic", "highs", "clarabel"}, default="auto"
        How the problem is solved.  ``"auto"`` chooses by size, loss and norm.  The last
        two need the packages highspy and clarabel.
    tol : float, default=1e-6
        Relative duality gap asked for.
    max_iter : int or None, default=None
        Limit of iterations; None is the solver's own.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks and of solvers that draw random numbers.
    verbose : int, default=0
        1 prints a line of progress for each round.
    loss : {"hinge", "ramp"}, default="hinge"
        What is kept low in the worst case.  ``"hinge"``, also called
        ``"crammer-singer"``: the expected Crammer-Singer loss.  ``"ramp"``: the share of
        wrong predictions among new rows, by descents from the hinge's fit.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_classes, n_samples) or (1, n_samples)
        Coefficients of the training rows: scores are
        ``K(X, X_train) @ dual_coef_.T + intercept_``; for two classes, one row that
        decides for ``classes_[1]``.  Zero outside ``support_``.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Intercepts.
    support_ : ndarray of shape (n_support,)
        Training rows that the scores depend on.
    support_vectors_ : {ndarray, sparse array} of shape (n_support, n_features)
        Features of these rows; of shape (0, 0) for a precomputed kernel.
    gamma_ : float or None
        The coefficient of the kernel; None for a kernel without such a coefficient.
    dropped_trace_ : float
        Share of the kernel matrix's trace that a Nystroem approximation leaves out;
        ``objective_`` holds for the kernel itself, ``dual_bound_`` for its approximation.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    lambda_ : float
        Increase of the worst-case risk per unit of ``radius``.
    objective_ : float
        Certified worst-case risk on the training data.  With random label noise: the loss
        of the believed rows plus the price of the disbelieved ones.  With ``loss="ramp"``:
        an upper bound of ``worst_case_error_``.
    dual_bound_ : float
        Lower bound of the least possible worst-case risk.  With random label noise: of the
        least possible objective for the same beliefs.  With ``loss="ramp"``: of the least
        possible objective if the same rows are dropped.
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
    worst_case_error_ : float
        With ``loss="ramp"``: the largest share of wrong predictions in the ball around
        the training data, exactly.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where they are all strings.

    See Also
    --------
    wdrsvm.RobustLinearSVC : Linear scores, three transport norms, any number of rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from wdrsvm import RobustSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = RobustSVC(radius=0.02, label_cost=2.0).fit(scale(X), y)
    >>> print(f"{classifier.score(scale(X), y):.2f}")
    0.97
    """

    _of_kernel = True

    def __init__(
        self,
        radius: Any = 0.05,
        label_cost: Any = 2.0,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: Any = 3,
        coef0: Any = 1.0,
        kernel_params: Any = None,
        lipschitz: Any = "exact",
        label_noise: Any = "adversarial",
        disbelief: Any = "trim",
        max_disbelief: Any = 0.4,
        n_components: Any = None,
        fit_intercept: Any = True,
        class_weight: Any = None,
        solver: Any = "auto",
        tol: Any = 1e-6,
        max_iter: Any = None,
        random_state: Any = None,
        verbose: Any = 0,
        loss: Any = "hinge",
    ) -> None:
        self.radius = radius
        self.label_cost = label_cost
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.lipschitz = lipschitz
        self.label_noise = label_noise
        self.disbelief = disbelief
        self.max_disbelief = max_disbelief
        self.n_components = n_components
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.loss = loss

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
        weights = self.dual_coef_[:, self.support_].T
        scores = self._kernel_products(X, weights) + self.intercept_
        check_scores(scores)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def linear_form(self, X: Any) -> tuple[Floats, LinearScores]:
        """The classifier as a linear classifier with at most as many features as classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, or for a precomputed kernel its values with the training rows.

        Returns
        -------
        features : ndarray of shape (n_samples, n_directions)
            Coordinates of the rows in the span of the classes' functions.
        scores : LinearScores
            Coefficients of these features, intercepts and classes.  The coefficients have
            the same lengths and distances as the classes' functions.
        """
        check_is_fitted(self)
        features = self._kernel_products(X, self._directions)
        intercept = self.intercept_
        if len(self.classes_) == 2:
            intercept = np.array([-intercept[0], intercept[0]]) / 2
        scores = LinearScores(self._span_coef, intercept, self.classes_, self.lipschitz)
        return features, scores

    def _kernel_products(self, X: Any, weights: Floats) -> Floats:
        """K(X, support) @ weights, by blocks of rows."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        X = as_matrix(X)
        step = max(1, BLOCK_ENTRIES // len(self.support_))
        blocks = (X[start : start + step] for start in range(0, X.shape[0], step))
        return np.vstack([self._kernel_rows(block) @ weights for block in blocks])

    def _kernel_rows(self, X: Any) -> Floats:
        if self._kernel.is_precomputed:
            return dense_rows(X[:, self.support_])
        return self._kernel(X, self.support_vectors_)

    def _ball(self) -> WassersteinBall:
        check_choice(self, "lipschitz", ("exact", "triangle"))
        return WassersteinBall(self.radius, self.label_cost, "l2")

    def _inputs(self, X: Any, y: Any, sample_weight: Any, label_trust: Any) -> Inputs:
        return checked_inputs(self, X, y, sample_weight, label_trust)

    def _canonical_rows(self, inputs: Any) -> TrainingData:
        return lifted(self, super()._canonical_rows(inputs), len(inputs.codes))

    def _problem(self, data: TrainingData, ball: WassersteinBall) -> RobustProblem:
        problem = super()._problem(data, ball)
        return replace(problem, lipschitz=self.lipschitz)

    def _keep(self, result: SolverResult, data: TrainingData) -> None:
        super()._keep(result, data)
        assert isinstance(data, LiftedData)
        coef, intercept = result.coef, result.intercept - result.intercept.mean()
        if self.lipschitz == "exact":
            # Adding one function to all classes changes no prediction: centre them.
            coef = coef - coef.mean(axis=0)
        basis, span = np.linalg.qr(coef.T)
        self._span_coef = span.T
        self._directions = data.factor.whitened(basis)
        dual = np.zeros((len(coef), len(data.codes)))
        self.support_ = data.rows.source[data.factor.landmarks]
        dual[:, self.support_] = self._span_coef @ self._directions.T
        if len(data.classes) == 2:
            dual, intercept = np.diff(dual, axis=0), np.diff(intercept)
        self.dual_coef_, self.intercept_ = dual, intercept
        none = np.empty((0, 0))
        self.support_vectors_ = none if data.support_rows is None else data.support_rows
        self._kernel = data.kernel
        self.gamma_ = dict(data.kernel.parameters).get("gamma")
        self.dropped_trace_ = data.factor.dropped

    def _review(self, data: TrainingData) -> None:
        """Warn if dual coefficients are so large that rounding exceeds the tolerance."""
        assert isinstance(data, LiftedData)
        root, wanted = data.factor.root, allowed_gap(self.tol, self.objective_)
        dual = self.dual_coef_[:, self.support_].T
        largest = np.square(root).sum(axis=1).max() * np.linalg.norm(dual, axis=0).max()
        if self._kernel.is_precomputed or np.finfo(float).eps * largest <= wanted:
            return
        # The kernel of the landmarks is root @ root.T, in exact arithmetic.
        known = self._landmark_losses(root @ (root.T @ dual), data)
        found = self._landmark_losses(self._kernel_rows(data.support_rows) @ dual, data)
        change = float(data.rows.weight[data.factor.landmarks] @ np.abs(found - known))
        if change > wanted:
            warnings.warn(
                f"{type(self).__name__} found functions so steep that rounding of their "
                f"scores changes the risk by about {change:.0e}, more than "
                f"tol={self.tol:.0e} allows. Raise radius, gamma or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _landmark_losses(self, scores: Floats, data: LiftedData) -> Floats:
        scores = scores + self.intercept_
        if len(self.classes_) == 2:
            scores = np.hstack([-scores, scores]) / 2
        labels = data.rows.y[data.factor.landmarks]
        return np.asarray(self._loss().of_labels(scores)[np.arange(len(labels)), labels])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.pairwise = is_precomputed
        return tags
