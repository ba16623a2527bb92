"""dask collections in an estimator: training rows in chunks, predictions chunk by chunk."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from ...arrays import Floats
from ...inputs.dask_collections import LazyRows, checked_block, is_lazy, observed_rows
from .feature_cost import in_deviations
from .steps import TrainingData

__all__ = ["by_blocks", "is_lazy", "lazy_inputs"]


@dataclass(frozen=True, eq=False)
class LazyInputs:
    """A dask collection that is checked chunk by chunk."""

    rows: LazyRows
    class_weight: Any
    deviations: Floats | None

    def in_canonical_form(self) -> TrainingData:
        """Remove rows of zero weight; rows are neither sorted nor merged."""
        rows, classes = observed_rows(self.rows, self.class_weight)
        codes = np.empty(0, dtype=np.intp)
        return TrainingData(rows, classes, codes, deviations=self.deviations)


def lazy_inputs(
    estimator: Any, X: Any, y: Any, sample_weight: Any, label_trust: Any
) -> LazyInputs:
    """Check a dask collection chunk by chunk, without collecting its rows."""
    _check_features(estimator, X, reset=True)
    rows = LazyRows.of(checked_block, X, y, sample_weight, label_trust)
    deviations = rows.deviations() if in_deviations(estimator) else None
    return LazyInputs(rows, estimator.class_weight, deviations)


def by_blocks(estimator: Any, method: str, X: Any) -> Any:
    """A lazy dask array: the estimator's method, applied to each block of rows."""
    check_is_fitted(estimator)
    _check_features(estimator, X, reset=False)
    call = BlockMethod(estimator, method)
    like = call(np.zeros((0, estimator.n_features_in_)))
    if hasattr(X, "map_partitions"):
        return X.map_partitions(call, meta=like, token=method)
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    if like.ndim == 1:
        return X.map_blocks(call, dtype=like.dtype, drop_axis=1, meta=like, token=method)
    chunks = (X.chunks[0], (like.shape[1],))
    return X.map_blocks(call, dtype=like.dtype, chunks=chunks, meta=like, token=method)


class BlockMethod:
    """A method of a fitted estimator, for blocks that may be empty."""

    def __init__(self, estimator: Any, method: str):
        # Feature names are checked on the whole collection; a block has no names.
        self.estimator, self.method = copy(estimator), method
        vars(self.estimator).pop("feature_names_in_", None)

    def __call__(self, block: Any) -> Any:
        X = checked_block(block)
        if X.shape[0]:
            return getattr(self.estimator, self.method)(X)
        row = np.zeros((1, self.estimator.n_features_in_))
        return getattr(self.estimator, self.method)(row)[:0]


def _check_features(estimator: Any, X: Any, reset: bool) -> None:
    """Check names and number of the features by scikit-learn's rules."""
    if getattr(X, "ndim", 2) != 2:
        raise ValueError(f"X must have 2 dimensions, got {X.ndim}.")
    has_names = hasattr(X, "columns")
    if not has_names and np.isnan(X.shape[1]):
        raise ValueError("X must have a known number of columns.")
    sample = X._meta if has_names else np.empty((0, X.shape[1]))
    validate_data(estimator, sample, reset=reset, y="no_validation", skip_check_array=True)
