"""Cross-validated robust support vector machines."""

from __future__ import annotations

from .._base import RobustLinearClassifier
from ..kernel import RobustSVC
from ..linear import RobustLinearSVC
from ..logistic import LogisticClassifier, RobustLogisticRegression
from .path_search import PathSearch


class RobustLinearSVCCV(PathSearch, RobustLinearClassifier):
    """:class:`RobustLinearSVC` with radius and label cost chosen by cross-validation.

    In every fold one path finds the classifiers of all pairs of a radius and a label cost.
    This takes a fraction of the time of single fits.  The relative gap in folds is 1e-3, or
    ``tol`` if that is larger.  Scores use the weights of training, ``sample_weight`` times
    ``class_weight``, if the scorer accepts weights.  ``label_noise="random"`` makes the
    search the recipe for doubtful labels of :class:`RobustLogisticRegressionCV`.

    Parameters
    ----------
    radii : int, array-like of shape (n_radii,) or "auto", default="auto"
        Radii to try.  A number asks for this many radii, evenly spaced in the logarithm.
        The largest is just below :func:`radius_max` of all the data, where a classifier
        promises more than a constant one.  The smallest is a thousandth of it.  "auto" is
        10, or with random label noise five shares of :func:`radius_max`.
    label_costs : sequence of label costs or "auto", default="auto"
        Label costs to try: numbers, ``inf`` or matrices in the order of ``classes_``.
        "auto" is ``(2.0, inf)``; with more than 64 columns, the typical length of a row in
        place of 2 if rows are longer.  With random label noise it is ``inf`` and three
        shares of the loss of equal scores.
    cv : int, splitter, iterable of splits or "auto", default="auto"
        How rows are divided; a number asks for this many stratified folds.  "auto" is 5,
        or with random label noise 5 shuffled folds, repeated if rows are few.
    scoring : str, callable, list, dict or None, default=None
        Scorers by scikit-learn's rules; None is the accuracy.  Where classes are rare,
        ``"balanced_accuracy"`` is the better judge.  With random label noise and None,
        the evidence of all folds decides, and ``score`` is the accuracy.
    refit : bool or str, default=True
        Whether to fit the chosen point on all rows; with several scorers, the name of the
        scorer that decides.
    one_standard_error : bool, default=False
        Whether to take the largest radius whose score is within one standard error of the
        best, at the label cost of the best.
    stop_early : bool, default=True
        Whether to leave a point out of further folds once it is 3 standard deviations
        behind the best point, or promises no more than a constant classifier.  This begins
        after two folds, and needs at least four.  False solves all points in all folds.
        The scores of points that stay are those of the whole search up to the relative gap
        in folds: solvers start from neighbours, and have fewer of them.
        With random label noise and ``scoring=None`` all points stay.
    n_jobs : int or None, default=None
        Number of folds that run at the same time, with joblib's active backend.
    norm : {"l1", "l2", "linf", "auto"}, default="auto"
        Norm of the transport cost on features; "auto" is "l2".
    smoothing, label_noise, disbelief, max_disbelief, feature_cost, support, categorical, \
            fit_intercept, class_weight, solver, tol, max_iter, \
            random_state, loss
        As for :class:`RobustLinearSVC`.  With ``feature_cost="std"`` each fold uses the
        standard deviations of its training rows, and the last fit those of all rows.
    verbose : int, default=0
        1 shows the current step and the number of finished folds; above 1, the last fit
        shows its progress too.

    Attributes
    ----------
    radius_ : float
        The radius chosen.
    label_cost_ : float or ndarray
        The label cost chosen.
    radii_ : ndarray of shape (n_radii,)
        The radii tried.
    cv_results_ : dict
        Parameters, scores and times of all points, as in scikit-learn's searches.  The
        entry ``"constant"`` tells whether a point's certified risk in the folds is within
        1 % of the best constant classifier's.  Such a point promises nothing.  It is
        chosen only if all points are constant.  With random label noise,
        ``"mean_test_evidence"`` is the evidence for each point, and ``"wrong_share"`` its
        estimate of the share of wrong labels.  A point that ``stop_early`` leaves out has
        NaN as score in the later folds and as mean, and ranks last.
    best_estimator_ : RobustLinearSVC
        The classifier fitted on all rows; its fitted attributes (``coef_``,
        ``intercept_``, ``classes_``, ``objective_``, ...) are attributes of this object
        too.
    best_index_, best_params_, best_score_
        Place of the chosen point in ``cv_results_``, its parameters and mean score.
    n_splits_ : int
        Number of folds.
    scorer_ : callable
        The scorer that decided.
    label_doubt_ : ndarray of shape (n_samples,)
        With random label noise: the probability that each label is wrong, by classifiers
        of the folds that have not seen it.
    wrong_share_ : float
        With random label noise: the estimated share of wrong labels.

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

    With ``label_noise="random"`` and no other argument, this is the whole recipe for
    labels that may be wrong.  Standardise the features first.  The search tries fits that
    believe all labels, and fits that disbelieve more and more of them.  Classifiers judge
    the given labels of rows that they have not seen.  The classifier is the mean of all
    points, with weights from this evidence; seven plain ``LogisticRegression`` are among
    the points.  ``objective_`` is recomputed for the mean in the ball of ``radius_``, and
    ``duality_gap_`` says what the mean costs there.  :meth:`suspects` lists the labels to
    check.

    Parameters
    ----------
    radii : int, array-like of shape (n_radii,) or "auto", default="auto"
        Radii to try; a number asks for so many below :func:`radius_max`.
    label_costs : sequence of label costs or "auto", default="auto"
        Label costs to try.
    cv, scoring, refit, one_standard_error, stop_early, n_jobs, norm
        As for :class:`RobustLinearSVCCV`; so is "auto".
    label_noise, disbelief, max_disbelief, feature_cost, support, categorical, \
            fit_intercept, class_weight, solver, tol, max_iter, random_state
        As for :class:`RobustLogisticRegression`.
    verbose : int, default=0
        1 shows the current step and the number of finished folds; above 1, the last fit
        shows its progress too.

    Attributes
    ----------
    radius_ : float
        The radius chosen.  Of a mean: points that believe all labels are one kind, the
        other points of the grid the second kind.  The radius is that of the heaviest point
        of the kind with more weight.
    label_cost_ : float or ndarray
        The label cost chosen, likewise.  It is finite if points that disbelieve labels
        have more weight than the points of the grid that believe all labels.
    radii_ : ndarray of shape (n_radii,)
        The radii tried.
    cv_results_ : dict
        Parameters, scores and times of all points, as for :class:`RobustLinearSVCCV`.
        If the classifier is a mean, ``"weight"`` has the weights of the points.
    best_estimator_ : RobustLogisticRegression
        The classifier fitted on all rows, whose fitted attributes this object has too.
    best_index_, best_params_, best_score_
        Place of the chosen point in ``cv_results_``, its parameters and mean score.
    n_splits_ : int
        Number of folds.
    scorer_ : callable
        The scorer that decided.
    label_doubt_ : ndarray of shape (n_samples,)
        With random label noise: the probability that each label is wrong, by classifiers
        of the folds that have not seen it.
    wrong_share_ : float
        With random label noise: the estimated share of wrong labels.

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

    A fifth of the labels is wrong; nobody knows which.

    >>> from wdrsvm.datasets import flip_labels
    >>> labels = flip_labels(y, 0.2, random_state=0)
    >>> search = RobustLogisticRegressionCV(label_noise="random").fit(scale(X), labels)
    >>> print(f"{search.score(scale(X), y):.2f}")
    0.97
    """

    _searched = RobustLogisticRegression


class RobustSVCCV(PathSearch, RobustSVC):
    """:class:`RobustSVC` with radius and label cost chosen by cross-validation.

    Parameters
    ----------
    radii : int, array-like of shape (n_radii,) or "auto", default="auto"
        Radii to try, in the space of the kernel; a number asks for so many below the
        largest useful one.
    label_costs : sequence of label costs or "auto", default="auto"
        Label costs to try.
    cv, scoring, refit, one_standard_error, stop_early, n_jobs
        As for :class:`RobustLinearSVCCV`; so is "auto".
    kernel, gamma, degree, coef0, kernel_params, lipschitz, label_noise, disbelief, \
            max_disbelief, n_components, fit_intercept, class_weight, solver, tol, \
            max_iter, random_state, loss
        As for :class:`RobustSVC`.
    verbose : int, default=0
        1 shows the current step and the number of finished folds; above 1, the last fit
        shows its progress too.

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
        Place of the chosen point in ``cv_results_``, its parameters and mean score.
    n_splits_ : int
        Number of folds.
    scorer_ : callable
        The scorer that decided.
    label_doubt_ : ndarray of shape (n_samples,)
        With random label noise: the probability that each label is wrong, by classifiers
        of the folds that have not seen it.
    wrong_share_ : float
        With random label noise: the estimated share of wrong labels.

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
