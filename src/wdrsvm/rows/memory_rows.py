"""Labelled rows in memory or in a memory map, and the interface of every kind of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from scipy import sparse

from ..arrays import Codes, Floats, Matrix
from .reduce import MemoryReduction, Reduction, Subject
from .threads import are_few, row_threads


class Rows(Protocol):
    """The rows of a nominal distribution, wherever they are."""

    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def with_trust(self) -> bool:
        """Whether there is a label trust."""
        ...

    @property
    def are_distributed(self) -> bool:
        """Whether dask holds the rows, so that only reductions can visit all of them."""
        ...

    def take(self, rows: Any) -> MemoryRows:
        """Some rows, in memory, with unchanged weights."""
        ...

    def reduction(self, subject_of: SubjectOf) -> AbstractContextManager[Reduction]:
        """A context with the reduction that visits all rows.

        ``subject_of`` turns rows in memory into the subject that each piece of work
        receives: all rows here, or one chunk of them on a worker.
        """
        ...


@dataclass(frozen=True, eq=False)
class MemoryRows:
    """Rows in arrays.

    ===========  =======  ==========================================================
    X            (N, P)   features, dense (any numbers, any layout) or CSR
    y            (N,)     label codes 0 ... C-1
    weight       (N,)     the nominal distribution
    label_trust  (N,)     factors on the label cost, or None
    first_row             number of the first row in the whole data, for a chunk
    ===========  =======  ==========================================================
    """

    X: Matrix
    y: Codes
    weight: Floats
    label_trust: Floats | None = None
    first_row: int = 0

    def __post_init__(self) -> None:
        # Compiled code goes over labels and weights as they lie; a copy only if need be.
        object.__setattr__(self, "y", np.ascontiguousarray(self.y, dtype=np.intp))
        weight = np.ascontiguousarray(self.weight, dtype=np.float64)
        object.__setattr__(self, "weight", weight)

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def with_trust(self) -> bool:
        return self.label_trust is not None

    @property
    def are_distributed(self) -> bool:
        return False

    def take(self, rows: Any) -> MemoryRows:
        trust = self.label_trust
        taken = None if trust is None else trust[rows]
        return MemoryRows(self.X[rows], self.y[rows], self.weight[rows], taken)

    def reduction(self, subject_of: SubjectOf) -> AbstractContextManager[Reduction]:
        subject = subject_of(self)
        if are_few(self.n_rows):
            # Small fits have many reductions, which would wait for contexts in contexts.
            return nullcontext(MemoryReduction(subject, map))
        return _reduction_in_threads(subject, self.n_rows)

    def __sizeof__(self) -> int:
        """Size in bytes, by which a dask worker decides when to move data to disk."""
        parts = (self.y, self.weight, self.label_trust)
        return n_bytes(self.X) + sum(part.nbytes for part in parts if part is not None)


@contextmanager
def _reduction_in_threads(subject: Subject, n_rows: int) -> Iterator[Reduction]:
    with row_threads(n_rows) as run:
        yield MemoryReduction(subject, run)


SubjectOf: TypeAlias = Callable[[MemoryRows], Subject]


def no_rows(n_features: int, with_trust: bool) -> MemoryRows:
    """An empty set of rows with a given number of features."""
    nothing = np.empty(0)
    return MemoryRows(
        np.empty((0, n_features)),
        np.empty(0, dtype=np.intp),
        nothing,
        nothing if with_trust else None,
    )


def joined_rows(parts: list[MemoryRows]) -> MemoryRows:
    """Rows of several chunks, one after the other."""
    trust = [part.label_trust for part in parts if part.label_trust is not None]
    return MemoryRows(
        stacked([part.X for part in parts]),
        np.concatenate([part.y for part in parts]),
        np.concatenate([part.weight for part in parts]),
        np.concatenate(trust) if trust else None,
    )


def n_bytes(X: Matrix) -> int:
    """Bytes of a dense or compressed sparse matrix."""
    if sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)


def stacked(blocks: list[Matrix]) -> Matrix:
    """Blocks of rows, dense or sparse, as one matrix."""
    if sparse.issparse(blocks[0]):
        return sparse.vstack(blocks, format="csr")
    return np.concatenate(blocks)
