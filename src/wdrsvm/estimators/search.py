"""Cross-validated robust support vector machines."""

from __future__ import annotations

from ._base import RobustLinearClassifier
from ._search import PathSearch
from .kernel import RobustSVC
from .linear import RobustLinearSVC
from .logistic import LogisticClassifier, RobustLogisticRegression


class RobustLinearSVCCV(PathSearch, RobustLinearClassifier):
    """:class:`RobustLinearSVC` with radius and label cost chosen by cross-validation.

    In every fold the classifiers of all pairs of a radius and a label cost are found along
    one path, which costs a fraction of fitting each, to a relative gap of 1e-3, or ``tol``
    if that is larger.  Scores weigh rows as training does: by ``sample_weight`` times
    ``class_weight``, for scorers that can.

    Parameters
    ----------
    radii : int or array-like of shape (n_radii,), default=10
        Radii to try; a number asks for so many that descend from below
        :func:`radius_max` of all the data, where a classifier promises more than a
        constant one, to a thousandth of that, evenly in the logarithm.
    label_costs : sequence of label costs, default=(2.0, inf)
        Label costs to try: numbers, ``inf`` or matrices in the order of ``classes_``.
    cv : int, splitter or iterable of splits, default=5
        How rows are divided; a number asks for so many stratified folds.
    scoring : str, callable, list, dict or None, default=None
        Scorers by scikit-learn's rules; None is the accuracy.  Where classes are rare,
        ``"balanced_accuracy"`` is the better judge.
    refit : bool or str, default=True
        Whether to fit on all rows in the end; of several scorers, the name of the one
        that decides.
    one_standard_error : bool, default=False
        Whether to take the largest radius whose score is within one standard error of the
        best, at the label cost of the best.
    stop_early : bool, default=False
        Whether to leave points out of further folds once they are so far behind the best
        that no chance explains it, by four standard deviations.  Begins after two folds
        of four or more.
    n_jobs : int or None, default=None
        Folds that are worked on at a time, through joblib and whichever of its backends
        is active.
    norm, smoothing, label_noise, disbelief, max_disbelief, feature_cost, support, \
            categorical, fit_intercept, class_weight, solver, tol, max_iter, \
            random_state, loss
        As for :class:`RobustLinearSVC`.  Standard deviations of ``feature_cost="std"`` are
        those of each fold's training rows, and in the end of all rows.
    verbose : int, default=0
        1 shows what is worked on and how many folds are done; above, the last fit shows
        its progress too.

    Attributes
    ----------
    radius_ : float
        The radius chosen.
    label_cost_ : float or ndarray
        The label cost chosen.
    radii_ : ndarray of shape (n_radii,)
        The radii tried.
    cv_results_ : dict
        Parameters, scores and times of all points, as of scikit-learn's searches; and
        ``"constant"``, whether a point's certified risk in the folds is within 1 % of
        the best constant classifier's.  Such a point promises nothing and is chosen only
        if all are so.  Scores of folds that ``stop_early`` left out are NaN, and so is
        the mean; such points rank last.
    best_estimator_ : RobustLinearSVC
        The classifier fitted on all rows; its fitted attributes (``coef_``,
        ``intercept_``, ``classes_``, ``objective_``, ...) are attributes of this object
        too.
    best_index_, best_params_, best_score_
        Where the choice stands in ``cv_results_``, its parameters and mean score.
    n_splits_ : int
        Number of folds.
    scorer_ : callable
        The scorer that decided.

    See Also
    --------
    robust_path : The classifiers themselves, without a choice.
    wdrsvm.plotting.SearchDisplay : Pictures of ``cv_results_``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from wdrsvm import RobustLinearSVCCV
    >>> X, y = load_wine(return_X_y=True)
    >>> search = RobustLinearSVCCV(radii=[0.01, 0.1, 1.0], cv=3).fit(scale(X), y)
    >>> print(search.radius_, search.label_cost_, round(search.best_score_, 2))
    0.1 inf 0.98
    """

    _searched = RobustLinearSVC


class RobustLogisticRegressionCV(PathSearch, LogisticClassifier):
    """:class:`RobustLogisticRegression` with radius and label cost chosen.

    Parameters
    ----------
    radii : int or array-like of shape (n_radii,), default=10
        Radii to try; a number asks for so many below :func:`radius_max`.
    label_costs : sequence of label costs, default=(2.0, inf)
        Label costs to try.
    cv, scoring, refit, one_standard_error, stop_early, n_jobs
        As for :class:`RobustLinearSVCCV`.
    norm, label_noise, disbelief, max_disbelief, feature_cost, fit_intercept, \
            class_weight, solver, tol, max_iter, random_state
        As for :class:`RobustLogisticRegression`.
    verbose : int, default=0
        1 shows what is worked on and how many folds are done; above, the last fit shows
        its progress too.

    Attributes
    ----------
    radius_ : float
        The radius chosen.
    label_cost_ : float or ndarray
        The label cost chosen.
    radii_ : ndarray of shape (n_radii,)
        The radii tried.
    cv_results_ : dict
        Parameters, scores and times of all points, as for :class:`RobustLinearSVCCV`.
    best_estimator_ : RobustLogisticRegression
        The classifier fitted on all rows, whose fitted attributes this object has too.
    best_index_, best_params_, best_score_
        Where the choice stands in ``cv_results_``, its parameters and mean score.
    n_splits_ : int
        Number of folds.
    scorer_ : callable
        The scorer that decided.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from wdrsvm import RobustLogisticRegressionCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = RobustLogisticRegressionCV(
    ...     radii=[0.01, 0.1], label_costs=[2.0], cv=3, scoring="neg_log_loss"
    ... ).fit(scale(X), y)
    >>> print(search.radius_, search.predict_proba(scale(X)[:1]).round(1))
    0.01 [[1. 0. 0.]]
    """

    _searched = RobustLogisticRegression


class RobustSVCCV(PathSearch, RobustSVC):
    """:class:`RobustSVC` with radius and label cost chosen by cross-validation.

    Parameters
    ----------
    radii : int or array-like of shape (n_radii,), default=10
        Radii to try, in the space of the kernel; a number asks for so many below the
        largest useful one.
    label_costs : sequence of label costs, default=(2.0, inf)
        Label costs to try.
    cv, scoring, refit, one_standard_error, stop_early, n_jobs
        As for :class:`RobustLinearSVCCV`.
    kernel, gamma, degree, coef0, kernel_params, lipschitz, label_noise, disbelief, \
            max_disbelief, n_components, fit_intercept, class_weight, solver, tol, \
            max_iter, random_state, loss
        As for :class:`RobustSVC`.
    verbose : int, default=0
        1 shows what is worked on and how many folds are done; above, the last fit shows
        its progress too.

    Attributes
    ----------
    radius_ : float
        The radius chosen.
    label_cost_ : float or ndarray
        The label cost chosen.
    radii_ : ndarray of shape (n_radii,)
        The radii tried.
    cv_results_ : dict
        Parameters, scores and times of all points, as for :class:`RobustLinearSVCCV`.
    best_estimator_ : RobustSVC
        The classifier fitted on all rows, whose fitted attributes this object has too.
    best_index_, best_params_, best_score_
        Where the choice stands in ``cv_results_``, its parameters and mean score.
    n_splits_ : int
        Number of folds.
    scorer_ : callable
        The scorer that decided.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from wdrsvm import RobustSVCCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = RobustSVCCV(radii=[0.01, 0.1], label_costs=[2.0], cv=3).fit(scale(X), y)
    >>> print(search.radius_, round(search.score(scale(X), y), 2))
    0.01 0.99
    """

    _searched = RobustSVC
