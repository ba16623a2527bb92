"""Columns that name their rows, and therefore tell nothing about other rows."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

# Columns with fewer rows are not checked, because chance alone may look suspicious.
FEW_ROWS = 10
# A column is almost unique if it has more different values than this share of the rows.
ALMOST_UNIQUE = 0.9
_CALLED_ID = re.compile(r"(.*[\s_.\-])?(id|ids|uuid|guid|index|key|nr|no|number)", re.I)


def is_id(values: Any, name: str) -> bool:
    """Whether whole numbers all differ, and are in sequence or named like an id."""
    if not np.isfinite(values).all() or (values % 1).any():
        return False
    ordered = np.unique(values)
    if len(ordered) < len(values):
        return False
    is_sequence = bool((np.diff(ordered) == 1).all())
    return is_sequence or _CALLED_ID.fullmatch(name) is not None


def is_almost_unique(values: Any) -> bool:
    """Whether a column has a different text in almost every row."""
    different = {value for value in values if isinstance(value, str)}
    return len(different) > ALMOST_UNIQUE * len(values)


def id_columns(X: Any) -> list[str]:
    """Names of the columns of a data frame that look like identifiers."""
    if not hasattr(X, "columns") or len(X) < FEW_ROWS:
        return []
    return [str(name) for name in X.columns if _names_rows(np.asarray(X[name]), str(name))]


def _names_rows(values: Any, name: str) -> bool:
    if values.dtype.kind in "iuf":
        return is_id(values, name)
    return values.dtype.kind in "OUT" and is_almost_unique(values)
