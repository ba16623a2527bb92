"""Tangents of a smooth loss at trusted labels: those of ``smooth.py`` without flips.

Each label has the whole weight of its row.  Then a tangent is known by its winners p, the
softmax of a point: its slope is  w (p - e_y)  and its value  w (margin (1 - p_y)  +
temperature entropy(p)).  Any p with entries >= 0 and the sum 1 will do.  So tangents are
drawn and tilted by products, without another softmax.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias

import numpy as np
from scipy import sparse

from ...arrays import Codes, Floats, Matrix, Singles
from ...rows.along_rows import row_maxima, row_sums
from ..loss import Loss, softmax
from ..norms import TINY
from .multipliers import slopes_on_columns
from .settings import CERTIFICATE

# Sums in double precision and in single precision.
Moments: TypeAlias = tuple[Floats, Singles]
# Entries of a part: its arrays stay in a processor's cache.
PART_ENTRIES = 1 << 15


@dataclass(frozen=True, eq=False)
class TrustedTangents:
    """Winners p (rows, C), labels and weights of some rows.

    After a moderate tilt, ``origin`` has the winners before it, and the winners are at
    least ``left`` times these.  Small tilts act on the origin.
    """

    loss: Loss
    winners: Floats
    y: Codes
    weight: Floats
    origin: Floats | None = None
    left: float = 1.0

    @classmethod
    def at(cls, loss: Loss, points: Floats, y: Codes, weight: Floats) -> TrustedTangents:
        """The tangents at some ``points`` (rows, C)."""
        sharp = points / loss.temperature
        sharp[np.arange(len(y)), y] -= loss.margin / loss.temperature
        return cls(loss, np.ascontiguousarray(softmax(sharp)), y, weight)

    @property
    def points(self) -> Floats:
        """Points of these tangents; all others differ by a constant for each row."""
        points = self.loss.temperature * _logarithms(self.winners)
        points[self._own] += self.loss.margin
        return points

    def drawn(self, share: float) -> TrustedTangents:
        """The tangents whose winners are  share p + (1 - share) e_y.

        Their slopes are ``share`` times as long, and their value is larger than the share
        of the value, because it is concave in p.
        """
        if share == 1:
            return self
        winners = share * self.winners
        winners[self._own] += 1 - share
        return TrustedTangents(self.loss, winners, self.y, self.weight)

    @property
    def _own(self) -> tuple[Codes, Codes]:
        return np.arange(len(self.y)), self.y

    def belong_to(self, loss: Loss) -> bool:
        return loss == self.loss

    def restored(
        self, weight: Floats, y: Codes, cost: Floats, flip_share: float
    ) -> TrustedTangents:
        return self if weight is self.weight else replace(self, weight=weight)

    def loosened(self, weight: Floats) -> TrustedTangents:
        """Unchanged: only winners that have underflowed are zero."""
        return self

    def tilted(self, pull: Floats) -> TrustedTangents:
        """Move points along the pull, which is measured in units of the temperature.

        A row whose winners would all underflow does not change.
        """
        # One line of factors serves rows that are all pulled alike.
        pull = pull[:1] if pull.strides[0] == 0 else pull
        size = float(np.ptp(pull, axis=1).max(initial=0.0))
        if size <= CERTIFICATE.small_pull and size < self.left:
            return self._shifted(pull, size)
        winners = self.winners * np.exp(pull - row_maxima(pull)[:, None])
        total = row_sums(winners)
        if not total.all():
            winners = np.where(total[:, None] > 0, winners, self.winners)
            total = row_sums(winners)
        winners /= total[:, None]
        if size > CERTIFICATE.moderate_pull:
            return TrustedTangents(self.loss, winners, self.y, self.weight)
        return replace(self, winners=winners, origin=self.winners, left=np.exp(-size))

    def _shifted(self, pull: Floats, size: float) -> TrustedTangents:
        """Move winners by  o (u - o'u),  the first order of a tilt of the origin o along u.

        Slopes are linear in winners.  So sums change by exactly what the system of the
        origin says.  A tilt whose system is exact is the last one, and one after a tilt
        that was not small needs no other system.
        """
        origin = self._origin
        centre = origin @ pull[0] if len(pull) == 1 else row_sums(origin * pull)
        winners = pull - centre[:, None]
        winners *= origin
        winners += self.winners
        return replace(self, winners=winners, origin=origin, left=self.left - size)

    @property
    def _origin(self) -> Floats:
        return self.winners if self.origin is None else self.origin

    def value(self, weight: Floats, y: Codes) -> float:
        """The sum of  w (margin (1 - p_y) + temperature entropy(p))."""
        entropy = sum(part._entropy for part in self._parts())
        lost = self.moved(weight, y)
        return float(self.loss.margin * lost + self.loss.temperature * entropy)

    def moved(self, weight: Floats, y: Codes) -> float:
        return float(np.vdot(self.weight, 1.0 - self.winners[self._own]))

    @property
    def _entropy(self) -> float:
        found = row_sums(self.winners * _logarithms(self.winners))
        return -float(np.vdot(self.weight, found))

    def _parts(self) -> Iterator[TrustedTangents]:
        for rows in self._part_rows():
            found = self.winners[rows], self.y[rows], self.weight[rows]
            yield TrustedTangents(self.loss, *found)

    def _part_rows(self) -> Iterator[slice]:
        """Parts of few rows: large arrays in between take longer than their numbers.

        With fewer rows than classes, the products of a part would be such arrays.
        """
        n_classes = self.winners.shape[1]
        step = max(n_classes, PART_ENTRIES // n_classes)
        for start in range(0, len(self.y), step):
            yield slice(start, start + step)

    def spending(self, cost: Floats) -> float:
        return 0.0

    def slopes(self, y: Codes) -> Floats:
        """w (p - e_y)."""
        slopes = self.winners * self.weight[:, None]
        slopes[self._own] -= self.weight
        return slopes

    def on_columns(self, y: Codes, columns: Matrix) -> Floats:
        """Part by part, so that no array of all slopes is needed."""
        found = np.zeros((self.winners.shape[1], columns.shape[1]))
        for rows, part in zip(self._part_rows(), self._parts(), strict=True):
            found += slopes_on_columns(part, part.y, columns[rows])
        return found

    def response(self, pull: Floats) -> Floats:
        origin = self._origin
        centred = pull - row_sums(origin * pull)[:, None]
        return np.asarray(self.weight[:, None] * origin * centred)

    def own_response(self) -> Floats:
        origin = self._origin
        return np.asarray(self.weight[:, None] * origin * (1.0 - origin))

    def curvature(self, columns: Floats) -> Floats:
        """The covariance of the origin, times the squares of the columns."""
        origin = replace(self, winners=self._origin)
        n_classes, n_columns = self.winners.shape[1], columns.shape[1]
        system = np.empty((n_classes, n_columns, n_classes, n_columns))
        for d in range(n_columns):
            for e in range(n_columns):
                moments = self.weight * columns[:, d] * columns[:, e]
                system[:, d, :, e] = replace(origin, weight=moments)._covariance()
        return system

    def _covariance(self) -> Floats:
        """sum_n w (diag(p) - p p')."""
        if self.winners.shape[1] >= CERTIFICATE.many_classes:
            return self._covariance_of_rests()
        products = sum(
            part.winners.T * part.weight @ part.winners for part in self._parts()
        )
        return np.asarray(np.diag(self.weight @ self.winners) - products)

    def _covariance_of_rests(self) -> Floats:
        """The same by the rests  r = p - e_y:  sum_n w (diag(r) - e_y r' - r e_y' - r r').

        Where rests are small, so are their products.  Single precision is enough for these:
        the system of a tilt leads the way to equal sums, and does not judge them.
        """
        parts = (part._second_moments() for part in self._parts())
        own, products = reduce(_added_to, parts)
        covariance = own + own.T
        covariance += products
        np.negative(covariance, out=covariance)
        covariance.flat[:: len(own) + 1] += own.sum(axis=0)
        return covariance

    def _second_moments(self) -> Moments:
        """sum_n w e_y r'  and  sum_n w r r'."""
        rests = self.winners.copy()
        rests[self._own] -= 1.0
        return np.asarray(self._by_label @ rests), _products(rests, self.weight)

    @property
    def _by_label(self) -> sparse.csc_array:
        """The weights of the rows of each label, (C, rows)."""
        starts, shape = np.arange(len(self.y) + 1), (self.winners.shape[1], len(self.y))
        return sparse.csc_array((self.weight, self.y, starts), shape=shape)


def _added_to(sums: Moments, more: Moments) -> Moments:
    """Both sums together; the first are written to, because they are large."""
    return np.add(sums[0], more[0], out=sums[0]), np.add(sums[1], more[1], out=sums[1])


def _products(rests: Floats, weight: Floats) -> Singles:
    """sum_n w r r' in single precision; weights may be negative."""
    if (weight >= 0).all():
        scaled = (rests * np.sqrt(weight)[:, None]).astype(np.float32)
        # A matrix times its own transpose takes half of a product.
        return np.asarray(scaled.T @ scaled)
    weighted = (rests * weight[:, None]).astype(np.float32)
    return np.asarray(weighted.T @ rests.astype(np.float32))


def _logarithms(winners: Floats) -> Floats:
    """log p, with the smallest number in place of zeros that have underflowed."""
    return np.asarray(np.log(np.maximum(winners, TINY)))
