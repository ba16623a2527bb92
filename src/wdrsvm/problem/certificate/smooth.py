r"""Multipliers of a smooth loss: the tangents of the rows' losses.

For any scores u_n, and any masses Q_nc >= 0 of the labels that sum to w_n over c,

    w_n max_c (l(z, c) - lam k_c)  >=  sum_c Q_nc (l(u, c) + <l'(u, c), z - u> - lam k_c),

so that with  g_n = sum_c Q_nc l'(u_n, c)  the sum over the rows is at least

    sum_n ( sum_c Q_nc l(u_n, c) - <g_n, u_n> ) + <G, M> + <sum_n g_n, b> - lam sum k Q.

The first sum is the bound if the other terms plus radius lam cannot be negative.  These are
the conditions of ``bound.py``, where Q_nc of a flip is phi_nc.  Row n contributes

    sum_c Q_nc ( margin (1 - p_cc) + temperature entropy(p_c) ),
    p_c = softmax((u + margin [j != c]) / temperature),    l'(u, c) = p_c - e_c.

This is the entropy dual.  With a margin, each label c has other winners p_c, but all p_c of
a row follow from one u.  At the optimum u_n are the scores.  Tilting moves u.  Scaling is
allowed, because the bound is concave in p, and zero if the label itself wins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Codes, Floats, Matrix
from ...cached import cached_property
from ...rows.along_rows import row_maxima, row_sums
from ..loss import Loss, softmax
from ..problem import RobustProblem
from .multipliers import one_by_one, slopes_on_columns, tilt


@dataclass(frozen=True, eq=False)
class RowTangents:
    """Points u and label masses Q of some rows, each (rows, C)."""

    loss: Loss
    points: Floats
    masses: Floats

    def belong_to(self, loss: Loss) -> bool:
        return loss == self.loss

    def restored(
        self, weight: Floats, y: Codes, cost: Floats, flip_share: float
    ) -> RowTangents:
        """Masses that sum to the weights, without impossible flips."""
        own = np.arange(len(y)), y
        masses = np.maximum(self.masses, 0.0)
        kept = masses[own]
        masses = np.where(np.isfinite(cost), masses, 0.0)
        masses[own] = kept
        total = row_sums(masses)
        masses *= (weight / np.where(total == 0, 1.0, total))[:, None]
        masses *= np.where(cost > 0, flip_share, 1.0)
        masses[own] = 0.0
        masses[own] = np.maximum(weight - row_sums(masses), 0.0)
        return RowTangents(self.loss, self.points, masses)

    def loosened(self, weight: Floats) -> RowTangents:
        """Unchanged, because a softmax is never zero."""
        return self

    def tilted(self, pull: Floats) -> RowTangents:
        """Move points along the pull, and mass to labels with slopes along the pull."""
        agreement = np.zeros_like(pull)
        for labels, winners in self._by_label:
            agreement[:, labels] = row_sums(pull * winners)[:, None] - pull[:, labels]
        moved = self.points + self.loss.temperature * pull
        return RowTangents(self.loss, moved, tilt(self.masses, agreement))

    def value(self, weight: Floats, y: Codes) -> float:
        points = self.points - row_maxima(self.points)[:, None]
        losses = self.loss.of_labels(points)
        return float(np.vdot(self.masses, losses) - np.vdot(self._slopes, points))

    def moved(self, weight: Floats, y: Codes) -> float:
        return float(np.abs(self._slopes).sum()) / 2

    def spending(self, cost: Floats) -> float:
        flipped = (self.masses > 0) & np.isfinite(cost)
        return float((np.where(flipped, cost, 0.0) * self.masses).sum())

    def slopes(self, y: Codes) -> Floats:
        """The slopes g; they do not depend on y, because the masses contain all labels."""
        return self._slopes

    @cached_property
    def _slopes(self) -> Floats:
        slopes = -self.masses
        for labels, winners in self._by_label:
            slopes += row_sums(self.masses[:, labels])[:, None] * winners
        return np.asarray(slopes)

    def on_columns(self, y: Codes, columns: Matrix) -> Floats:
        return slopes_on_columns(self, y, columns)

    def response(self, pull: Floats) -> Floats:
        """The covariance times the pull, without the covariance itself."""
        total, slopes = row_sums(self.masses), self._slopes
        along = row_sums(slopes * pull) / np.where(total > 0, total, 1.0)
        found = self.masses * pull - slopes * along[:, None]
        for labels, winners in self._by_label:
            mass = self.masses[:, labels]
            own = row_sums(mass * pull[:, labels])[:, None]
            found += winners * (row_sums(mass)[:, None] * pull - own)
            found[:, labels] -= mass * row_sums(winners * pull)[:, None]
        return np.asarray(found)

    def own_response(self) -> Floats:
        return one_by_one(self, self.points.shape)

    def curvature(self, columns: Floats) -> Floats:
        """The covariance of e_j - e_c, where c has the mass Q_c, and j the share p_cj."""
        n_classes, n_columns = self.points.shape[1], columns.shape[1]
        system = np.zeros((n_classes, n_columns, n_classes, n_columns))
        if n_columns == 1:
            system[:, 0, :, 0] = self._summed_covariance(columns[:, 0] ** 2)
        elif n_columns:
            for i, row in enumerate(self._covariance):
                for j, entry in enumerate(row):
                    system[i, :, j] = (columns.T * entry) @ columns
        return system

    @cached_property
    def _covariance(self) -> Floats:
        """The covariance of each row, shape (C, C, rows)."""
        n_rows, n_classes = self.points.shape
        spread = np.zeros((n_classes, n_classes, n_rows))
        diagonal = spread[np.arange(n_classes), np.arange(n_classes)] + self.masses.T
        for labels, winners in self._by_label:
            mass = self.masses[:, labels]
            diagonal += (row_sums(mass)[:, None] * winners).T
            crossed = winners.T[:, None] * mass.T
            spread[:, labels] -= crossed
            spread[labels] -= crossed.swapaxes(0, 1)
        spread[np.arange(n_classes), np.arange(n_classes)] += diagonal
        slopes = self._slopes.T
        total = row_sums(self.masses)
        spread -= slopes[:, None] * (slopes / np.where(total > 0, total, 1.0))
        return spread

    def _summed_covariance(self, factor: Floats) -> Floats:
        """The sum over the rows of the covariance times a factor, (C, C), in products."""
        total = row_sums(self.masses)
        slopes = self._slopes
        diagonal = factor @ self.masses
        spread = -(slopes.T * (factor / np.where(total > 0, total, 1.0))) @ slopes
        for labels, winners in self._by_label:
            mass = self.masses[:, labels] * factor[:, None]
            diagonal = diagonal + row_sums(mass) @ winners
            crossed = winners.T @ mass
            spread[:, labels] -= crossed
            spread[labels] -= crossed.T
        return np.asarray(spread + np.diag(diagonal))

    @cached_property
    def _by_label(self) -> list[tuple[Codes, Floats]]:
        """Labels with mass, and their winners p (rows, C).

        Without a margin, all labels have the same winners.
        """
        sharp = self.points / self.loss.temperature
        held = np.flatnonzero(self.masses.any(axis=0))
        if self.loss.margin == 0:
            return [(held, softmax(sharp))]
        return [(np.array([c]), softmax(self._lowered(sharp, c))) for c in held.tolist()]

    def _lowered(self, sharp: Floats, label: int) -> Floats:
        lowered = sharp.copy()
        lowered[:, label] -= self.loss.margin / self.loss.temperature
        return lowered


@dataclass(frozen=True, eq=False)
class Tangents:
    """Tangents kept as two (N, C) arrays."""

    loss: Loss
    points: Floats
    masses: Floats
    flow: Floats | None = None
    gradient: Floats | None = None

    def rows(self, problem: RobustProblem, rows: slice) -> RowTangents:
        return RowTangents(self.loss, self.points[rows], self.masses[rows])
