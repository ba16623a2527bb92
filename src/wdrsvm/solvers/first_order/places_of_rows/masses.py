r"""Masses of a hinge whose labels cannot be flipped, as one table of rows and classes.

A row has mass on two or three classes.  A table (N, C) of 100 000 rows and 1000 classes
would take 800 MB, nearly all of it zeros.  So a large table is a CSR array, which stores
the masses alone.  A small table is dense: then kernels write to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from ....arrays import Codes, Floats, Matrix
from ....problem import RobustProblem

if TYPE_CHECKING:
    from .places import Places


class MassesOfRows(NamedTuple):
    """The masses of a table that are not zero, with their rows and classes."""

    row: Codes
    column: Codes
    mass: Floats

    @classmethod
    def of(cls, alpha: Matrix) -> MassesOfRows:
        """Row by row."""
        if not sparse.issparse(alpha):
            row, column = np.nonzero(alpha)
            return cls(row, column, alpha[row, column])
        row = np.repeat(np.arange(alpha.shape[0]), np.diff(alpha.indptr))
        column = alpha.indices.astype(np.intp)
        kept = alpha.data != 0
        return cls(row[kept], column[kept], alpha.data[kept])


def on_own_labels(problem: RobustProblem) -> sparse.csr_array:
    """The whole weight of each row on its label."""
    starts, shape = np.arange(problem.n_rows + 1), (problem.n_rows, problem.n_classes)
    weight = problem.weight.astype(np.float64)
    return sparse.csr_array((weight, problem.y.astype(np.intp), starts), shape=shape)


def restored(alpha: Matrix, problem: RobustProblem) -> sparse.csr_array:
    """Nonnegative masses with the right row sums; on the label where there are none."""
    held = sparse.csr_array(alpha).maximum(0.0)
    lost = sparse.diags_array((held.sum(axis=1) == 0).astype(np.float64))
    held = sparse.csr_array(held + lost @ on_own_labels(problem))
    total = held.sum(axis=1)
    scale = problem.weight / np.where(total > 0, total, 1.0)
    return sparse.csr_array(sparse.diags_array(scale) @ held)


def slopes(alpha: sparse.csr_array, y: Codes) -> sparse.csr_array:
    """The slopes g (N, C): the masses on other classes, less their sum on the label."""
    row, column, mass = MassesOfRows.of(alpha)
    other = column != y[row]
    row, column, mass = row[other], column[other], mass[other]
    entries = np.concatenate([mass, -np.bincount(row, mass, len(y))])
    places = np.concatenate([row, np.arange(len(y))]), np.concatenate([column, y])
    return sparse.csr_array((entries, places), shape=alpha.shape)


def own_masses(alpha: Matrix, y: Codes) -> Floats:
    """The mass of each row on its label, (N,)."""
    if not sparse.issparse(alpha):
        return np.asarray(alpha[np.arange(len(y)), y])
    row, column, mass = MassesOfRows.of(alpha)
    own = column == y[row]
    return np.asarray(np.bincount(row[own], mass[own], len(y)), dtype=np.float64)


def moving_rows(alpha: Matrix, y: Codes) -> Codes:
    """The rows with mass (N, C) on other classes than their label."""
    if not sparse.issparse(alpha):
        n_places = np.count_nonzero(alpha, axis=1)
        return np.flatnonzero(n_places > (own_masses(alpha, y) != 0))
    row, column, _ = MassesOfRows.of(alpha)
    return np.unique(row[column != y[row]])


def dense_rows(alpha: Matrix, rows: slice | Codes) -> Floats:
    """The masses of some rows (rows, C)."""
    part = alpha[rows]
    return np.asarray(part.toarray() if sparse.issparse(part) else part)


def with_places(alpha: Matrix, places: Places) -> Matrix:
    """The table after an epoch among these places, which have all mass.

    A dense table is written to.
    """
    if not sparse.issparse(alpha):
        alpha[places.row_of_each(), places.classes] = places.masses
        return alpha
    stored = places.masses, places.classes, places.starts
    return sparse.csr_array(stored, shape=alpha.shape)


def with_rows(alpha: sparse.csr_array, rows: Codes, masses: Matrix) -> sparse.csr_array:
    """The table with other masses of some rows."""
    stays = np.ones(alpha.shape[0])
    stays[rows] = 0.0
    moved = MassesOfRows.of(masses)
    places = rows[moved.row], moved.column
    changed = sparse.csr_array((moved.mass, places), shape=alpha.shape)
    return sparse.csr_array(sparse.diags_array(stays) @ alpha + changed)
