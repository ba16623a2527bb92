r"""Flows between classes that are told by one weight for each pair.

For weights w_ij >= 0 on the pairs of classes, L_w their Laplacian and V = pinv(L_w) G, the
flow T_ij = w_ij (V_i - V_j) has divergence G.  With many classes only the weights (C, C)
are kept: the flow itself has C (C - 1) / 2 rows and is computed in blocks of classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from ..rows.blocks import row_blocks

# The least weight of a pair, as a share of the mean: it keeps the Laplacian invertible.
LEAST_WEIGHT = 1e-9


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

        All rounds work on the (C, C) Gram matrix of G.  Differences lose digits in it, so
        that these lengths only lead the way; ``cost`` has the true ones.
        """
        gram, best, weights = gradient @ gradient.T, self.weights, self.weights
        least = np.inf
        for _ in range(n_rounds):
            weights = _floored(weights)
            inverse = _laplacian_inverse(weights)
            lengths = weights * _distances(inverse @ gram @ inverse.T)
            total, last = float(lengths.sum()), least
            if total < least:
                best, least = weights, total
            if not total > 0 or total > last * (1 - rtol):
                break
            weights = lengths
        return PairWeights(best, least / 2)

    def cost(self, gradient: Floats, length_of_rows: Callable[[Floats], Floats]) -> float:
        """The total length of a flow with divergence G, an upper bound of its polar.

        What rounding leaves of the divergence is sent from every class to every other.
        """
        weights = _floored(self.weights)
        potential = _laplacian_inverse(weights) @ gradient
        once = np.triu(weights)
        missing, total = gradient.copy(), 0.0
        for part in row_blocks(gradient, max(gradient.size, 1)):
            others = slice(part.start, None)
            flow = potential[part, None] - potential[others]
            flow *= once[part, others, None]
            missing[part] -= flow.sum(axis=1)
            missing[others] += flow.sum(axis=0)
            total += float(length_of_rows(flow).sum())
        return total + float(length_of_rows(missing).sum())


def pair_distances(points: Floats) -> Floats:
    """Distances of all points (C, P) from each other, by their Gram matrix."""
    return _distances(points @ points.T)


def laplacian(weights: Floats) -> Floats:
    """diag(sum_j w_ij) - w."""
    return np.diag(weights.sum(axis=1)) - weights


def _distances(gram: Floats) -> Floats:
    """Distances of the points that have this Gram matrix."""
    squares = np.diag(gram)
    return np.asarray(np.sqrt(np.maximum(squares[:, None] + squares - 2 * gram, 0.0)))


def _floored(weights: Floats) -> Floats:
    """Weights of mean 1 that are all positive: equal ones if none was positive."""
    level = float(weights.mean())
    if not 0 < level < np.inf:
        weights, level = np.ones_like(weights), 1.0
    floored = np.maximum(weights, LEAST_WEIGHT * level)
    np.fill_diagonal(floored, 0.0)
    return np.asarray(floored / floored.mean())


def _laplacian_inverse(weights: Floats) -> Floats:
    """Inverse, on the complement of the constant vector, of a weighted Laplacian."""
    mean = np.full_like(weights, 1.0 / len(weights))
    return np.asarray(np.linalg.inv(laplacian(weights) + mean) - mean)
