r"""The largest difference of coefficients as a power mean with adapted weights.

L(M) is the largest of some lengths d_k(M).  In its place stands

    D(M) = (sum_k share_k d_k^power)^(1 / power),    sum_k share_k = 1,    D <= L.

Where the smoothed risk is least, its gradient carries a flow whose total length is at most
the radius, whatever the shares are: the lower bound is good before D is close to L.  Then
the shares become share_k d_k^power, and the risk is minimised again; once they stay as they
are, all lengths with a share are equal, and D = L.

With the l2 norm the lengths are those of the differences of all pairs of classes.  With
the l1 norm they are 2 |M_jd|: one vector added to all classes changes nothing, and some
such vector puts every column's range in the middle.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np

from ....arrays import Floats
from ....problem.norms import NORMS
from ....problem.pair_weights import PairWeights, laplacian
from .. import kernels
from .settings import PRODUCTS


class Smoothed(NamedTuple):
    """D, its gradient (C, T), the lengths and the slope of D in each squared length / 2,
    and the stiffness (C,) with which the norm holds each class."""

    value: float
    gradient: Floats
    lengths: Floats
    slopes: Floats
    stiffness: Floats

    @property
    def largest(self) -> float:
        return float(self.lengths.max(initial=0.0))


class Lesson(NamedTuple):
    """The shares that the lengths of a ``smoothed`` norm teach, None if there is nothing to
    learn, and what D would be with them."""

    smoothed: Smoothed
    shares: Floats | None
    value: float


@dataclass(frozen=True, eq=False)
class Diameter:
    """The power mean with its shares, in an array like that of the lengths."""

    shares: Floats
    power: float = PRODUCTS.first_power

    def mean(self, lengths: Floats, shares: Floats | None = None) -> float:
        """D of these lengths, with its own shares or with others."""
        shares = self.shares if shares is None else shares
        return float(kernels.power_mean(_flat(lengths), _flat(shares), self.power))

    def lesson(self, smoothed: Smoothed) -> Lesson:
        """What the lengths teach a mean with the same power."""
        shares = self._learnt(smoothed.lengths, self.power)
        return Lesson(smoothed, shares, self.mean(smoothed.lengths, shares))

    def taught(self, lesson: Lesson) -> Self:
        """With the shares of the lesson."""
        return self if lesson.shares is None else replace(self, shares=lesson.shares)

    def _mean_and_slopes(self, lengths: Floats) -> tuple[float, Floats]:
        """D and dD / d(d_k^2 / 2)."""
        slopes = np.empty(lengths.shape)
        told = _flat(lengths), _flat(self.shares), self.power
        return float(kernels.fill_mean_slopes(*told, _flat(slopes))), slopes

    def reweighted(self, lengths: Floats, power: float) -> Self:
        """Shares adapted to these lengths.

        The shares stay as they are if all lengths are zero, or if the longest lengths have
        no share and the powers of the others underflow.
        """
        shares = self._learnt(lengths, power)
        return self if shares is None else replace(self, shares=shares, power=power)

    def with_shares(self, shares: Floats, power: float, lengths: Floats) -> Self:
        """With these shares, and a little for lengths that would else have none."""
        # A mean with the power 0 learns nothing from the lengths themselves.
        learnt = replace(self, shares=shares, power=0.0)._learnt(lengths, power)
        return replace(self, shares=shares if learnt is None else learnt, power=power)

    def _learnt(self, lengths: Floats, power: float) -> Floats | None:
        """Adapted shares for a mean with this power; None if there is nothing to learn.

        A length that was short for many rounds has lost its share.  Nothing would hold it
        if it grew: every length well above D has a little share.
        """
        shares = np.empty(self.shares.shape)
        told = _flat(lengths), _flat(self.shares), self.power, power
        some = PRODUCTS.long, PRODUCTS.least_long_share
        has_learnt = kernels.learn_shares(*told, *some, _flat(shares))
        return shares if has_learnt else None


def _flat(table: Floats) -> Floats:
    return table.reshape(-1)


@dataclass(frozen=True, eq=False)
class PairDiameter(Diameter):
    """For the l2 norm; shares and lengths (C, C), each pair twice.

    Products of coefficients are taken in numbers of ``kind``.
    """

    kind: Any = field(default=np.float64, kw_only=True)

    @classmethod
    def of(cls, n_classes: int, n_columns: int, kind: Any = np.float64) -> PairDiameter:
        pairs = np.ones((n_classes, n_classes)) - np.eye(n_classes)
        if n_classes * n_columns < PRODUCTS.least_single_coefficients:
            kind = np.float64
        return cls(pairs / pairs.sum(), kind=kind)

    def at(self, coef: Floats, known: Smoothed | None = None) -> Smoothed:
        """The mean at the coefficients, whose lengths may be ``known``."""
        points = self._points(coef)
        lengths = _distances(points) if known is None else known.lengths
        value, slopes = self._mean_and_slopes(lengths)
        slopes *= 2  # Both entries of a pair have half of its share.
        gradient = laplacian(slopes).astype(points.dtype, copy=False) @ points
        return Smoothed(value, gradient, lengths, slopes, slopes.sum(axis=1))

    def _points(self, coef: Floats) -> Floats:
        """The coefficients in numbers of ``kind``, without a part that all classes have.

        Beside a large common part, single precision would lose the differences.
        """
        if coef.dtype == self.kind:
            return coef
        return np.asarray((coef - coef.mean(axis=0)).astype(self.kind))

    def flow(self, found: Smoothed, gradient: Floats, tol: float) -> PairWeights:
        """The weights of a short flow with the divergence G (C, T).

        No pair begins without a weight: what G has beside the flow of the longest pairs
        must find a way too.  The rounds take these weights away only down to the tolerance.
        """
        plain = found.slopes * found.lengths
        floor = min(PRODUCTS.flow_floor, 1 / PRODUCTS.flow_floor * tol**2)
        weights = PairWeights(plain + floor * plain.mean())
        short = weights.shortened(gradient, PRODUCTS.flow_rounds, rtol=1e-4)
        if tol >= PRODUCTS.single_tol:
            return short
        # With so small a floor the Gram matrix has lost the digits of the lengths.
        return replace(short, length=short.cost(gradient, NORMS["l2"].of_rows))

    def polar(self, flow: PairWeights | None, gradient: Floats) -> float:
        """About the length of the flow; a certificate computes it from the pairs."""
        assert flow is not None
        return flow.length

    def repaired(self, coef: Floats, length: float, rtol: float) -> Floats:
        """Coefficients nearby, no two classes farther apart than about ``length``.

        All pairs that are too long pull their classes together at once; a class in many
        of them is pulled less by each.
        """
        coef = coef.copy()
        for _ in range(PRODUCTS.repair_rounds):
            points = self._points(coef)
            lengths = _distances(points)
            if lengths.max(initial=0.0) <= length * (1 + rtol):
                break
            longer = np.maximum(lengths, length)
            excess = np.divide(longer - length, longer, where=longer > 0, out=longer)
            n_long = (excess > 0).sum(axis=1)
            excess *= 0.5 * np.minimum(1.0, 3.0 / np.maximum(n_long, 1))[:, None]
            pulls = laplacian(np.minimum(excess, excess.T))
            coef -= pulls.astype(points.dtype, copy=False) @ points
        return coef


def _distances(points: Floats) -> Floats:
    """Those of all points from each other."""
    distances = np.empty((len(points), len(points)))
    kernels.fill_distances((points @ points.T).astype(np.float64, copy=False), distances)
    return distances


class EntryDiameter(Diameter):
    """For the l1 norm; shares and lengths (C, T), one for each coefficient."""

    @classmethod
    def of(cls, n_classes: int, n_columns: int, kind: Any = np.float64) -> EntryDiameter:
        """Without products there is nothing to gain from numbers of another ``kind``."""
        size = n_classes * n_columns
        return cls(np.full((n_classes, n_columns), 1.0 / max(size, 1)))

    def at(self, coef: Floats, known: Smoothed | None = None) -> Smoothed:
        lengths = 2 * np.abs(coef)
        value, slopes = self._mean_and_slopes(lengths)
        slopes *= 4
        stiffness = (self.power - 1) * slopes.sum(axis=1) / max(slopes.shape[1], 1)
        return Smoothed(value, slopes * coef, lengths, slopes, stiffness)

    def flow(self, found: Smoothed, gradient: Floats, tol: float) -> None:
        """No flow is needed, because the polar has a closed form."""

    def polar(self, flow: PairWeights | None, gradient: Floats) -> float:
        return 0.5 * float(np.abs(gradient).sum())

    def repaired(self, coef: Floats, length: float, rtol: float) -> Floats:
        return np.clip(coef, -length / 2, length / 2)


DIAMETERS: dict[str, type[PairDiameter] | type[EntryDiameter]] = {
    "l1": EntryDiameter,
    "l2": PairDiameter,
}
