"""One form for equal data: weights, repeated rows and row order leave no trace.

An optimum need not be unique, and a solver's path depends on how its data are laid
out.  Dropping rows of zero weight, merging equal rows and sorting makes equal nominal
distributions equal arrays, hence equal models, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from ..arrays import Codes, Flags, Floats, Matrix
from .memory_rows import MemoryRows

# Sorting is worth its time while the matrix is small beside the solve.
MAX_ENTRIES = 2_000_000
# Beside label and trust so many features mostly tell all rows apart.
LEADING = 2


@dataclass(frozen=True, eq=False)
class NominalRows(MemoryRows):
    """The nominal distribution: rows with normalised weights, ``source``, where each row
    stood in the data it comes from, and ``became``, which of them each row of the data
    became; -1 where that had no weight."""

    source: Codes = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    became: Codes = field(default_factory=lambda: np.empty(0, dtype=np.intp))


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
        return NominalRows(X, y, share, label_trust, source=carried, became=became)
    if not sparse.issparse(X):
        X = np.ascontiguousarray(X, dtype=np.float64)
    trust = np.ones(len(y)) if label_trust is None else label_trust
    order, starts = _sorting(X, y, trust, weight)
    rows = order[starts]
    merged = np.add.reduceat(weight[order], starts)
    return NominalRows(
        X[rows],
        y[rows],
        merged / merged.sum(),
        None if label_trust is None else label_trust[rows],
        source=rows,
        became=places(order, _numbered(starts, len(order)), len(weight)),
    )


def places(rows: Codes, became: Codes, n_rows: int) -> Codes:
    """For each of ``n_rows`` rows what it became, -1 for those that are not in ``rows``."""
    place = np.full_like(rows, -1, shape=n_rows)
    place[rows] = became
    return place


def _numbered(starts: Codes, n_rows: int) -> Codes:
    """The number of the distinct row that each row in order repeats."""
    return np.repeat(np.arange(len(starts)), np.diff(starts, append=n_rows))


def _sorting(X: Matrix, y: Codes, trust: Floats, weight: Floats) -> tuple[Codes, Codes]:
    """Rows of positive weight in order, and where in it each distinct row begins.

    A few features mostly tell rows apart; where they do not, all are compared, and weights
    break ties, so that equal rows are summed in one order.
    """
    kept = np.flatnonzero(weight > 0)
    keys = _keys(X[:, :LEADING], y, trust)[kept]
    order = np.lexsort(keys.T[::-1])
    differs = _differs_from_previous(keys[order])
    if not differs.all():
        keys = _keys(X, y, trust)[kept]
        order = np.lexsort((weight[kept], *keys.T[::-1]))
        differs = _differs_from_previous(keys[order])
    return kept[order], np.flatnonzero(differs)


def _keys(X: Matrix, y: Codes, trust: Floats) -> Floats:
    """What is compared, column after column."""
    dense = X.toarray() if sparse.issparse(X) else X
    # Adding zero turns -0.0 into 0.0, which sorts and compares as one value.
    return np.column_stack([y, trust, dense]) + 0.0


def _differs_from_previous(rows: Floats) -> Flags:
    differs = np.ones(len(rows), dtype=bool)
    differs[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return differs
