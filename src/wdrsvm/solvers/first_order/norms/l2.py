r"""The l2 norm in the first-order method.

With weights p on the pairs of classes (they sum to 1) and their Laplacian L_p,

    max_ij || M_i - M_j ||^2  =  max over p of  tr(M' L_p M),

so a proximal step on M about M_k is a ridge whose metric only mixes classes:

    M = -A R,    A = (T L_p + delta I)^{-1},    R = G - delta M_k,    T = pressure / lam.

Only R (T, C) is kept; M follows every change of A (C, C) at no cost.  From the Gram matrix
W = R' R come all pairwise distances, and several times an epoch

    p_ij <- p_ij (d_ij / d)^k,    d^2 = sum p_ij d_ij^2,    pressure <- pressure (d / lam),

with a larger power k for pairs of little weight, which could not come back otherwise.

Under the triangle bound of kernel models d_ii = 2 ||M_i|| takes the place of the pairs: the
weights stand on the diagonal of p, L_p = 4 diag(p), and sigma(G) = 1/2 sum_i ||G_i||.
"""

from __future__ import annotations

import numpy as np

from ....arrays import Codes, Floats
from ..hinge_rows import (
    CENTRE,
    LAM,
    PRESSURE,
    RADIUS,
    RESPONSE,
    SPENT,
    STEP,
    Duals,
    FreeTable,
    Rows,
    add_outer,
    add_product,
    bounded,
    compiled,
    descend,
    helper,
)
from ..smooth_loss_rows import settle
from .polar import laplacian, shortest_flow

# Powers k of the weights' steps, and the most that one may change a weight or the pressure.
PAIR_POWER = 2.0
MAX_POWER_FACTOR = 100.0
MAX_CHANGE = 2.0
# Pressure never vanishes, or it could not come back.
LEAST_PRESSURE = 1e-6
# How often pairs and pressure are adapted.
ROWS_A_PRESS = 300
PRESSES_AN_EPOCH = 8
MAX_LAST_PRESSES = 50
# Ten presses' flops, 6 C^3 each, in those of a row, 4 C a nonzero, over C^2 / nonzeros.
PRESS_COST = 15


class EuclideanBlock:
    """Coefficients of the touchable columns under the l2 norm.

    ``pairs`` (C, C) holds the weights p, zero where there is no constraint.
    """

    def __init__(
        self, rows: Rows, duals: Duals, free: FreeTable, price: Floats, coef: Floats
    ):
        n_classes = coef.shape[1]
        self.rows, self.duals, self.free, self.price = rows, duals, free, price
        self.coef = coef
        self.softness = 1.0
        self.pairs = self._starting_pairs(coef)
        self.damping = self._new_damping()
        self.residual = -self.damping * coef
        if len(rows.touch.indices) == 0:
            self.residual = np.asfortranarray(self.residual)
        self.gram = self.residual.T @ self.residual
        self.pace = _press_pace(rows, n_classes)
        self.n_classes = n_classes

    def _new_damping(self) -> float:
        """delta: a share of the ridge's own mean stiffness, 2 / C times radius / lam."""
        share = self.price[RADIUS] / self.price[LAM]
        return float(2 * share / (self.coef.shape[1] * self.softness))

    @property
    def stiffness(self) -> float:
        """Mean curvature of a row in the directions between classes."""
        metric = class_metric(self.pairs, self.price, self.damping)
        spread = np.trace(metric) - metric.sum() / self.n_classes
        return float(self.rows.touch_curvature.mean() * spread / (self.n_classes - 1))

    def sweep(self, order: Codes, tol: float, least_weight: float) -> None:
        """One epoch over the rows."""
        sweep_rows(
            order,
            self.rows,
            self.duals,
            self.free,
            self.residual,
            self.gram,
            self.pairs,
            self.price,
            self.damping,
            self.pace,
            tol,
            least_weight,
        )
        rounds = min(MAX_LAST_PRESSES, max(1, len(order) // self.pace))
        press_on(self.pairs, self.gram, self.price, self.damping, least_weight, rounds)

    def recentre(self) -> None:
        """Make the present M the centre of the next proximal step."""
        metric = class_metric(self.pairs, self.price, self.damping)
        coef, scratch = self.residual @ -metric, self.coef
        scratch *= self.damping
        self.residual += scratch
        self.damping = self._new_damping()
        np.multiply(coef, self.damping, out=scratch)
        self.residual -= scratch
        self.coef = coef
        self.gram = self.residual.T @ self.residual

    def soften(self, factor: float) -> None:
        """Longer proximal steps, from the next one on."""
        self.softness *= factor

    def polar(self, gradient: Floats) -> float:
        """An upper bound of sigma(G), G given as (T, C)."""
        return float(shortest_flow(gradient.T @ gradient, self.pairs))

    def own_gradient(self, gradient: Floats) -> Floats:
        """The G that the pairs' multipliers carry."""
        pressure = -self.price[PRESSURE] / self.price[LAM]
        return np.asarray(self.coef @ laplacian(self.pairs) * pressure)

    def flow(self) -> None:
        """The certificate finds it by itself."""

    @staticmethod
    def _starting_pairs(coef: Floats) -> Floats:
        """Equal weights, or more on the pairs that are farthest apart."""
        return _starting_weights(coef, 1 - np.eye(coef.shape[1]))


class TriangleBlock(EuclideanBlock):
    """Coefficients under the triangle bound of kernel models."""

    @staticmethod
    def _starting_pairs(coef: Floats) -> Floats:
        """Equal weights, or more on the longest coefficients."""
        return _starting_weights(coef, np.eye(coef.shape[1]))

    def polar(self, gradient: Floats) -> float:
        """sigma(G), G given as (T, C)."""
        return 0.5 * float(np.linalg.norm(gradient, axis=0).sum())


def _press_pace(rows: Rows, n_classes: int) -> int:
    """Rows between two presses: often, but so that rows take most of the time."""
    n_rows = len(rows.y)
    a_row = max(len(rows.touch.data) / n_rows, 1.0)
    costly = int(PRESS_COST * n_classes**2 / a_row)
    return max(1, min(ROWS_A_PRESS, n_rows // PRESSES_AN_EPOCH), costly)


def _starting_weights(coef: Floats, constrained: Floats) -> Floats:
    spread = pair_distances(np.eye(coef.shape[1]), coef.T @ coef) * constrained
    largest = spread.max()
    weights = (spread / largest) ** 8 + 1e-3 if largest > 0 else np.ones_like(spread)
    weights *= constrained
    return np.asarray(weights / np.tril(weights).sum())


@compiled
def class_metric(pairs, price, damping):  # type: ignore[no-untyped-def]
    """A = (T L_p + delta I)^{-1}."""
    system = price[PRESSURE] / price[LAM] * laplacian(pairs)
    for i in range(len(pairs)):
        system[i, i] += damping
    return np.linalg.inv(system)


@compiled
def pair_distances(metric, gram):  # type: ignore[no-untyped-def]
    """d_ij: distances between the rows of A R', on the diagonal twice their lengths;
    symmetric to the last bit."""
    n_classes = len(gram)
    product = metric @ gram @ metric
    spread = np.zeros((n_classes, n_classes))
    for i in range(n_classes):
        spread[i, i] = 2 * np.sqrt(max(product[i, i], 0.0))
        for j in range(i):
            square = product[i, i] + product[j, j] - product[i, j] - product[j, i]
            spread[i, j] = spread[j, i] = np.sqrt(max(square, 0.0))
    return spread


@helper
def reweight(pairs, spread, least_weight):  # type: ignore[no-untyped-def]
    """Move weight to the distant pairs; returns the mean distance d before."""
    n_classes = len(pairs)
    square = 0.0
    n_constraints = 0
    for i in range(n_classes):
        for j in range(i + 1):
            square += pairs[i, j] * spread[i, j] * spread[i, j]
            n_constraints += pairs[i, j] > 0
    length = np.sqrt(square)
    if length == 0:
        return length
    mean_weight = 1.0 / n_constraints
    total = 0.0
    for i in range(n_classes):
        for j in range(i + 1):
            if pairs[i, j] == 0:
                continue
            power = min(MAX_POWER_FACTOR, max(1.0, np.sqrt(mean_weight / pairs[i, j])))
            factor = (spread[i, j] / length) ** (PAIR_POWER * power)
            factor = min(MAX_CHANGE, max(1 / MAX_CHANGE, factor))
            pairs[i, j] = max(pairs[i, j] * factor, least_weight * mean_weight)
            total += pairs[i, j]
    for i in range(n_classes):
        for j in range(i + 1):
            pairs[i, j] /= total
            pairs[j, i] = pairs[i, j]
    return length


@helper
def press(pairs, metric, gram, price, least_weight):  # type: ignore[no-untyped-def]
    """Adapt pair weights and pressure to the distances, and lam to the pressure."""
    length = reweight(pairs, pair_distances(metric, gram), least_weight)
    factor = min(MAX_CHANGE, max(1 / MAX_CHANGE, length / price[LAM]))
    price[PRESSURE] = max(price[PRESSURE] * factor, LEAST_PRESSURE * price[RADIUS])
    excess = price[RADIUS] - price[SPENT] - price[PRESSURE]
    price[RESPONSE] = price[STEP]
    price[LAM] = bounded(price[CENTRE] - price[STEP] * excess, price)


@compiled
def press_on(pairs, gram, price, damping, least_weight, rounds):  # type: ignore[no-untyped-def]
    """Press repeatedly with G as it is."""
    for _ in range(rounds):
        metric = class_metric(pairs, price, damping)
        press(pairs, metric, gram, price, least_weight)


@compiled
def sweep_rows(  # type: ignore[no-untyped-def]
    order, rows, duals, free, residual, gram, pairs, price, damping, pace, tol, least_weight
):
    """Dual coordinate ascent over the rows, in the given order."""
    n_classes = len(pairs)
    metric = class_metric(pairs, price, damping)
    # Arrays of their own, or the compiler must fear that they overlap.
    image, scores = np.empty(n_classes), np.empty(n_classes)
    change = np.empty(n_classes)
    alpha, phi, beta = duals
    # Taken out of the loop: reaching into a record costs as much as a row does.
    touch, fixed, y, _, cost, q, r = rows
    coef, steps = free
    for k in range(len(order)):
        n = order[k]
        image[:] = 0.0
        scores[:] = 0.0
        add_product(touch, n, residual, image)
        add_product(fixed, n, coef, scores)
        _subtract_product(metric, image, scores)
        if settle(n, alpha, phi, beta, cost, scores, y, price, q, metric, r, tol, change):
            add_outer(touch, n, residual, change)
            descend(fixed, n, coef, steps, change)
            _update_gram(gram, image, change, q[n])
        if (k + 1) % pace == 0:
            press(pairs, metric, gram, price, least_weight)
            metric = class_metric(pairs, price, damping)


@helper
def _subtract_product(metric, image, scores):  # type: ignore[no-untyped-def]
    """scores -= A image."""
    for i in range(len(scores)):
        total = 0.0
        for j in range(len(scores)):
            total += metric[i, j] * image[j]
        scores[i] -= total


@helper
def _update_gram(gram, image, change, square):  # type: ignore[no-untyped-def]
    """W after R <- R + x change', with image = R' x and square = x' x."""
    for i in range(len(gram)):
        here, moved = image[i] + square * change[i], change[i]
        for j in range(len(gram)):
            gram[i, j] += here * change[j] + moved * image[j]
