r"""Tilts: the one loop that makes multipliers meet the equalities, and its linear solves.

A tilt S (C, E) pulls mass within each row n along  u_n = S e_n  (``multipliers.tilt``).  To
first order the sums on the columns e change by  A S,  where A is the curvature of the
multipliers.  Each tilt solves  A S = lack  and is the smallest change in the metric of the
multipliers, so that small multipliers stay positive.  Multipliers that become negative are
clipped, and another tilt follows.

The loop needs two things from multipliers: how far they miss the equalities, and the
multipliers after one more tilt.  How A S = lack is solved is their choice: with A as a
dense array, or with conjugate gradients and products with A only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, Self, TypeVar

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from ...arrays import Flags, Floats
from .settings import CERTIFICATE

# Equalities hold in floating point if they hold up to this share of their terms.
EQUALITY_ROUNDING = 1e-13


class Tiltable(Protocol):
    """Multipliers of all rows that can be tilted on some columns."""

    def miss(self, columns: Flags) -> float:
        """The largest error of the equalities on these columns, relative to their terms."""
        ...

    def lacking(self, columns: Flags) -> float:
        """The same in a unit that no tilt changes."""
        ...

    def tilted(self, ridge: float, columns: Flags) -> Self:
        """The multipliers after one more tilt, whose system has this relative ridge."""
        ...


Multipliers = TypeVar("Multipliers", bound=Tiltable)


def tilted_until_equal(multipliers: Multipliers, stages: Iterable[Flags]) -> Multipliers:
    """Tilt until the equalities hold, on the columns of one stage after the other.

    A tilt that makes the error larger is discarded: the multipliers are too few to follow
    it.  Then the ridge is raised.
    """
    for columns in stages:
        ridge, left = CERTIFICATE.first_ridge, CERTIFICATE.max_tilts
        lacking = multipliers.lacking(columns)
        while left and ridge < CERTIFICATE.last_ridge:
            if multipliers.miss(columns) <= EQUALITY_ROUNDING:
                break
            tilted = multipliers.tilted(ridge, columns)
            after = tilted.lacking(columns)
            if after < lacking:
                multipliers, lacking, left = tilted, after, left - 1
            else:
                ridge *= CERTIFICATE.ridge_factor
    return multipliers


def solve_dense(system: Floats, lack: Floats, ridge: float, columns: Flags) -> Floats:
    """The tilt (C, E) that adds ``lack`` to the sums on some columns.

    ``system`` (C, E, C, E) is A.  A common shift of all classes is in its null space and is
    kept at zero.  The ridge is for columns that are linearly dependent.
    """
    n_classes, wanted = len(lack), lack[:, columns]
    square = system[:, columns][:, :, :, columns]
    stiffness = np.einsum("idid->d", square) / n_classes
    stiffness = np.where(stiffness > 0, stiffness, 1.0)
    each = np.arange(len(stiffness))
    square[:, each, :, each] += stiffness[:, None, None]
    square = square.reshape(wanted.size, wanted.size)
    square.flat[:: len(square) + 1] *= 1 + ridge
    try:
        solution = np.linalg.solve(square, wanted.ravel())
    except np.linalg.LinAlgError:
        solution = np.linalg.lstsq(square, wanted.ravel())[0]
    return _on_columns(np.asarray(solution, dtype=np.float64), lack, columns)


def solve_by_products(
    product: Callable[[Floats], Floats],
    diagonal: Floats,
    lack: Floats,
    ridge: float,
    columns: Flags,
) -> Floats:
    """The same tilt by conjugate gradients, with products  S -> A S  instead of A.

    ``diagonal`` (C, E) is that of A.  A common shift of all classes is removed at the end.
    """
    wanted, own = lack[:, columns].ravel(), diagonal[:, columns].ravel()

    def multiply(tilt: Floats) -> Floats:
        image = product(_on_columns(tilt, lack, columns))[:, columns]
        return np.asarray(image.ravel() + ridge * own * tilt)

    shape = (wanted.size, wanted.size)
    inverse = np.divide(1.0, own, out=np.zeros_like(own), where=own > 0)
    solution, _ = cg(
        LinearOperator(shape, multiply, dtype=np.float64),
        wanted,
        rtol=CERTIFICATE.cg_tol,
        maxiter=CERTIFICATE.max_cg_steps,
        M=LinearOperator(shape, lambda rest: inverse * rest, dtype=np.float64),
    )
    tilt = _on_columns(solution, lack, columns)
    return np.asarray(tilt - tilt.mean(axis=0))


def _on_columns(values: Floats, like: Floats, columns: Flags) -> Floats:
    """A table (C, E) with these values on some columns, and zero on the others."""
    table = np.zeros_like(like)
    table[:, columns] = values.reshape(len(like), -1)
    return table
