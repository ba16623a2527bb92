"""The power mean of smoothed lengths; the formulas of a length are in the kernels."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from .....arrays import Floats, Singles
from .....problem.norms import TINY, class_pairs, pairwise_moduli, polar
from ... import kernels
from ..diameter import Diameter
from .settings import LENGTHS


class SmoothedLengths(NamedTuple):
    """D, its gradient (C, T), the stiffness (C,) with which it holds each class; the
    smoothed lengths, the plain ones and the weights of all pairs; and ``lag``, what new
    multipliers would add.  ``coef`` (C, T) is the point."""

    value: float
    gradient: Floats
    stiffness: Floats
    lengths: Floats
    plain: Floats
    weights: Floats
    lag: float
    coef: Floats

    @property
    def largest(self) -> float:
        return float(self.plain.max(initial=0.0))


@dataclass(frozen=True, eq=False)
class LengthDiameter(Diameter):
    """Shares (pairs,), ``multipliers`` (pairs, T) and the ``width`` of the smoothing, which
    is ``relative_width`` times the mean size of a difference.

    Differences of coefficients are taken in numbers of ``kind``.
    """

    multipliers: Singles = field(kw_only=True)
    width: float = field(default=1.0, kw_only=True)
    relative_width: float = field(default=LENGTHS.width, kw_only=True)
    kind: Any = field(default=np.float64, kw_only=True)

    @classmethod
    def of(cls, coef: Floats, kind: Any = np.float64) -> LengthDiameter:
        """Without multipliers yet; the width suits coefficients (C, T) of this size."""
        n_pairs = len(class_pairs(len(coef))[0])
        shares = np.full(n_pairs, 1 / max(n_pairs, 1))
        multipliers = np.zeros((n_pairs, coef.shape[1]), np.float32)
        lengths = pairwise_moduli(coef, "linf", np.ones(coef.shape[1]))
        plain = lengths[class_pairs(len(coef))]
        return cls(shares, multipliers=multipliers, kind=kind)._of_width(plain)

    def _of_width(self, plain: Floats) -> LengthDiameter:
        """With a width that suits these lengths, unless they are all zero."""
        size = float(plain.mean()) / max(self.multipliers.shape[1], 1)
        return replace(self, width=self.relative_width * size) if size > 0 else self

    @staticmethod
    def modulus(coef: Floats) -> float:
        return float(pairwise_moduli(coef, "linf", np.ones(coef.shape[1])).max(initial=0.0))

    def at(self, coef: Floats, known: SmoothedLengths | None = None) -> SmoothedLengths:
        """Lengths with other multipliers are of no use, even if they are ``known``."""
        coef = np.ascontiguousarray(coef, self.kind)
        lengths, plain, lags = (np.empty(len(self.shares)) for _ in range(3))
        told = coef, self.multipliers, self.width
        kernels.pair_lengths(*told, lengths, plain, lags)
        # The multipliers may point the wrong way.
        np.maximum(lengths, 0.0, out=lengths)
        value, slopes = self._mean_and_slopes(lengths)
        weights, gradient = slopes * lengths, np.zeros_like(coef)
        kernels.add_pair_flows(*told, weights, gradient)
        stiffness = LENGTHS.class_share / self.width * _degrees(weights, len(coef))
        lag = float(weights @ lags)
        return SmoothedLengths(
            value, gradient, stiffness, lengths, plain, weights, lag, coef
        )

    def held(self, found: SmoothedLengths) -> Floats:
        """How much the norm holds each coefficient (C, T), by the pairs tied there."""
        totals = np.zeros_like(found.coef)
        told = found.coef, self.multipliers, self.width
        kernels.add_tied_weights(*told, found.weights, totals)
        least = LENGTHS.tied_share * _degrees(found.weights, len(totals))[:, None]
        return np.maximum(LENGTHS.held_share * totals, least) / self.width

    def held_along(self, found: SmoothedLengths) -> Floats:
        """A row (C, T) for each class along which the power mean itself holds it.

        The mean bends when lengths become unequal.  In most pairs of a class the same
        coefficients count, with the same signs: those of its row of the gradient.
        """
        degrees = _degrees(found.weights, len(found.coef))
        scale = max(found.value, TINY) * np.maximum(degrees, TINY)
        bend = LENGTHS.bend_share * (self.power - 1) / scale
        return np.asarray(np.sqrt(bend)[:, None] * found.gradient)

    def adapted(self, found: SmoothedLengths, power: float) -> LengthDiameter:
        """With the shares and multipliers found at some coefficients."""
        after = self.reweighted(found.lengths, power)
        multipliers = self._slopes(found.coef, self.multipliers)
        return replace(after, multipliers=multipliers)._of_width(found.plain)

    def flow(self, found: SmoothedLengths, gradient: Floats, left: float) -> Floats:
        """A flow (pairs, T) that costs at most ``left``, its divergence close to G (C, T).

        Where classes are tied in a column, the flow between them can change without a
        cost, and every flow can become smaller: potentials of the classes are moved until
        little of G is missing there.
        """
        slopes, weights = self._slopes(found.coef, self.multipliers), left * found.weights
        potential, told = np.zeros_like(found.coef), (slopes, self.width, weights)
        gradient = gradient.astype(self.kind)
        degrees = _degrees(weights, len(gradient))[:, None]
        # Beside the others, pairs of other classes have no weight at all.
        counts = degrees > np.finfo(self.kind).eps * degrees.max(initial=0.0)
        rate = LENGTHS.flow_damping * self.width
        for _ in range(LENGTHS.flow_rounds):
            missing = gradient.copy()
            kernels.add_pair_flows(potential, *told, missing)
            # No class responds with more than the weights of its pairs.
            np.divide(missing, degrees, where=counts, out=missing)
            potential -= rate * missing
        return -weights[:, None] * self._slopes(potential, slopes)

    def _slopes(self, coef: Floats, multipliers: Singles) -> Singles:
        """The slopes of the smoothed differences: new multipliers."""
        slopes = multipliers.copy()
        kernels.adapt_multipliers(coef, slopes, self.width)
        return slopes

    def polar(self, flow: Floats, gradient: Floats) -> float:
        return polar(gradient, "linf", np.ones(gradient.shape[1]), flow)

    def repaired(self, coef: Floats, length: float, rtol: float) -> Floats:
        """Coefficients nearby, no two classes farther apart than about ``length``.

        All pairs that are too long pull their classes together at once; a class in many
        of them is pulled less by each.
        """
        coef = np.array(coef, order="C")
        for _ in range(LENGTHS.repair_rounds):
            pull, n_long = np.zeros_like(coef), np.zeros(len(coef))
            largest = kernels.pull_long_pairs(coef, length, pull, n_long)
            if largest <= length * (1 + rtol):
                break
            share = np.minimum(1.0, LENGTHS.repair_pull / np.maximum(n_long, 1))
            coef -= 0.5 * share[:, None] * pull
        return coef


def _degrees(weights: Floats, n_classes: int) -> Floats:
    """The sum (C,) of the weights of all pairs of each class."""
    first, second = class_pairs(n_classes)
    degrees = np.bincount(first, weights, n_classes)
    return np.asarray(degrees + np.bincount(second, weights, n_classes))
