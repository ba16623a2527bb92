"""The robust multiclass support vector machine with linear scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..problem import LOSSES, Loss
from ._base import RobustLinearClassifier
from .fitting.partial_fit import PartialFitMixin
from .fitting.steps import checked_nonnegative


class RobustLinearSVC(PartialFitMixin, RobustLinearClassifier):
    """Linear classifier with the least worst-case risk in a Wasserstein ball.

    Minimises the largest expected Crammer-Singer loss over all distributions that
    moving features and changing labels can reach within a budget.  The objective of
    the fit is a guarantee, and a lower bound of the optimum comes with it.

    Parameters
    ----------
    radius : float, default=0.05
        Budget of the adversary: what moved features and changed labels may cost, on average
        over the rows.  The default suits standardised features.
    label_cost : float or array of shape (n_classes, n_classes), default=2.0
        Cost of changing a label, in the units of the features; ``inf`` trusts every
        label.  A matrix is in the order of ``classes_``.
    norm : {"l1", "l2", "linf"}, default="l2"
        Norm of the transport cost on features.
    smoothing : float, default=0.0
        Temperature of the loss.  A soft maximum replaces the maximum in the Crammer-Singer
        loss.  It is at least as large, and has a gradient everywhere.  0 is the paper's
        loss.
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
        Box outside which the adversary cannot move features: numbers or arrays of shape
        (n_features,), infinite ends allowed.  ``"auto"`` takes the observed ranges of a
        data frame; rows outside widen them where the classifier is judged on other data.
        The fit is exact for ``norm="l1"`` and ``smoothing=0``.  Otherwise ``objective_``
        is a safe upper bound of the worst-case risk; :meth:`worst_case_risk` gives the
        exact value for ``smoothing=0``.
    categorical : sequence of pairs (columns, cost), "auto" or None, default=None
        Groups of one-hot columns, each a categorical feature whose category the
        adversary may switch at that cost; ``inf`` forbids it.  ``"auto"`` finds the
        groups in a data frame, each at cost 1: boolean or 8-bit columns whose names agree
        up to the last underscore.  Exact for ``smoothing=0``.
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
    warm_start : bool, default=False
        Whether to start from the previous fit.
    random_state : int, RandomState instance or None, default=None
        Seed of solvers that draw random numbers.
    verbose : int, default=0
        1 prints a line of progress for each round.
    loss : {"hinge", "ramp"}, default="hinge"
        What is kept low in the worst case.  ``"hinge"``, also called
        ``"crammer-singer"``: the expected Crammer-Singer loss.  ``"ramp"``: the share of
        wrong predictions among new rows, by descents from the hinge's fit.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
        Coefficients; for two classes, one row that decides for ``classes_[1]``.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Intercepts.
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
    feature_cost_ : ndarray of shape (n_features,)
        Price of moving each feature by one unit, as used in the fit: with ``"std"``, one
        over the standard deviation.
    support_, categorical_ : tuple of two arrays, list of pairs
        With ``"auto"``: the box and the groups that were found.
    worst_case_error_ : float
        With ``loss="ramp"``: the largest share of wrong predictions in the ball around
        the training data, exactly.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where they are all strings.

    See Also
    --------
    RobustLogisticRegression : The same ball around the logistic loss.
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

    Trained for the share of wrong predictions instead:

    >>> classifier = RobustLinearSVC(radius=0.05, loss="ramp").fit(scale(X), y)
    >>> print(f"{classifier.worst_case_error_:.3f} <= {classifier.objective_:.3f}")
    0.229 <= 0.323
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
        loss: Any = "hinge",
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
        self.loss = loss

    def _loss(self) -> Loss:
        smoothing = checked_nonnegative(self.smoothing, "smoothing")
        return replace(LOSSES["crammer-singer"], temperature=smoothing)
