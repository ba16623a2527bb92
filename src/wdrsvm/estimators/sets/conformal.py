"""Sets of labels that keep their coverage when the data move."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted, validate_data

from ...arrays import Floats
from ...problem import WassersteinBall
from ...robustness.promises.sets.costs import judged_scores, nearest_labels
from .._states import PlainStateMixin
from ..fitting.steps import unchanged_on_error
from .calibration import Calibration, Member, calibrated
from .promises import SetPromisesMixin
from .rows import (
    CalibrationSplit,
    ball_of,
    check_classes,
    copy_feature_names,
    given_rows,
    is_prefit,
    prefit_part,
    routed_arguments,
    shared_classes,
    split_parts,
    splitter_of,
)
from .words import check_parameters, warn_of_full_sets


class RobustConformalClassifier(
    SetPromisesMixin, PlainStateMixin, MetaEstimatorMixin, ClassifierMixin, BaseEstimator
):
    """Sets that contain the right label with a given probability, in a whole ball.

    A set holds every label whose score is at most ``threshold_`` below the largest.  The
    threshold is found on rows that the classifier was not fitted on, by conformal risk
    control.  The promise needs no assumption about the classifier.  It holds for every
    distribution within the radius of the distribution of the rows: the set lacks the label
    of at most 1 - ``coverage`` of the rows, on average over draws of the calibration rows.
    A ball of radius 0 gives ordinary split conformal prediction.

    Parameters
    ----------
    estimator : classifier
        A linear classifier with ``coef_`` and ``intercept_``, such as scikit-learn's, a
        :class:`~wdrsvm.RobustSVC`, or a pipeline that ends in one.  A search of
        scikit-learn stands for its ``best_estimator_``.  The ball of a pipeline lies in the
        space of its last step.  The ball of a kernel model lies in the feature space of
        the kernel.
    coverage : float, default=0.9
        Share of labels that the sets must contain, above 0 and below 1.
    ball : WassersteinBall, default=None
        The ball in which the promise holds.  None takes the ball of the estimator, which
        must be one of this package.
    by_class : bool, default=False
        Find a threshold for each class.  The promise then holds *within* each class: the
        rows of the class move by the radius on average.  ``label_cost`` must be ``inf``.
    cv : None, "prefit", int, splitter or pairs of row numbers, default=None
        None fits the estimator on some rows and calibrates it on the others.  ``"prefit"``
        takes a fitted estimator and calibrates it on the rows given, which it must not
        have been fitted on.  A number of folds, or a splitter, calibrates one classifier
        for each split; a label is then in the set if it is in at least half of the sets of
        K classifiers.  The proven coverage is then smaller: ``promised_coverage_`` is
        1 - (1 - ``coverage``) K / (K // 2 + 1).
    test_size : float or int, default=None
        Share or number of the rows for calibration.  None is a half for ``cv=None``, and
        0.8 for ``cv="prefit"``, where the other rows choose the multiplier.
    multiplier : float, default=None
        The multiplier of the radius in the promise, at least 0.  It must not depend on the
        calibration rows.  None chooses the multiplier with the smallest sets: on the rows
        of the estimator's fit, and for ``cv="prefit"`` on separate rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the random choice of calibration rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of the columns of sets.
    threshold_ : float or ndarray
        How far a label's score may be below the largest score.  With ``by_class=True``
        the shape is (n_classes,).  Several splits add a first axis.  ``inf`` puts the
        label into every set.
    lambda_ : float or ndarray
        The multiplier, shaped like ``threshold_``; ``inf`` at radius 0.
    promised_coverage_ : float
        The proven coverage: ``coverage``, or less with several splits.
    estimators_ : list of classifiers
        The classifier of each split.
    estimator_ : classifier
        The only classifier, if there is one split or none.
    n_calibration_ : int or ndarray
        Number of calibration rows; one number per split if there are several.

    See Also
    --------
    wdrsvm.worst_case_error : The same for predictions of one label.

    Notes
    -----
    Rows are assumed to be independent draws from one source, together with their
    ``label_trust``.  The split is therefore purely random, and stratified only for
    ``by_class=True``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from wdrsvm import RobustConformalClassifier, WassersteinBall
    >>> X, y = load_iris(return_X_y=True)
    >>> ball = WassersteinBall(radius=0.05)
    >>> sets = RobustConformalClassifier(
    ...     LogisticRegression(max_iter=1000), coverage=0.9, ball=ball, random_state=0
    ... ).fit(X, y)
    >>> print(sets.sentence())
    On average over calibrations: if new rows from the same source move by 0.05 on average,
    the sets lack the label of at most 10 % of them.
    >>> sets.predict_set(X[[0, 70]])
    array([[ True, False, False],
           [False,  True,  True]])
    """

    def __init__(
        self,
        estimator: Any,
        coverage: float = 0.9,
        ball: WassersteinBall | None = None,
        by_class: bool = False,
        cv: Any = None,
        *,
        test_size: float | int | None = None,
        multiplier: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.coverage = coverage
        self.ball = ball
        self.by_class = by_class
        self.cv = cv
        self.test_size = test_size
        self.multiplier = multiplier
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        label_trust: Any = None,
        **params: Any,
    ) -> Any:
        """Find the thresholds.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, or whatever a pipeline takes.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, each either 0 or the same positive number; rows of weight 0 are left
            out.  Other weights are refused, because the promise needs rows from one
            distribution.
        label_trust : array-like of shape (n_samples,), default=None
            Factors >= 0 on the label cost, row by row; ``inf`` marks a verified label.  An
            estimator whose ``fit`` takes them is given them too.
        **params : dict
            ``groups`` for the splitter; with metadata routing, the arguments that splitter
            and estimator request.

        Returns
        -------
        RobustConformalClassifier
            The fitted classifier itself.
        """
        with unchanged_on_error(self):
            check_parameters(self)
            params = {"sample_weight": sample_weight, "label_trust": label_trust, **params}
            routed = routed_arguments(self, params)
            rows, routed = given_rows(X, y, sample_weight, label_trust, routed)
            if is_prefit(self.cv):
                parts = [prefit_part(self, rows)]
            else:
                parts = split_parts(self, rows, routed)
            self._keep([self._member(part) for part in parts])
        return self

    def predict(self, X: Any) -> Any:
        """The estimator's prediction.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.  With several classifiers, the label whose mean distance below the
            largest score is least.
        """
        check_is_fitted(self)
        if len(self.estimators_) == 1:
            return self.estimator_.predict(X)
        return self.classes_[nearest_labels(self._scores(X))]

    def get_metadata_routing(self) -> MetadataRouter:
        """Which arguments besides X and y the splitter and the estimator request.

        Returns
        -------
        MetadataRouter
            The routing of this classifier.
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router.add(estimator=self.estimator, method_mapping=mapping)
        splitter = splitter_of(self)
        if hasattr(splitter, "get_metadata_routing"):
            mapping = MethodMapping().add(caller="fit", callee="split")
            router.add(splitter=splitter, method_mapping=mapping)
        return router

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _member(self, part: CalibrationSplit) -> Member:
        """Fit a classifier, unless ``cv`` is "prefit", and calibrate it."""
        estimator = self.estimator
        if part.others is not None and not is_prefit(self.cv):
            estimator = clone(estimator).fit(part.others.X, part.others.y, **part.given)
            check_classes(estimator, part)
        return calibrated(estimator, part.rows, part.others, self._calibration(estimator))

    def _calibration(self, estimator: Any) -> Calibration:
        return Calibration(
            ball_of(self.ball, estimator),
            1 - float(self.coverage),
            bool(self.by_class),
            self.multiplier,
        )

    def _keep(self, members: list[Member]) -> None:
        self.estimators_ = [member.estimator for member in members]
        self.__dict__.pop("estimator_", None)
        if len(members) == 1:
            self.estimator_ = self.estimators_[0]
        self.classes_ = shared_classes(self.estimators_)
        self.ball_, self._by_class = members[0].ball, bool(self.by_class)
        copy_feature_names(self, self.estimators_[0])
        self._thresholds = np.array([member.thresholds for member in members])
        self.threshold_ = self._public(self._thresholds)
        self.lambda_ = self._public(np.array([member.multipliers for member in members]))
        n_rows = np.array([member.n_rows for member in members])
        self.n_calibration_ = int(n_rows[0]) if len(members) == 1 else n_rows
        # Markov's inequality: the probability that more than half of K sets lack a label
        # is at most this multiple of the probability that one set lacks it.
        multiple = len(members) / (len(members) // 2 + 1)
        self.promised_coverage_ = max(1 - multiple * (1 - float(self.coverage)), 0.0)
        warn_of_full_sets(self, self._thresholds)

    def _scores(self, X: Any) -> list[Floats]:
        """Scores (N, C) of each classifier."""
        if hasattr(self, "n_features_in_") and len(getattr(X, "shape", (0, 0))) == 2:
            validate_data(self, X, reset=False, skip_check_array=True)
        return [judged_scores(each, X) for each in self.estimators_]

    def _public(self, values: Floats) -> Any:
        """Values (K, C) of splits and labels, without axes on which they are constant."""
        values = values if self._by_class else values[:, 0]
        values = values if len(values) > 1 else values[0]
        return float(values) if values.ndim == 0 else values.copy()
