"""Problems of arrays in memory, their rows in chunks as dask keeps them."""

from dataclasses import fields
from itertools import pairwise

import numpy as np

from wdrsvm.problem import RobustProblem
from wdrsvm.problem.distributed import ChunkedRows, DistributedProblem
from wdrsvm.rows.dask_engine import Chunk, as_delayed, current_engine


def chunked(problem, n_chunks=3, engine=None):
    """The same problem in chunks of uneven sizes, none of them empty."""
    cuts = np.unique(np.linspace(0, 1, n_chunks + 1)[1:-1] ** 2 * problem.n_rows)
    bounds = np.unique([0, *np.ceil(cuts).astype(int), problem.n_rows])
    parts = [problem.take(slice(first, last)) for first, last in pairwise(bounds)]
    chunks = [as_delayed(Chunk(p.X, p.y, p.weight, p.label_trust)) for p in parts]
    rows = ChunkedRows(
        tuple(chunks),
        tuple(part.n_rows for part in parts),
        problem.n_features,
        current_engine() if engine is None else engine,
    )
    known = {field.name: getattr(problem, field.name) for field in fields(RobustProblem)}
    elsewhere = {
        "X": rows,
        "y": np.empty(0, dtype=np.intp),
        "weight": np.empty(0),
        "label_trust": None if problem.label_trust is None else np.empty(0),
    }
    return DistributedProblem(**known | elsewhere)
