r"""The polar of the l2 norm: the shortest flow with a given divergence.

sigma(G) is the least length sum ||T_ij|| of a flow T between the classes with divergence
G.  For weights p on the pairs, with Laplacian L_p, the flow p_ij (V_i - V_j) of the
potential V = pinv(L_p) G has it; weights in proportion to the lengths make it shorter,
round by round, and every round is an upper bound.
"""

from __future__ import annotations

import numpy as np

from ..hinge_rows import compiled, helper

ROUNDS = 50
LEAST_WEIGHT = 1e-14
# Relative rounding in the entries of a Gram matrix.
GRAM_ROUNDING = 1e-15


@compiled
def laplacian(pairs):  # type: ignore[no-untyped-def]
    """L_p, whose quadratic form is sum over i >= j of p_ij d_ij^2."""
    matrix = -pairs
    for i in range(len(pairs)):
        matrix[i, i] = pairs[i].sum() + 3 * pairs[i, i]
    return matrix


@compiled
def shortest_flow(gram, pairs):  # type: ignore[no-untyped-def]
    """Length of the best flow found, from the Gram matrix (C, C) of its divergence G.

    A factor S with S S' = W stands for G.  Any potential V makes a flow p_ij (V_i - V_j);
    what its divergence L_p V lacks of S is sent along as well, so that a badly
    conditioned L_p makes the flow longer, never the bound false.
    """
    n_classes = len(gram)
    mean = 1.0 / n_classes
    values, vectors = np.linalg.eigh(gram)
    factor = vectors * np.sqrt(np.maximum(values, 0.0))
    shortest = np.inf
    weights = pairs.copy()
    for _ in range(ROUNDS):
        tied = laplacian(weights)
        potential = np.linalg.solve(tied + mean, factor)
        lengths = weights * _row_distances(potential)
        length = 0.5 * lengths.sum()
        lack = _row_lengths(factor - tied @ potential).sum()
        shortest = min(shortest, length + lack)
        if not length > 0:
            break
        weights = np.maximum(lengths / length, LEAST_WEIGHT)
        for i in range(n_classes):
            weights[i, i] = 0.0
    # The factor is known to the square root of the rounding in W.
    return shortest + np.sqrt(n_classes * GRAM_ROUNDING * np.trace(gram))


@helper
def _row_lengths(rows):  # type: ignore[no-untyped-def]
    return np.sqrt((rows * rows).sum(axis=1))


@helper
def _row_distances(rows):  # type: ignore[no-untyped-def]
    """Distances between rows, taken of differences: nothing cancels."""
    n_rows = len(rows)
    spread = np.zeros((n_rows, n_rows))
    for i in range(n_rows):
        for j in range(i):
            apart = rows[i] - rows[j]
            spread[i, j] = spread[j, i] = np.sqrt((apart * apart).sum())
    return spread
