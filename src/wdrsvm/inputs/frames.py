"""What a data frame says about its columns: one-hot groups and observed ranges."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

from ..arrays import Floats

# Types of one-hot columns, as pandas and polars call them.
ONE_HOT_TYPES = ("bool", "boolean", "uint8", "int8")
# Price of a switched category, in standard deviations of a standardised number.
CATEGORY_COST = 1.0

Box: TypeAlias = tuple[Floats, Floats]
Groups: TypeAlias = list[tuple[list[int], float]]


def is_frame(X: Any) -> bool:
    """Whether X is a data frame in memory: named columns, each with a type."""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and not hasattr(X, "dask")


@contextmanager
def texts_named(X: Any) -> Iterator[None]:
    """Name the column of a frame whose texts are no numbers, and what to do."""
    try:
        yield
    except ValueError as error:
        if not is_frame(X) or "could not convert string to float" not in str(error):
            raise
        named = [name for name in X.columns if not _is_numeric(X[name])]
        if not named:
            raise
        raise ValueError(
            f"X must have numbers only, but its column {named[0]!r} has texts: encode "
            "them, for example by wdrsvm.mixed_table."
        ) from error


def _is_numeric(column: Any) -> bool:
    try:
        np.asarray(column, dtype=np.float64)
    except ValueError:
        return False
    return True


def one_hot_groups(frame: Any, cost: float = CATEGORY_COST) -> Groups:
    """Groups of one-hot columns, found by their types, names and values.

    A group has columns of a boolean or 8-bit type whose names agree up to the last
    underscore, and in every row exactly one of them is set.
    """
    by_prefix: dict[str, list[int]] = {}
    for number, (name, kind) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        prefix = str(name).rpartition("_")[0]
        if prefix and str(kind).lower() in ONE_HOT_TYPES:
            by_prefix.setdefault(prefix, []).append(number)
    candidates = [columns for columns in by_prefix.values() if len(columns) > 1]
    return [(columns, cost) for columns in candidates if _is_one_hot(frame, columns)]


def _is_one_hot(frame: Any, columns: list[int]) -> bool:
    names = [list(frame.columns)[number] for number in columns]
    block = np.column_stack([np.asarray(frame[name], dtype=np.float64) for name in names])
    return bool(((block == 0) | (block == 1)).all() and (block.sum(axis=1) == 1).all())


def observed_box(X: Any, box: Any = None) -> Box:
    """Least and largest value of each column; with a ``box``, this box widened by them."""
    low, high = (_ends(X, end) for end in ("min", "max"))
    if box is not None:
        low, high = np.minimum(low, box[0]), np.maximum(high, box[1])
    return low, high


def _ends(X: Any, which: str) -> Floats:
    end = getattr(X, which)(axis=0)
    dense = end.toarray() if hasattr(end, "toarray") else end
    return np.asarray(dense, dtype=np.float64).ravel()
