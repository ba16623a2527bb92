r"""Which label noise?  None, uniform, by class, or by row, by tests on drawn labels.

Three hypotheses are tested, each by a statistic that is large if it fails:

    no label is wrong       how much likelier noise by class makes the labels,
    noise is uniform        sum over pairs of classes of (observed - expected)^2 / variance,
    noise depends on class  the same over features of the rows, for the doubt in each label.

P-values come from labels that are drawn from the fitted hypothesis, with the out-of-fold
opinions as they are.  These opinions never saw the label of their row.  Hence labels that
are drawn anew have the same distribution given the opinions, if the hypothesis is true.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_consistent_length

from ...arrays import Codes, Floats
from ...inputs.arrays import checked_features, observed_classes
from .audit import checked_count, given_opinion
from .default_classifier import StandardModel
from .noise_model import (
    NoiseModel,
    Opinions,
    with_noise_by_class,
    with_uniform_noise,
    without_noise,
)
from .noise_test_result import LabelNoiseTest
from .out_of_fold import LabelledRows, checked_judge, mean_opinion, repeated_folds

# Directions of the features in which the noise may vary: more cost power.
MAX_DIRECTIONS = 5


def label_noise_test(
    X: Any,
    y: ArrayLike,
    estimator: Any = None,
    *,
    pred_probs: ArrayLike | None = None,
    level: float = 0.05,
    n_draws: int = 99,
    n_splits: int = 5,
    n_repeats: int = 1,
    random_state: int = 0,
) -> LabelNoiseTest:
    """Test which kind of label noise the data have.

    Noise near the boundary between classes cannot be told from classes that overlap, by
    any test of features and labels: both give the same data.  It counts as overlap here.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or None
        Features; None is allowed beside ``pred_probs``.
    y : array-like of shape (n_samples,)
        Labels; each class needs two rows at least.
    estimator : object, default=None
        Classifier whose out-of-fold opinions are used, as for :func:`audit_labels`.
    pred_probs : array-like of shape (n_samples, n_classes), default=None
        Out-of-fold probabilities, in place of an estimator.
    level : float, default=0.05
        A hypothesis is rejected if its p-value is at most this.
    n_draws : int, default=99
        Number of draws of labels for each p-value.
    n_splits, n_repeats : int, default=5 and 1
        Folds, and how often rows are divided into folds anew.
    random_state : int, default=0
        Seed of folds and draws.

    Returns
    -------
    LabelNoiseTest
        The kind of noise, p-values, and the confusion of the classes.

    See Also
    --------
    audit_labels : Finds the labels that are wrong.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from wdrsvm import label_noise_test
    >>> from wdrsvm.datasets import flip_labels
    >>> X, y = load_wine(return_X_y=True)
    >>> found = label_noise_test(X, flip_labels(y, 0.25), n_draws=39)
    >>> found.kind
    'uniform'
    """
    level = _checked_level(level)
    n_draws = checked_count(n_draws, "n_draws", 19)
    classes, codes = observed_classes(y)
    if pred_probs is None or X is not None:
        check_consistent_length(X, codes)
    ones = np.ones(len(codes))
    if pred_probs is None:
        counts = (
            checked_count(n_splits, "n_splits", 2),
            checked_count(n_repeats, "n_repeats"),
        )
        judge = StandardModel() if estimator is None else estimator
        model = checked_judge(X, judge)
        folds = repeated_folds(codes, *counts, random_state)
        opinion = mean_opinion(model, LabelledRows(X, codes, ones, None), folds)
    else:
        opinion = given_opinion(pred_probs, estimator, len(codes), len(classes))
    opinions = Opinions(opinion.log_probability, codes, ones)
    rng = np.random.default_rng(random_state)
    clean, uniform = without_noise(opinions), with_uniform_noise(opinions)
    by_class = with_noise_by_class(opinions, uniform)
    directions = _directions(X, opinions, by_class)
    return LabelNoiseTest(
        p_none=_p_value(_gain_of_noise, clean, opinions, n_draws, rng),
        p_uniform=_p_value(_pairs_that_stand_out, uniform, opinions, n_draws, rng),
        p_by_class=_p_value(
            lambda drawn: _rows_that_stand_out(drawn, by_class, directions),
            by_class,
            opinions,
            n_draws,
            rng,
        ),
        wrong_share=_wrong_share(by_class, opinions),
        classes=classes,
        confusion=by_class.confusion,
        level=level,
    )


def _checked_level(level: Any) -> float:
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise ValueError(f"level must be a number between 0 and 1, got {level!r}.")
    return float(level)


def _p_value(
    statistic: Callable[[Opinions], float],
    hypothesis: NoiseModel,
    opinions: Opinions,
    n_draws: int,
    rng: Any,
) -> float:
    """Share of draws as extreme as the data; the data count as one of them."""
    observed = statistic(opinions)
    given = hypothesis.given_probability(opinions.log_probability)
    n_extreme = 1
    for _ in range(n_draws):
        n_extreme += statistic(opinions.relabelled(_drawn(given, rng))) >= observed
    return n_extreme / (n_draws + 1)


def _drawn(probability: Floats, rng: Any) -> Codes:
    """One label per row, drawn from its probabilities."""
    level = rng.random(len(probability))[:, None]
    reached = np.cumsum(probability, axis=1) < level * probability.sum(axis=1)[:, None]
    return np.asarray(np.minimum(reached.sum(axis=1), probability.shape[1] - 1))


def _gain_of_noise(opinions: Opinions) -> float:
    """How much larger the log-likelihood is with noise by class, uniform or not."""
    noisy = with_noise_by_class(opinions, with_uniform_noise(opinions))
    return noisy.log_likelihood - without_noise(opinions).log_likelihood


def _pairs_that_stand_out(opinions: Opinions) -> float:
    """Squared scores of all entries of the confusion, at the fitted uniform noise."""
    model = with_uniform_noise(opinions)
    true = model.true_probability(opinions.log_probability)
    given = np.maximum(true @ model.confusion, np.finfo(np.float64).tiny)
    observed = np.eye(opinions.n_classes)[opinions.y]
    score = true.T @ (observed / given - 1)
    variance = (true**2).T @ (1 / given - 1)
    return float((score**2 / variance)[~np.eye(opinions.n_classes, dtype=bool)].sum())


def _rows_that_stand_out(
    opinions: Opinions, model: NoiseModel, directions: Floats
) -> float:
    """Squared correlations of the doubt in each label with features of its row."""
    true = model.true_probability(opinions.log_probability)
    given = np.maximum(true @ model.confusion, np.finfo(np.float64).tiny)
    right = true * np.diag(model.confusion) / given
    usual = 1 - true @ np.diag(model.confusion)
    doubt = (1 - right) - usual[:, None]
    variance = (given * doubt**2).sum(axis=1)
    surprise = doubt[np.arange(len(opinions.y)), opinions.y]
    score = surprise @ directions
    spread = np.maximum(variance @ directions**2, np.finfo(np.float64).tiny)
    return float((score**2 / spread).sum())


def _directions(X: Any, opinions: Opinions, model: NoiseModel) -> Floats:
    """Features of the rows: main directions of X, and how clear the true label is."""
    clear = model.true_probability(opinions.log_probability).max(axis=1)
    columns = [clear - clear.mean()]
    if X is not None:
        columns.extend(_main_directions(X).T)
    return np.stack(columns, axis=1)


def _main_directions(X: Any) -> Floats:
    features = checked_features(X)
    is_sparse = sparse.issparse(features)
    scaled = StandardScaler(with_mean=not is_sparse).fit_transform(features)
    if features.shape[1] > MAX_DIRECTIONS:
        scaled = TruncatedSVD(MAX_DIRECTIONS, random_state=0).fit_transform(scaled)
    elif is_sparse:
        scaled = scaled.toarray()
    return np.asarray(scaled - scaled.mean(axis=0))


def _wrong_share(model: NoiseModel, opinions: Opinions) -> float:
    right = model.posterior(opinions)[np.arange(len(opinions.y)), opinions.y]
    return float(1 - right.mean())
