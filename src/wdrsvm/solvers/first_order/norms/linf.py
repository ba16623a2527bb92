r"""The linf norm in the first-order method: a flow for each pair of classes.

||M_i - M_j||_1 <= lam for all pairs has multipliers U_ij (T,), which take part in

    V = M_k - t_d (G + div U),    M = V,    pressure = sum_ij mu_ij,  mu_ij = ||U_ij||_inf.

After every epoch over the rows all pairs take one proximal gradient step at once,

    W_ij = U_ij + (V_i - V_j) / (t C),    U_ij = clip(W_ij, -mu_ij, mu_ij),
    sum_d t_d C (|W_ij,d| - mu_ij)_+ = lam   (mu_ij = 0 if the sum is less at 0).

The complete graph makes this exact where nothing is clipped: all eigenvalues of its
Laplacian but one equal C.  Taking the pairs one after another is far slower.

The polar: -U, corrected to the right divergence, is a flow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....arrays import Codes, Floats
from ....problem.norms import divergence, polar
from ..kernels import newton_price, step_pairs
from ..samples import Duals, FreeTable, SampleArrays
from .tables import TableBlock


class FlowBlock(TableBlock):
    """Coefficients of the touchable columns under the linf norm."""

    rarity = 0.0
    boxed = False

    def __init__(
        self, rows: SampleArrays, duals: Duals, free: FreeTable, price: Any, coef: Floats
    ):
        super().__init__(rows, duals, free, price, coef)
        n_columns, n_classes = coef.shape
        n_pairs = n_classes * (n_classes - 1) // 2
        self.flows = np.zeros((n_pairs, n_columns))
        self.heights = np.zeros(n_pairs)

    def sweep(self, order: Codes, tol: float, least_weight: float) -> None:
        """One epoch over the rows, and one step of all pairs."""
        self.sweep_rows(order, tol)
        by_class = np.ascontiguousarray(self.table.T)
        rate = step_pairs(by_class, self.flows, self.heights, self.steps, self.price.lam)
        newton_price(self.heights.sum(), rate, self.price)
        self.table = np.ascontiguousarray(by_class.T)

    def polar(self, gradient: Floats, rtol: float = 0.0) -> float:
        """An upper bound of sigma(G), G given as (T, C)."""
        return polar(gradient.T, "linf", np.ones(len(gradient)), self.flow())

    def own_gradient(self, gradient: Floats) -> Floats:
        """The G that the flows carry."""
        return -divergence(self.flows, self.coef.shape[1]).T

    def flow(self) -> Floats:
        """The flow behind ``polar``, up to its divergence."""
        return np.negative(self.flows)
