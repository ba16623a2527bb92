"""Problems of arrays in memory, their rows in chunks as dask keeps them."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from wdrsvm.rows.dask_engine import as_delayed, current_engine
from wdrsvm.rows.dask_rows import ChunkedRows


def chunked(problem, n_chunks=3, engine=None):
    """The same problem in chunks of uneven sizes, none of them empty."""
    cuts = np.unique(np.linspace(0, 1, n_chunks + 1)[1:-1] ** 2 * problem.n_rows)
    bounds = np.unique([0, *np.ceil(cuts).astype(int), problem.n_rows])
    parts = [problem.rows.take(slice(first, last)) for first, last in pairwise(bounds)]
    rows = ChunkedRows(
        tuple(as_delayed(part) for part in parts),
        tuple(part.n_rows for part in parts),
        problem.n_features,
        current_engine() if engine is None else engine,
        problem.label_trust is not None,
    )
    return replace(problem, rows=rows)
