"""``partial_fit``: training on a stream, chunk by chunk, in bounded memory.

``solvers.stream`` has the steps.  This file adds scikit-learn's conventions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from ...inputs.arrays import (
    as_matrix,
    check_labels_present,
    check_size,
    checked_trust,
    checked_weight,
    class_factors,
    label_codes,
)
from ...problem import Certificate, RobustProblem
from ...robustness.promises.worst_case import linear_scores
from ...rows.canonical import NominalRows, places
from ...solvers import SolverResult, SolverStatus, Start
from .feature_cost import in_deviations
from .label_noise import check_label_noise
from .ramp import trains_for_error
from .steps import TrainingData, solver_settings, unchanged_on_error
from .training import forget_earlier

if TYPE_CHECKING:
    from ...solvers.subgradient.stream import StreamState


class Chunk(NamedTuple):
    """Rows of a stream with normalised weights, and their total weight before that."""

    data: TrainingData
    mass: float


def _takes_streams(estimator: Any) -> bool:
    """Refuse parameters that need all rows at once.

    These are random label noise, the ramp loss and feature costs by standard deviation.
    """
    if estimator.label_noise == "random":
        raise ValueError("partial_fit knows no label_noise='random': use fit.")
    if trains_for_error(estimator):
        raise ValueError("partial_fit knows no loss='ramp': use fit.")
    if in_deviations(estimator):
        raise ValueError(
            "partial_fit knows no feature_cost='std', because the standard deviations of a "
            "stream are known at its end only: use fit, or give feature_cost an array."
        )
    return True


class PartialFitMixin:
    """``partial_fit`` for a linear estimator with ``_ball``, ``_problem`` and ``_keep``."""

    @available_if(_takes_streams)
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        label_trust: Any = None,
    ) -> Any:
        """Learn from the next chunk of a stream.

        One pass of averaged stochastic subgradients over the chunk, in memory that does
        not grow with the number of chunks.  In the limit of many rows the classifier
        converges to the classifier of ``fit``.  Features are standardised internally, by
        the mean and deviation of all rows so far.  After ``fit``, a stream starts from the
        fitted classifier.

        ``objective_`` is the worst-case risk on the rows of this chunk.  A stream has no
        lower bound, so that ``dual_bound_`` is ``-inf``.  ``n_iter_`` counts steps.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that the stream can have.  Needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, comparable from chunk to chunk.
        label_trust : array-like of shape (n_samples,), default=None
            Factors on the label cost, row by row.

        Returns
        -------
        object
            The classifier itself.
        """
        with unchanged_on_error(self):
            estimator: Any = self
            check_label_noise(self)
            ball, settings = estimator._ball(), solver_settings(self)
            if ball.is_bounded:
                raise ValueError("partial_fit knows no support or categorical: use fit.")
            chunk = next_chunk(self, X, y, classes, sample_weight, label_trust)
            problem = estimator._problem(chunk.data, ball)
            before = current_state(self, problem)
            rng = np.random.default_rng([settings.seed, before.n_steps])
            state = before.after(problem, rng, chunk.mass)
            estimator.feature_cost_ = ball.feature_costs(problem.n_features).copy()
            estimator._keep(as_result(problem, state), chunk.data)
            forget_earlier(self)
            # The stream's state as plain values, and the coefficients after this chunk.
            estimator._stream = (state.parts, estimator.coef_)
        return self


def next_chunk(
    estimator: Any, X: Any, y: Any, classes: Any, sample_weight: Any, label_trust: Any
) -> Chunk:
    """Check the arguments of ``partial_fit``, and encode the labels."""
    is_first = not hasattr(estimator, "classes_")
    known = stream_classes(estimator, classes)
    check_labels_present(y)
    X, y = validate_data(
        estimator,
        X,
        y,
        reset=is_first,
        accept_sparse="csr",
        dtype=np.float64,
        order="C",
    )
    X = as_matrix(X)
    check_size(X)
    codes = label_codes(y, known)
    weight = checked_weight(sample_weight, len(codes))
    weight = weight * _class_factors(estimator.class_weight, known, codes, weight)[codes]
    trust = checked_trust(label_trust, len(codes))
    carried = np.flatnonzero(weight)
    if not len(carried):
        raise ValueError("sample_weight and class_weight leave no row any weight.")
    mass = float(weight.sum())
    rows = NominalRows(
        X[carried],
        codes[carried],
        weight[carried] / mass,
        None if trust is None else trust[carried],
        source=carried,
        became=places(carried, np.arange(len(carried)), len(weight)),
    )
    return Chunk(TrainingData(rows, known, codes), mass)


def stream_classes(estimator: Any, classes: Any) -> Any:
    """The labels of a stream: those of the first call, or of an earlier fit."""
    known = getattr(estimator, "classes_", None)
    if classes is None:
        if known is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return known
    given = np.unique(np.asarray(classes))
    if len(given) < 2:
        raise ValueError(f"classes must have at least 2 labels, got {given.tolist()}.")
    if known is not None and not np.array_equal(given, known):
        raise ValueError(
            f"classes must be those of the first call, {known.tolist()}, "
            f"got {given.tolist()}."
        )
    return given


def _class_factors(class_weight: Any, classes: Any, codes: Any, weight: Any) -> Any:
    if isinstance(class_weight, str) and class_weight == "balanced":
        raise ValueError(
            "class_weight='balanced' needs all labels at once: give partial_fit "
            "a dict of class weights instead."
        )
    return class_factors(class_weight, classes, codes, weight)


def current_state(estimator: Any, problem: RobustProblem) -> StreamState:
    """The stream's state; a new stream starts from the classifier of an earlier fit."""
    # Import here: importing the package must not load compiled code.
    from ...solvers.subgradient.stream import StreamState

    stream = getattr(estimator, "_stream", None)
    if stream is not None and stream[1] is getattr(estimator, "coef_", None):
        return StreamState.of_parts(stream[0])
    start = None
    if hasattr(estimator, "coef_"):
        scores = linear_scores(estimator)
        start = Start(scores.coef, scores.intercept, estimator.lambda_)
    return StreamState.begin(problem.n_classes, problem.n_features, start)


def as_result(problem: RobustProblem, state: StreamState) -> SolverResult:
    """The mean of the stream's iterates, evaluated on the chunk, without a lower bound."""
    coef, intercept, _ = state.mean
    risk = problem.risk(coef, intercept)
    return SolverResult(
        coef=coef,
        intercept=intercept,
        certificate=Certificate(risk.value, -np.inf, risk.lam),
        multipliers=None,
        status=SolverStatus.MAX_ITER,
        n_iter=state.n_steps,
        solver="stochastic",
    )
