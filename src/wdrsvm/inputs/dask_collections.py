"""Checks of the user's dask collections: chunk by chunk, with the same errors as arrays.

Each chunk of rows goes through two tasks.  The first task checks the arrays of the chunk
and counts its labels and weights.  These counts of all chunks give the classes, the class
weights and the normalisation.  The second task encodes the labels and drops rows without
weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ..arrays import Codes, Floats, Labels, Matrix
from ..rows.dask_engine import Delayed, Engine, as_delayed, calls, current_engine, reduction
from ..rows.dask_rows import ChunkedRows
from ..rows.memory_rows import MemoryRows
from ..rows.moments import ColumnMoments, column_moments, joined_moments
from .arrays import (
    READ_AS_THEY_ARE,
    as_matrix,
    check_labels_present,
    check_some_weight,
    check_two_classes,
    check_weighted_classes,
    checked_trust,
    class_factors,
    label_codes,
    nonnegative_weight,
)

# A function that turns some rows of X, of any type, into a checked matrix.
CheckFeatures = Callable[[Any], Matrix]


def is_lazy(values: Any) -> bool:
    """Whether ``values`` is a dask collection."""
    return hasattr(values, "__dask_graph__")


def checked_block(X: Any) -> Matrix:
    """Features of some rows, perhaps of no row, in the form that ``fit`` reads."""
    return as_matrix(
        check_array(
            X,
            accept_sparse="csr",
            dtype=READ_AS_THEY_ARE,
            ensure_min_samples=0,
            input_name="X",
        )
    )


class RawChunk(NamedTuple):
    """Some rows as given, checked; missing weights become 1, a missing trust None."""

    X: Matrix
    y: Labels
    weight: Floats
    label_trust: Floats | None


class Census(NamedTuple):
    """Counts of a chunk.

    For each of its ``labels``, ``carried`` is the number of rows with weight, and ``mass``
    is the sum of their weights.
    """

    n_features: int
    n_rows: int
    labels: Labels
    carried: Codes
    mass: Floats

    @classmethod
    def of(cls, chunk: RawChunk) -> Census:
        labels, codes = np.unique(chunk.y, return_inverse=True)
        count = np.bincount(codes[chunk.weight > 0], minlength=len(labels))
        mass = np.bincount(codes, chunk.weight).astype(np.float64)
        return cls(chunk.X.shape[1], len(chunk.y), labels, count, mass)


class LazyRows(NamedTuple):
    """The chunks as given, checked, and the counts of each chunk."""

    raw: list[Delayed]
    census: list[Census]
    engine: Engine
    with_trust: bool

    @classmethod
    def of(
        cls, check: CheckFeatures, X: Any, y: Any, sample_weight: Any, label_trust: Any
    ) -> LazyRows:
        engine = current_engine()
        blocks = aligned_blocks(engine, X, y, sample_weight, label_trust)
        raw = engine.keep_rows(calls(partial(_checked_chunk, check), *blocks))
        census = engine.gather(calls(Census.of, raw))
        return cls(raw, census, engine, label_trust is not None)

    @property
    def labels(self) -> Labels:
        """All labels, sorted."""
        return np.unique(np.concatenate([told.labels for told in self.census]))

    def by_class(self, classes: Labels) -> tuple[Codes, Floats]:
        """For each chunk and class: the number of rows with weight, and their weight."""
        shape = (len(self.census), len(classes))
        carried, mass = np.zeros(shape, dtype=np.intp), np.zeros(shape)
        for i, told in enumerate(self.census):
            codes = label_codes(told.labels, classes)
            carried[i, codes], mass[i, codes] = told.carried, told.mass
        return carried, mass

    def deviations(self) -> Floats:
        """Standard deviations of the features, computed in the place of the rows."""
        told = reduction(joined_moments, calls(_moments, self.raw))
        moments: ColumnMoments = self.engine.gather([told])[0]
        return moments.deviations()

    def encoded(self, classes: Labels, factors: Floats) -> ChunkedRows:
        """The rows with weight, where ``factors`` (C,) multiply the weights of the classes.

        The weights of all rows are normalised to the sum 1.
        """
        carried, mass = self.by_class(classes)
        n_rows = carried[:, factors > 0].sum(axis=1)
        encoding = Encoding(classes, factors / float((mass @ factors).sum()))
        filled = np.flatnonzero(n_rows)
        raw = [self.raw[i] for i in filled]
        labels = calls(encoding, raw)
        chunks = calls(_encoded, raw, self.engine.keep_labels(labels))
        return ChunkedRows(
            tuple(self.engine.keep_rows(chunks)),
            tuple(int(n_rows[i]) for i in filled),
            self.census[0].n_features,
            self.engine,
            self.with_trust,
        )


def observed_rows(lazy: LazyRows, class_weight: Any) -> tuple[ChunkedRows, Labels]:
    """Rows to train on, and their classes."""
    classes = lazy.labels
    # Each class twice: values that occur once look like those of a regression.
    check_classification_targets(np.repeat(classes, 2))
    check_two_classes(classes)
    mass = lazy.by_class(classes)[1].sum(axis=0)
    check_some_weight(mass)
    factors = class_factors(class_weight, classes, np.arange(len(classes)), mass)
    check_weighted_classes(mass * factors)
    return lazy.encoded(classes, factors), classes


def known_rows(
    check: CheckFeatures,
    X: Any,
    y: Any,
    sample_weight: Any,
    label_trust: Any,
    classes: Labels,
) -> ChunkedRows:
    """Rows whose labels are among the given classes."""
    lazy = LazyRows.of(check, X, y, sample_weight, label_trust)
    check_some_weight(lazy.by_class(classes)[1])
    return lazy.encoded(classes, np.ones(len(classes)))


def aligned_blocks(engine: Engine, X: Any, *columns: Any) -> list[list[Any]]:
    """Blocks of rows of X, and blocks of the same rows of each column; None stays None."""
    rows = _row_blocks(X)
    lengths = _known_lengths(X)
    needed = any(column is not None and not is_lazy(column) for column in columns)
    if lengths is None and needed:
        lengths = engine.gather(calls(_length, rows))
    names = ("y", "sample_weight", "label_trust")
    return [rows] + [
        _blocks_of(name, column, len(rows), lengths)
        for name, column in zip(names, columns, strict=True)
    ]


def _row_blocks(X: Any) -> list[Delayed]:
    if hasattr(X, "chunks") and X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return list(np.ravel(X.to_delayed()))


def _known_lengths(X: Any) -> list[int] | None:
    if not hasattr(X, "chunks") or np.isnan(X.chunks[0]).any():
        return None
    return [int(length) for length in X.chunks[0]]


def _blocks_of(
    name: str, column: Any, n_blocks: int, lengths: list[int] | None
) -> list[Any]:
    if column is None:
        return [None] * n_blocks
    if not is_lazy(column):
        return _split(name, np.asarray(column), lengths or [])
    known = _known_lengths(column)
    if known is not None and lengths is not None and known != lengths:
        _check_length(name, sum(known), sum(lengths))
        column = column.rechunk({0: tuple(lengths)})
    blocks = _row_blocks(column)
    if len(blocks) != n_blocks:
        raise ValueError(
            f"{name} must have as many chunks as X where chunk sizes are unknown: it has "
            f"{len(blocks)}, X has {n_blocks}."
        )
    return blocks


def _split(name: str, column: NDArray[Any], lengths: Sequence[int]) -> list[Delayed]:
    _check_length(name, len(column), sum(lengths))
    parts = np.split(column, np.cumsum(lengths)[:-1])
    return [as_delayed(part) for part in parts]


def _check_length(name: str, given: int, wanted: int) -> None:
    if given != wanted:
        raise ValueError(f"{name} must have {wanted} rows, as X has, got {given}.")


# Tasks, which dask runs in the place of each chunk.
def _length(block: Any) -> int:
    return int(block.shape[0])


def _checked_chunk(
    check: CheckFeatures, X: Any, y: Any, weight: Any, trust: Any
) -> RawChunk:
    features, labels = check(X), column_or_1d(np.asarray(y), warn=True)
    n_rows = features.shape[0]
    _check_length("y", len(labels), n_rows)
    check_labels_present(labels)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    checked = np.ones(n_rows) if weight is None else nonnegative_weight(weight, n_rows)
    return RawChunk(features, labels, checked, checked_trust(trust, n_rows))


def _moments(chunk: RawChunk) -> ColumnMoments | None:
    return column_moments(chunk.X, chunk.weight)


@dataclass(frozen=True, eq=False)
class Encoding:
    """Replaces labels by codes, and multiplies the weights of each class by a factor."""

    classes: Labels
    factors: Floats

    def __call__(self, chunk: RawChunk) -> EncodedLabels:
        codes = label_codes(chunk.y, self.classes)
        weight = chunk.weight * self.factors[codes]
        carried = np.flatnonzero(weight)
        trust = chunk.label_trust
        return EncodedLabels(
            carried,
            codes[carried],
            weight[carried],
            None if trust is None else trust[carried],
        )


class EncodedLabels(NamedTuple):
    """The rows of a chunk with weight: their numbers, codes, weights and trusts."""

    rows: Codes
    y: Codes
    weight: Floats
    label_trust: Floats | None


def _encoded(chunk: RawChunk, labelled: EncodedLabels) -> MemoryRows:
    X = chunk.X if len(labelled.rows) == len(chunk.y) else chunk.X[labelled.rows]
    return MemoryRows(X, *labelled[1:])
