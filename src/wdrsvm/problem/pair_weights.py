r"""Flows between classes that are told by one weight for each pair.

For weights w_ij >= 0 on the pairs of classes, L_w their Laplacian and V = pinv(L_w) G, the
flow T_ij = w_ij (V_i - V_j) has divergence G.  With many classes only the weights (C, C)
are kept: the flow itself has C (C - 1) / 2 rows and is computed class by class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats

# The least weight of a pair, as a share of the mean: it keeps the Laplacian invertible.
LEAST_WEIGHT = 1e-9
EPSILON = float(np.finfo(np.float64).eps)
# From so many classes on, a table of all pairs with all features is too large to be quick.
MANY_CLASSES = 50
# Entries of differences of classes that are taken at a time.
MAX_DIFFERENCES = 1 << 12
# The share of a length that may be lost to the rounding of a Gram matrix.
MOST_LOST = 1e-10


@dataclass(frozen=True, eq=False)
class PairWeights:
    """Weights of the pairs, a symmetric (C, C) array without a diagonal.

    ``length`` is about what ``cost`` would find in the l2 norm, where that is known.
    """

    weights: Floats
    length: float = np.nan

    @classmethod
    def uniform(cls, n_classes: int) -> PairWeights:
        return cls(np.ones((n_classes, n_classes)) - np.eye(n_classes))

    def shortened(
        self, gradient: Floats, n_rounds: int = 1000, rtol: float = 1e-12
    ) -> PairWeights:
        """Weights whose flow has a smaller total l2 length: w_ij = ||T_ij||, repeated.

        Lengths come from the (C, C) Gram matrix of the potentials.  Differences lose digits
        in it, so that these lengths only lead the way; ``cost`` has the true ones.
        """
        best, weights, least = self.weights, self.weights, np.inf
        gradient = _narrow(gradient)
        for _ in range(n_rounds):
            weights = _floored(weights)
            lengths = weights * pair_distances(_potentials(weights, gradient))
            total, last = float(lengths.sum()), least
            if total < least:
                best, least = weights, total
            if not total > 0 or total > last * (1 - rtol):
                break
            weights = lengths
        return PairWeights(best, least / 2)

    def cost(
        self,
        gradient: Floats,
        length_of_rows: Callable[[Floats], Floats],
        is_l2: bool = False,
    ) -> float:
        """The total length of a flow with divergence G, an upper bound of its polar.

        What rounding leaves of the divergence is sent from every class to every other, with
        the rounding of this difference itself.  ``is_l2``: the lengths are those of the l2
        norm, which many classes have sooner from a Gram matrix.
        """
        weights = _floored(self.weights)
        potential = _potentials(weights, gradient)
        missing = length_of_rows(gradient - laplacian(weights) @ potential)
        missing += EPSILON * len(weights) * weights.sum(axis=1) * length_of_rows(potential)
        total = float(missing.sum())
        if is_l2 and len(weights) >= MANY_CLASSES:
            length = _length_by_products(weights, potential)
            if length is not None:
                return total + length
        return total + _length_by_differences(weights, potential, length_of_rows)


def pair_distances(points: Floats) -> Floats:
    """Distances of all points (C, P) from each other, by their Gram matrix."""
    gram = points @ points.T
    squares = gram.diagonal()
    return np.asarray(np.sqrt(np.maximum(squares[:, None] + squares - 2 * gram, 0.0)))


def distance_bounds(points: Floats) -> tuple[Floats, Floats]:
    """Numbers below and above the distances of all points (C, P), by their Gram matrix.

    The products of a Gram matrix of P columns are wrong by at most P roundings of the
    squared lengths.
    """
    gram = points @ points.T
    squares = gram.diagonal()
    both = squares[:, None] + squares
    error = (2 * points.shape[1] + 8) * EPSILON * both
    found = both - 2 * gram
    low, high = (np.sqrt(np.maximum(found + sign * error, 0.0)) for sign in (-1, 1))
    np.fill_diagonal(high, 0.0)
    return low, high


def _length_by_differences(
    weights: Floats, potential: Floats, length_of_rows: Callable[[Floats], Floats]
) -> float:
    """The total length of a flow."""
    n_classes, total = len(weights), 0.0
    each = np.triu(weights, 1)
    # Several classes at a time where they are few: a call takes longer than their work.
    step = max(1, MAX_DIFFERENCES // max(potential.size, 1))
    # One array for all classes: fresh memory takes longer than the numbers.
    differences = np.empty((min(step, n_classes), *potential.shape))
    for i in range(0, n_classes, step):
        some = potential[i : i + step, None]
        found = np.subtract(some, potential[i:], out=differences[: len(some), i:])
        total += float(np.vdot(each[i : i + step, i:], length_of_rows(found)))
    return total


def _length_by_products(weights: Floats, potential: Floats) -> float | None:
    """A number hardly above the total length of a flow; None if too many digits are lost.

    They are where points are close to each other beside their distance from zero.
    """
    low, high = distance_bounds(potential)
    least, most = (0.5 * float(np.vdot(weights, lengths)) for lengths in (low, high))
    return most if most - least <= MOST_LOST * most else None


def laplacian(weights: Floats) -> Floats:
    """diag(sum_j w_ij) - w."""
    found = -weights
    # A weight on the diagonal takes nothing away: it is in the sum, too.
    found.flat[:: len(found) + 1] += weights.sum(axis=1)
    return np.asarray(found)


def _floored(weights: Floats) -> Floats:
    """Weights of mean 1 that are all positive: equal ones if none was positive."""
    level = float(weights.mean())
    if not 0 < level < np.inf:
        weights, level = np.ones_like(weights), 1.0
    floored = np.maximum(weights, LEAST_WEIGHT * level)
    np.fill_diagonal(floored, 0.0)
    return np.asarray(floored / floored.mean())


def _potentials(weights: Floats, gradient: Floats) -> Floats:
    """pinv(L_w) G, whose differences times the weights are a flow with divergence G."""
    found = np.linalg.solve(laplacian(weights) + 1.0 / len(weights), gradient)
    return np.asarray(found - found.mean(axis=0))


def _narrow(gradient: Floats) -> Floats:
    """Rows with the same Gram matrix and no more columns than there are classes."""
    n_classes, n_columns = gradient.shape
    if n_columns <= n_classes:
        return gradient
    squares, axes = np.linalg.eigh(gradient @ gradient.T)
    return np.asarray(axes * np.sqrt(np.maximum(squares, 0.0)))
