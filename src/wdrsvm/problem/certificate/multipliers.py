r"""Multipliers of the rows: the interface that the certificate needs.

For every loss, the certificate does three things with the multipliers of some rows.  It
makes them feasible row by row, it tilts them within the rows, and it sums them to a bound.
For the Crammer-Singer loss the multipliers are masses on the pieces of the loss.
``smooth.py`` has the multipliers of smooth losses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ...arrays import Codes, Floats, Matrix
from ...rows.along_rows import row_maxima, row_sums
from ..loss import LOSSES, Loss
from ..pair_weights import PairWeights
from ..problem import RobustProblem
from .settings import CERTIFICATE


class RowDuals(Protocol):
    """Multipliers of some rows, with labels ``y``, weights and flip costs (rows, C)."""

    def belong_to(self, loss: Loss) -> bool:
        """Whether they are multipliers of that loss."""
        ...

    def restored(
        self, weight: Floats, y: Codes, cost: Floats, flip_share: float
    ) -> RowDuals:
        """Feasible row by row; flips that are not free are multiplied by ``flip_share``."""
        ...

    def loosened(self, weight: Floats) -> RowDuals:
        """With a little mass added everywhere, because tilting cannot move zero mass."""
        ...

    def tilted(self, pull: Floats) -> RowDuals:
        """With mass shifted within each row along ``pull`` (rows, C)."""
        ...

    def value(self, weight: Floats, y: Codes) -> float:
        """The contribution of these rows to the bound."""
        ...

    def moved(self, weight: Floats, y: Codes) -> float:
        """The mass that makes the slopes: at least half of their absolute sum."""
        ...

    def spending(self, cost: Floats) -> float:
        """The cost of the flips, sum k phi."""
        ...

    def slopes(self, y: Codes) -> Floats:
        """The slopes g, shape (rows, C)."""
        ...

    def on_columns(self, y: Codes, columns: Matrix) -> Floats:
        """The sums  sum_n g_n e_n'  on the columns e (rows, E), shape (C, E)."""
        ...

    def response(self, pull: Floats) -> Floats:
        """The derivative of the slopes along ``pull``, (rows, C)."""
        ...

    def own_response(self) -> Floats:
        """The response of each class to a pull of 1 on this class alone, (rows, C)."""
        ...

    def curvature(self, columns: Floats) -> Floats:
        """The derivative of sum_n g_n e_n' in a tilt on the columns e, (C, E, C, E)."""
        ...


class MultiplierSource(Protocol):
    """Multipliers of the rows, and perhaps those of the norm constraint L(M) <= lam.

    ``rows`` returns the multipliers of some rows of a problem, or of a chunk on a worker.
    ``gradient`` (C, P) is G according to the multipliers of the norm constraint, and
    ``flow`` (pairs, P) is a flow whose divergence is this G.  If a solver provides them,
    the bound is tighter.
    """

    @property
    def flow(self) -> Floats | PairWeights | None: ...
    @property
    def gradient(self) -> Floats | None: ...
    def rows(self, problem: RobustProblem, rows: slice) -> RowDuals: ...


class RowMultipliers(NamedTuple):
    """alpha, phi and beta of some rows, each (rows, C): masses on Crammer-Singer pieces."""

    alpha: Floats
    phi: Floats
    beta: Floats

    def belong_to(self, loss: Loss) -> bool:
        return loss == LOSSES["crammer-singer"]

    def restored(
        self, weight: Floats, y: Codes, cost: Floats, flip_share: float
    ) -> RowMultipliers:
        """Nonnegative multipliers with the right row sums and no impossible flip."""
        alpha = np.maximum(self.alpha, 0.0)
        phi = np.where(np.isfinite(cost), np.maximum(self.phi, 0.0), 0.0)
        beta = np.maximum(self.beta, 0.0)
        total = row_sums(alpha) + row_sums(phi)
        phi *= (weight / np.where(total == 0, 1.0, total))[:, None]
        phi *= np.where(cost > 0, flip_share, 1.0)
        flipped = row_sums(phi)
        believed = row_sums(alpha)
        alpha[np.arange(len(y)), y] += believed == 0
        alpha *= ((weight - flipped) / np.where(believed == 0, 1.0, believed))[:, None]
        # If no class has mass as a winner, the flipped class itself wins: the slope is 0.
        lost = row_sums(beta) == 0
        beta[lost] = phi[lost]
        winners = row_sums(beta)
        beta *= (flipped / np.where(winners == 0, 1.0, winners))[:, None]
        return RowMultipliers(np.maximum(alpha, 0.0), phi, beta)

    def loosened(self, weight: Floats) -> RowMultipliers:
        trace = loosening_of(weight, self.alpha.shape[1])
        return self._replace(alpha=self.alpha + trace, beta=self.beta + trace)

    def tilted(self, pull: Floats) -> RowMultipliers:
        return self._replace(alpha=tilt(self.alpha, pull), beta=tilt(self.beta, pull))

    def value(self, weight: Floats, y: Codes) -> float:
        return float((weight - self.alpha[np.arange(len(y)), y]).sum())

    def moved(self, weight: Floats, y: Codes) -> float:
        return self.value(weight, y)

    def spending(self, cost: Floats) -> float:
        return float((np.where(self.phi > 0, cost, 0.0) * self.phi).sum())

    def slopes(self, y: Codes) -> Floats:
        return np.asarray(label_slopes(self.alpha, y) + (self.beta - self.phi))

    def on_columns(self, y: Codes, columns: Matrix) -> Floats:
        return slopes_on_columns(self, y, columns)

    def response(self, pull: Floats) -> Floats:
        return response(self.alpha, pull) + response(self.beta, pull)

    def own_response(self) -> Floats:
        return own_response(self.alpha) + own_response(self.beta)

    def curvature(self, columns: Floats) -> Floats:
        n_classes, n_columns = self.alpha.shape[1], columns.shape[1]
        system = np.zeros((n_classes, n_columns, n_classes, n_columns))
        add_curvature(system, self.alpha, columns)
        add_curvature(system, self.beta, columns)
        return system


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Multipliers kept as three (N, C) arrays."""

    alpha: Floats
    phi: Floats
    beta: Floats
    flow: Floats | None = None
    gradient: Floats | None = None

    def rows(self, problem: RobustProblem, rows: slice) -> RowMultipliers:
        return RowMultipliers(self.alpha[rows], self.phi[rows], self.beta[rows])


@dataclass(frozen=True, eq=False)
class Changed:
    """Other multipliers of the rows; those of the norm constraint are unchanged."""

    multipliers: MultiplierSource

    @property
    def flow(self) -> Floats | PairWeights | None:
        return self.multipliers.flow

    @property
    def gradient(self) -> Floats | None:
        return self.multipliers.gradient


class Loosened(Changed):
    """Multipliers with a little mass everywhere, because tilting cannot move zero mass."""

    def rows(self, problem: RobustProblem, rows: slice) -> RowDuals:
        return self.multipliers.rows(problem, rows).loosened(problem.weight[rows])


def label_slopes(alpha: Floats, y: Codes) -> Floats:
    """The slopes of masses on the true label's pieces."""
    # The zero piece has no slope; adding and subtracting its mass would lose digits.
    slopes = alpha.copy()
    slopes[np.arange(len(y)), y] = 0.0
    slopes[np.arange(len(y)), y] = -row_sums(slopes)
    return np.asarray(slopes)


def slopes_on_columns(duals: RowDuals, y: Codes, columns: Matrix) -> Floats:
    """``on_columns`` of multipliers without a shorter formula for it."""
    return np.asarray(duals.slopes(y).T @ columns)


def loosening_of(weight: Floats, n_classes: int) -> Floats:
    """A little mass (rows, 1) for each class."""
    return np.asarray(CERTIFICATE.loosening * weight[:, None] / n_classes)


def tilt(mass: Floats, pull: Floats) -> Floats:
    """Shift mass along ``pull`` within each row; masses stay >= 0, row sums unchanged."""
    total = row_sums(mass)[:, None]
    if not total.any():
        return mass
    moved = mass * np.maximum(1.0 + _from_mean(mass, pull, total), 0.0)
    after = row_sums(moved)[:, None]
    # After rounding, a huge pull may clip all mass of a row: then the row does not change.
    return np.where(after > 0, moved * (total / np.where(after > 0, after, 1.0)), mass)


def _from_mean(mass: Floats, pull: Floats, total: Floats) -> Floats:
    """``pull`` minus its mean under the mass of each row, whose ``total`` is (rows, 1)."""
    safe = np.where(total == 0, 1.0, total)
    return np.asarray(pull - row_sums(mass * pull)[:, None] / safe)


def response(mass: Floats, pull: Floats) -> Floats:
    """The derivative of the tilted mass along ``pull``."""
    return np.asarray(mass * _from_mean(mass, pull, row_sums(mass)[:, None]))


def own_response(mass: Floats) -> Floats:
    """The same of each class alone, along a pull of 1 on it."""
    total = row_sums(mass)[:, None]
    return np.asarray(mass * (1.0 - mass / np.where(total == 0, 1.0, total)))


def one_by_one(duals: RowDuals, shape: tuple[int, int]) -> Floats:
    """``own_response`` of multipliers (rows, C) without a formula for it."""
    units = np.eye(shape[1])
    own = [duals.response(np.broadcast_to(unit, shape)) @ unit for unit in units]
    return np.stack(own, axis=1)


def add_curvature(system: Floats, mass: Floats, columns: Floats) -> None:
    """Add sum_n (diag(m_n) - m_n m_n' / sum(m_n)) kron e_n e_n'."""
    n_classes, n_columns = system.shape[:2]
    if n_columns == 0:
        return
    total = row_sums(mass)
    spread_out = total - row_maxima(mass) > CERTIFICATE.least_spread * total
    mass, columns = mass[spread_out], columns[spread_out]
    share = mass / np.sqrt(total[spread_out, None])
    spread = (share[:, :, None] * columns[:, None, :]).reshape(
        len(mass), n_classes * n_columns
    )
    system -= (spread.T @ spread).reshape(system.shape)
    for i in range(n_classes):
        system[i, :, i] += (columns * mass[:, i, None]).T @ columns
