r"""Masses of the rows that are not at rest, balanced by class.

Most rows of a hinge have their whole mass on the row's label, and add nothing to a bound:
neither slopes nor value.  The others have mass on a few classes.  With an intercept the
slopes of each class must have the sum zero.  Tilts (``problem.certificate.tilts``) shift
mass within rows until this holds; here they see only the entries that are not zero.  The
certificate then finds nothing to repair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ...arrays import Codes, Floats, Matrix
from ...problem.certificate.settings import CERTIFICATE
from ...problem.certificate.tilts import EQUALITY_ROUNDING, solve_dense
from .places_of_rows.masses import MassesOfRows


class Entries(NamedTuple):
    """Positive masses, their rows and their classes; the row sums and the labels' masses
    by class, which the masses of each class should equal."""

    mass: Floats
    row: Codes
    column: Codes
    total: Floats
    wanted: Floats

    @classmethod
    def of(cls, alpha: Matrix, weight: Floats, y: Codes) -> Entries:
        row, column, mass = MassesOfRows.of(alpha)
        wanted = _sums(y, weight, alpha.shape[1])
        # Rows without weight have no mass.
        held = (mass > 0) & (weight[row] > 0)
        found = cls(mass[held], row[held], column[held], weight, wanted)
        return found._restored(found.mass)

    def _by_row(self, values: Floats) -> Floats:
        return _sums(self.row, values, len(self.total))

    def _restored(self, mass: Floats) -> Entries:
        """With this mass and the right row sums.

        A huge pull may clip all mass of a row: then the row does not change.
        """
        after = self._by_row(mass)[self.row]
        scale = self.total[self.row] / np.where(after > 0, after, 1.0)
        return self._replace(mass=np.where(after > 0, mass * scale, self.mass))

    @property
    def lack(self) -> Floats:
        """What the masses of each class lack, (C,)."""
        return self.wanted - _sums(self.column, self.mass, len(self.wanted))

    def tilted(self, ridge: float) -> Entries:
        """After one tilt (``multipliers.tilt``) that is to take away the lack."""
        lack = self.lack[:, None]
        system = self._curvature[:, None, :, None]
        pull = solve_dense(system, lack, ridge, np.ones(1, dtype=bool))[self.column, 0]
        total = np.where(self.total > 0, self.total, 1.0)
        mean = self._by_row(self.mass * pull) / total
        moved = self.mass * np.maximum(1.0 + pull - mean[self.row], 0.0)
        return self._restored(moved)

    @property
    def _curvature(self) -> Floats:
        """sum_n diag(m_n) - m_n m_n' / sum(m_n), (C, C), the derivative of a tilt."""
        share = self.mass / np.sqrt(self.total)[self.row]
        shape = len(self.total), len(self.wanted)
        shares = sparse.csr_array((share, (self.row, self.column)), shape=shape)
        system = -(shares.T @ shares).toarray()
        system[np.diag_indices_from(system)] += self.wanted - self.lack
        return np.asarray(system)

    def table(self, as_sparse: bool) -> Matrix:
        """The masses (rows, C)."""
        shape = len(self.total), len(self.wanted)
        if as_sparse:
            return sparse.csr_array((self.mass, (self.row, self.column)), shape=shape)
        alpha = np.zeros(shape)
        alpha[self.row, self.column] = self.mass
        return alpha


def _sums(places: Codes, values: Floats, n_places: int) -> Floats:
    """The sum of the values at each place."""
    return np.asarray(np.bincount(places, values, n_places), dtype=np.float64)


def balanced(alpha: Matrix, weight: Floats, y: Codes) -> Matrix:
    """Masses (rows, C) near these with the same sums by class as the labels have.

    What a few tilts leave is for the certificate to repair.
    """
    entries, ridge = Entries.of(alpha, weight, y), CERTIFICATE.first_ridge
    miss = np.abs(entries.lack).max()
    for _ in range(CERTIFICATE.max_tilts):
        if miss <= EQUALITY_ROUNDING or ridge >= CERTIFICATE.last_ridge:
            break
        tilted = entries.tilted(ridge)
        after = np.abs(tilted.lack).max()
        if after < miss:
            entries, miss = tilted, after
        else:
            ridge *= CERTIFICATE.ridge_factor
    return entries.table(sparse.issparse(alpha))
