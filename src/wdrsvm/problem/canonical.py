"""One form for equal data: weights, repeated rows and row order leave no trace.

An optimum need not be unique, and a solver's path depends on how its data are laid
out.  Dropping rows of zero weight, merging equal rows and sorting makes equal nominal
distributions equal arrays, hence equal models, to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .objective import Codes, Floats, Matrix

# Sorting is worth its time while the matrix is small beside the solve.
MAX_ENTRIES = 2_000_000
# Label, trust and two features mostly tell all rows apart.
LEADING = 4


class NominalRows(NamedTuple):
    """The nominal distribution: rows, labels, normalised weights, label trust, where each
    row stood in the data it comes from, and which of them each row of the data became;
    -1 where that had no weight."""

    X: Matrix
    y: Codes
    weight: Floats
    label_trust: Floats | None
    source: Codes
    became: Codes


def canonical_rows(
    X: Matrix, y: Codes, weight: Floats, label_trust: Floats | None = None
) -> NominalRows:
    """Normalise weights; merge equal rows and sort where the size allows.

    Larger dense data keep their number type and layout, for they may be a memory map
    that no memory holds; rows of zero weight are the one reason to copy them.
    """
    if X.shape[0] * max(X.shape[1], 1) > MAX_ENTRIES:
        carried = np.flatnonzero(weight)
        became = places(carried, np.arange(len(carried)), len(weight))
        if len(carried) < len(weight):
            trust = None if label_trust is None else label_trust[carried]
            X, y, weight, label_trust = X[carried], y[carried], weight[carried], trust
        share = weight / weight.sum()
        return NominalRows(X, y, share, label_trust, carried, became)
    if not sparse.issparse(X):
        X = np.ascontiguousarray(X, dtype=np.float64)
    dense = X.toarray() if sparse.issparse(X) else X
    trust = np.ones(len(dense)) if label_trust is None else label_trust
    # Adding zero turns -0.0 into 0.0, which sorts and compares as one value.
    keys = np.column_stack([y, trust, dense]) + 0.0
    kept = np.flatnonzero(weight > 0)
    order = kept[_sorting(keys[kept], weight[kept])]
    is_new = _differs_from_previous(keys[order])
    starts = np.flatnonzero(is_new)
    rows = order[starts]
    merged = np.add.reduceat(weight[order], starts)
    return NominalRows(
        X[rows],
        y[rows],
        merged / merged.sum(),
        None if label_trust is None else label_trust[rows],
        rows,
        places(order, np.cumsum(is_new) - 1, len(weight)),
    )


def places(rows: Codes, became: Codes, n_rows: int) -> Codes:
    """For each of ``n_rows`` rows what it became, -1 for those that are not in ``rows``."""
    place = np.full(n_rows, -1, dtype=np.intp)
    place[rows] = became
    return place


def _sorting(keys: Floats, weight: Floats) -> Codes:
    """The order of the rows; weights break ties, so that equal rows are summed in one."""
    leading = keys[:, :LEADING]
    order = np.lexsort(leading.T[::-1])
    if _differs_from_previous(leading[order]).all():
        return order
    return np.lexsort((weight, *keys.T[::-1]))


def _differs_from_previous(rows: Floats) -> NDArray[np.bool_]:
    differs = np.ones(len(rows), dtype=bool)
    differs[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return differs
