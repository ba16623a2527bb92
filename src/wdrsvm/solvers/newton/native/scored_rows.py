"""Some rows at their scores, as all kernels of the Newton methods read them."""

from __future__ import annotations

import cython

from ...runtime.kernel_names import ReadCodes, ReadTable, ReadVector, Real


@cython.cclass
class ScoredRows:
    """Scores (n, C), labels and weights (n,), and the price ``lam`` of the radius.

    The flip costs of row n are row ``cost_row[n]`` of ``cost``.  An impossible flip costs
    inf.
    """

    scores: ReadTable
    y: ReadCodes
    cost: ReadTable
    cost_row: ReadCodes
    weight: ReadVector
    lam: Real

    def __init__(self, scores, y, cost, cost_row, weight, lam):
        self.scores, self.y, self.cost = scores, y, cost
        self.cost_row, self.weight, self.lam = cost_row, weight, lam
