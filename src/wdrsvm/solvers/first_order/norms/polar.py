r"""The polar of the l2 norm: the shortest flow with a given divergence.

sigma(G) is the least length sum ||T_ij|| of a flow T between the classes with divergence
G.  For weights p on the pairs, with Laplacian L_p, the flow p_ij (V_i - V_j) of the
potential V = pinv(L_p) G has this divergence.  Each round sets the weights to the lengths,
which makes the flow shorter.  Every round gives an upper bound.

``problem.pair_weights`` has the same idea for a single certificate.  Here a bound is needed
every few epochs, so that the rounds are compiled.  They see no more numbers of a class than
there are classes.
"""

from __future__ import annotations

import numpy as np

from ....arrays import Floats
from ..kernels import flow_length

# Relative rounding in the entries of a Gram matrix: a few units of floating point.
GRAM_ROUNDING = 1e-15


def shortest_flow(gradient: Floats, pairs: Floats, rtol: float = 0.0) -> float:
    """Length of the best flow found with divergence G, which is given as (T, C).

    A factor S with S' S = G' G stands for G if it has fewer lines.  The search ends when a
    round gains less than the share ``rtol``.
    """
    if len(gradient) <= len(pairs):
        length = float(flow_length(np.ascontiguousarray(gradient), pairs, rtol))
        return length * (1 + len(pairs) * GRAM_ROUNDING)
    gram = gradient.T @ gradient
    values, vectors = np.linalg.eigh(gram)
    factor = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    # The factor is known to the square root of the rounding in the Gram matrix.
    rounding = np.sqrt(len(gram) * GRAM_ROUNDING * np.trace(gram))
    length = flow_length(np.ascontiguousarray(factor), pairs, rtol)
    return float(length + rounding)
