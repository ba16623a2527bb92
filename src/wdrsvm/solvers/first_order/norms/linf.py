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

import numpy as np

from ....arrays import Codes, Floats
from ....problem.norms import divergence
from ..hinge_rows import LAM, Duals, FreeTable, Rows, compiled, helper
from .tables import TableBlock, newton_price

MAX_THRESHOLD_STEPS = 60


class FlowBlock(TableBlock):
    """Coefficients of the touchable columns under the linf norm."""

    rarity = 0.0
    boxed = False

    def __init__(
        self, rows: Rows, duals: Duals, free: FreeTable, price: Floats, coef: Floats
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
        rate = step_pairs(by_class, self.flows, self.heights, self.steps, self.price[LAM])
        newton_price(self.heights.sum(), rate, self.price)
        self.table = np.ascontiguousarray(by_class.T)

    def polar(self, gradient: Floats) -> float:
        """An upper bound of sigma(G), G given as (T, C)."""
        return float(flow_cost(np.ascontiguousarray(gradient.T), self.flows))

    def own_gradient(self, gradient: Floats) -> Floats:
        """The G that the flows carry."""
        return -divergence(self.flows, self.coef.shape[1]).T

    def flow(self) -> Floats:
        """The flow behind ``polar``, up to its divergence."""
        return np.negative(self.flows)


@helper
def clip_height(values, weights, mass, height):  # type: ignore[no-untyped-def]
    """The mu with sum weights (|values| - mu)_+ = mass, or 0, by Newton from ``height``;
    and the sum of the weights beyond it."""
    beyond = 0.0
    for _ in range(MAX_THRESHOLD_STEPS):
        total = 0.0
        beyond = 0.0
        for d in range(len(values)):
            excess = abs(values[d]) - height
            if excess > 0:
                total += weights[d] * excess
                beyond += weights[d]
        if beyond == 0:
            if height == 0:
                return 0.0, 0.0
            height = 0.0
            continue
        higher = height + (total - mass) / beyond
        if higher <= 0 and height == 0:
            return 0.0, 0.0
        higher = max(higher, 0.0)
        if abs(higher - height) <= 1e-10 * higher:
            return higher, beyond
        height = higher
    return height, beyond


@compiled
def step_pairs(table, flows, heights, steps, lam):  # type: ignore[no-untyped-def]
    """A proximal gradient step of all flows; ``table`` is V by class, (C, T).

    Returns how fast the pressure falls with lam.
    """
    n_classes, n_columns = table.shape
    before = table.copy()
    weights = steps * n_classes
    values = np.empty(n_columns)
    rate = 0.0
    pair = 0
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            flow = flows[pair]
            for d in range(n_columns):
                values[d] = flow[d] + (before[i, d] - before[j, d]) / weights[d]
            height, beyond = clip_height(values, weights, lam, heights[pair])
            _replace_flow(flow, values, height, steps, table[i], table[j])
            heights[pair] = height
            rate += 1.0 / beyond if beyond > 0 else 0.0
            pair += 1
    return rate


@helper
def _replace_flow(flow, values, height, steps, first, second):  # type: ignore[no-untyped-def]
    """Set a flow to the clipped values, and move both ends of V accordingly."""
    for d in range(len(flow)):
        clipped = min(max(values[d], -height), height)
        moved = steps[d] * (clipped - flow[d])
        flow[d] = clipped
        first[d] -= moved
        second[d] += moved


@compiled
def flow_cost(gradient, flows):  # type: ignore[no-untyped-def]
    """sum over pairs of the largest entry of -U, made to have divergence G (C, T)."""
    n_classes, n_columns = gradient.shape
    missing = gradient.copy()
    pair = 0
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            missing[i] += flows[pair]
            missing[j] -= flows[pair]
            pair += 1
    cost = 0.0
    pair = 0
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            largest = 0.0
            for d in range(n_columns):
                sent = (missing[i, d] - missing[j, d]) / n_classes - flows[pair, d]
                largest = max(largest, abs(sent))
            cost += largest
            pair += 1
    return cost
