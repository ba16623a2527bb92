"""One form for equal data: the order of rows and repeated rows make no difference.

An optimum need not be unique, and a solver's result depends on the layout of the data.
Therefore rows of zero weight are dropped, equal rows are merged and rows are sorted.
Equal nominal distributions then become equal arrays, and equal models to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from ..arrays import Codes, Flags, Floats, Matrix
from .memory_rows import MemoryRows

# Rows are sorted and merged up to this many entries of X; beyond, sorting takes too long.
MAX_ENTRIES = 2_000_000
# Rows are first compared by label, trust and this many features, which mostly suffice.
LEADING = 2


@dataclass(frozen=True, eq=False)
class NominalRows(MemoryRows):
    """The nominal distribution: rows with normalised weights.

    ``source`` has the number of each row in the given data.  ``became`` has, for each row
    of the given data, the number of its row here, or -1 if that row had no weight.
    """

    source: Codes = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    became: Codes = field(default_factory=lambda: np.empty(0, dtype=np.intp))


def canonical_rows(
    X: Matrix, y: Codes, weight: Floats, label_trust: Floats | None = None
) -> NominalRows:
    """Normalise weights; merge equal rows and sort where the size allows.

    Larger dense data keep their number type and layout, because they may be a memory map
    that does not fit into memory.  They are copied only to drop rows of zero weight.
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
    by = (y,) if label_trust is None else (y, label_trust)
    order, differs = _sorting(X, by, weight)
    starts = np.flatnonzero(differs)
    rows = order[starts]
    merged = np.add.reduceat(weight[order], starts)
    return NominalRows(
        X[rows],
        y[rows],
        merged / merged.sum(),
        None if label_trust is None else label_trust[rows],
        source=rows,
        became=places(order, np.cumsum(differs) - 1, len(weight)),
    )


def places(rows: Codes, became: Codes, n_rows: int) -> Codes:
    """For each of ``n_rows`` rows its entry of ``became``, or -1 if not in ``rows``."""
    place = np.full_like(rows, -1, shape=n_rows)
    place[rows] = became
    return place


def _sorting(
    X: Matrix, by: tuple[Codes | Floats, ...], weight: Floats
) -> tuple[Codes, Flags]:
    """The rows of positive weight, sorted, and whether each differs from the previous one.

    Rows are compared by the values ``by`` and a few features first.  If some rows agree in
    these, all features are compared.  Weights break ties, so that equal rows are always
    summed in one order.
    """
    kept = np.flatnonzero(weight > 0)
    keys = _keys(X[:, :LEADING], by)[kept]
    order = np.lexsort(keys.T[::-1])
    differs = _differs_from_previous(keys[order])
    if not differs.all():
        keys = _keys(X, by)[kept]
        order = np.lexsort((weight[kept], *keys.T[::-1]))
        differs = _differs_from_previous(keys[order])
    return kept[order], differs


def _keys(X: Matrix, by: tuple[Codes | Floats, ...]) -> Floats:
    """The values by which rows are compared, one column after the other."""
    dense = X.toarray() if sparse.issparse(X) else X
    return np.column_stack([*by, dense])


def _differs_from_previous(rows: Floats) -> Flags:
    differs = np.ones(len(rows), dtype=bool)
    differs[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return differs
