r"""The l2 norm in the first-order method.

With weights p on the pairs of classes (they sum to 1) and their Laplacian L_p,

    max_ij || M_i - M_j ||^2  =  max over p of  tr(M' L_p M),

so a proximal step on M about M_k is a ridge whose metric only mixes classes:

    M = -A R,    A = (T L_p + delta I)^{-1},    R = G - delta M_k,    T = pressure / lam.

Only R (T, C) is kept; M follows every change of A (C, C) at no cost.  From the Gram matrix
W = R' R come all pairwise distances, and several times an epoch

    p_ij <- p_ij exp(2 (a_i + a_j) + k_ij (e_ij - a_i - a_j)),    e_ij = d_ij / d - 1,

    d^2 = sum p_ij d_ij^2,    pressure <- pressure (d / lam).

a_i is what all pairs of class i have in common: if all of them gain weight, the class
moves, and a larger power would not settle.  If one pair alone gains weight, its distance
changes by only T p_ij (A_ii + A_jj - 2 A_ij) times as much, which with many classes is
little.  The power k_ij is a share of the inverse of it.

Under the triangle bound of kernel models d_ii = 2 ||M_i|| takes the place of the pairs: the
weights stand on the diagonal of p, L_p = 4 diag(p), and sigma(G) = 1/2 sum_i ||G_i||.  Then
p_ii <- p_ii (d_ii / d)^k,  with a larger power k for classes of little weight, which could
not come back otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ....arrays import Codes, Floats
from ....problem.norms import TRIANGLE, polar
from ....problem.pair_weights import PairWeights
from ..kernels import (
    PlaceWork,
    adapt_pairs_often,
    begin_places,
    class_metric,
    end_places,
    laplacian,
    pair_distances,
    push_pairs,
    sweep_pairs,
    sweep_places,
)
from ..places_of_rows.masses import with_rows
from ..places_of_rows.places import Places
from ..samples import Duals, FreeTable, SampleArrays, samples_of
from ..settings import FIRST_ORDER
from .polar import shortest_flow
from .tables import order_parts, rows_a_call


class EuclideanBlock:
    """Coefficients of the touchable columns under the l2 norm.

    ``pairs`` (C, C) holds the weights p, zero where there is no constraint.
    """

    def __init__(
        self, rows: SampleArrays, duals: Duals, free: FreeTable, price: Any, coef: Floats
    ):
        n_classes = coef.shape[1]
        self.rows, self.price, self.free = rows, price, free
        self.samples = samples_of(rows, duals, free)
        self.mean_square = float(rows.touch_curvature.mean())
        self.coef = coef
        self.softness = 1.0
        self.pairs = self._starting_pairs(coef)
        self.damping = self._new_damping()
        self.residual = -self.damping * coef
        if rows.touch.is_dense:
            self.residual = np.asfortranarray(self.residual)
        self.gram = self.residual.T @ self.residual
        self.pace = _rows_per_adaptation(rows, n_classes)
        self.n_classes = n_classes
        # Memory of epochs among places, and the metric that the last one has left there.
        self.work: PlaceWork | None = None
        self.metric: Floats | None = None
        self.metric_trace = self._trace_between_classes(self._metric())

    def _new_damping(self) -> float:
        """delta: a share of the ridge's own mean stiffness, 2 / C times radius / lam."""
        share = self.price.radius / self.price.lam
        return float(2 * share / (self.coef.shape[1] * self.softness))

    def _metric(self) -> Floats:
        if self.metric is not None:
            return self.metric
        return np.asarray(class_metric(self.pairs, self.price, self.damping))

    def _move_damping(self) -> None:
        """Little changes wait: with the damping the metric stays what it is."""
        damping = self._new_damping()
        change = FIRST_ORDER.least_damping_change
        # Products, because tiny radii have no damping to divide by.
        if not self.damping < change * damping < change**2 * self.damping:
            self.damping, self.metric = damping, None

    def _trace_between_classes(self, metric: Floats) -> float:
        return float(metric.trace() - metric.sum() / self.n_classes)

    @property
    def stiffness(self) -> float:
        """Mean curvature of a row in the directions between classes, at the last metric."""
        return float(self.mean_square * self.metric_trace / (self.n_classes - 1))

    def sweep(self, order: Codes, tol: float, least_weight: float) -> None:
        """One epoch over the rows."""
        self.metric = None
        # Compiled code goes over a table as it is stored.
        stored = self.residual.T if self.rows.touch.is_dense else self.residual
        state = self.samples, stored, self.gram, self.pairs, self.price
        coarse = tol >= FIRST_ORDER.least_single_row_tol
        singles = self.rows.singles if coarse else self.rows.singles[:0]
        for part in order_parts(order, self._paces_a_call() * self.pace):
            sweep_pairs(part, *state, self.damping, self.pace, tol, least_weight, singles)
        self._adapt_at_the_end(len(order), least_weight)

    def sweep_parts(
        self, order: Codes, alpha: sparse.csr_array, tol: float, least_weight: float
    ) -> sparse.csr_array:
        """One epoch over dense rows of trusted labels, a part after the other.

        Returns the masses (N, C).  Only those of a part are ever dense.
        """
        self.metric = None
        state = self.residual.T, self.gram, self.pairs, self.price
        coarse, parts, begun = tol >= FIRST_ORDER.least_single_row_tol, [], 0
        numbers = self.damping, self.pace, tol, least_weight
        n_rows = FIRST_ORDER.entries_of_part // (self.n_classes + len(self.coef))
        for part in order_parts(order, max(1, n_rows)):
            rows, masses = self.rows.some(part), alpha[part].toarray()
            samples = samples_of(rows, Duals(masses, rows.cost, rows.cost), self.free)
            singles = rows.singles if coarse else rows.singles[:0]
            sweep_pairs(np.arange(len(part)), samples, *state, *numbers, singles, begun)
            parts.append(sparse.csr_array(masses))
            begun += len(part)
        self._adapt_at_the_end(len(order), least_weight)
        return with_rows(alpha, order, sparse.vstack(parts, format="csr"))

    def _adapt_at_the_end(self, n_rows: int, least_weight: float) -> None:
        rounds = self._last_adaptations(n_rows)
        last = self.pairs, self.gram, self.price, self.damping
        adapt_pairs_often(*last, least_weight, rounds)

    def sweep_places(
        self, order: Codes, places: Places, tol: float, least_weight: float
    ) -> Floats:
        """One epoch over dense rows of trusted labels, among their places.

        Returns the mass that each row has moved, (N,).  The masses of the places change.
        """
        n_columns, work, masses = len(self.coef), self.work, places.masses
        if work is None:
            work = self.work = PlaceWork(self.n_classes, n_columns)
        held, residual = masses.copy(), self.residual.T
        part_of = *places[:2], masses, self.samples, self.rows.singles
        pairs, moves = (self.pairs, self.price, self.damping), np.zeros(len(self.rows.y))
        n_rows = FIRST_ORDER.max_call_work / (FIRST_ORDER.place_work * n_columns)
        # Such an epoch visits many rows again, and its visits cost little.
        pace = FIRST_ORDER.place_paces * self.pace
        if len(order) <= FIRST_ORDER.paces_with_push * pace:
            push_pairs(self.pairs, work)
            self.metric = None
        begin_places(residual, *pairs, self.metric is not None, work)
        for part in order_parts(order, max(1, int(n_rows) // pace) * pace):
            sweep_places(part, *part_of, *pairs, pace, tol, least_weight, moves, work)
        rounds = self._last_adaptations(len(order))
        whole = *places[:3], masses, held, self.samples, residual
        self.metric = end_places(*whole, *pairs, least_weight, rounds, work)
        return moves

    def _paces_a_call(self) -> int:
        """Whole paces, so that it does not matter where a call ends."""
        n_rows = rows_a_call(self.rows, self.n_classes, self.price.temperature > 0)
        return max(1, n_rows // self.pace)

    def _last_adaptations(self, n_rows: int) -> int:
        """Adaptations at the end of an epoch: many, while its rows take more time."""
        work = n_rows * self.rows.row_width
        affordable = int(work / (FIRST_ORDER.adaptation_work * self.n_classes**2))
        least, most = FIRST_ORDER.min_last_adaptations, FIRST_ORDER.max_last_adaptations
        return min(most, max(least, affordable))

    def resume(self, gradient: Floats) -> None:
        """Begin with rows of this gradient (T, C): pairs have the weights of its flow."""
        self.residual += gradient
        self.gram = self.residual.T @ self.residual
        self.price.pressure = max(
            self.price.radius - self.price.spent,
            FIRST_ORDER.least_pressure * self.price.radius,
        )
        lengths = self._flow_lengths(gradient)
        if lengths.any():
            # Symmetric to the last bit, as a Laplacian must be for its bounds to hold.
            lengths = lengths + lengths.T
            lengths += FIRST_ORDER.start_floor * lengths.mean() * (self.pairs > 0)
            self.pairs = lengths / np.tril(lengths).sum()
            self.metric_trace = self._trace_between_classes(self._metric())

    def _flow_lengths(self, gradient: Floats) -> Floats:
        """Lengths of a short flow between the classes with divergence G (T, C)."""
        off_diagonal = self.pairs - np.diag(self.pairs.diagonal())
        rounds = FIRST_ORDER.flow_rounds
        return PairWeights(off_diagonal).shortened(gradient.T, rounds, 1e-4).weights

    def recentre(self) -> None:
        """Make the present M the centre of the next proximal step."""
        metric = self._metric()
        self.metric_trace = self._trace_between_classes(metric)
        coef, scratch = self.residual @ -metric, self.coef
        scratch *= self.damping
        self.residual += scratch
        self._move_damping()
        np.multiply(coef, self.damping, out=scratch)
        self.residual -= scratch
        self.coef = coef
        if not self.rows.touch.is_dense:
            # Sweeps over dense rows compute it anew before each use.
            self.gram = self.residual.T @ self.residual

    def soften(self, factor: float) -> None:
        """Longer proximal steps, from the next one on."""
        self.softness *= factor

    def polar(self, gradient: Floats, rtol: float = 0.0) -> float:
        """An upper bound of sigma(G), G given as (T, C)."""
        return shortest_flow(gradient, self.pairs, rtol)

    def gradient(self) -> Floats:
        """The G (T, C) of the rows."""
        return np.asarray(self.residual + self.damping * self.coef)

    def own_gradient(self, gradient: Floats) -> Floats:
        """The G that the pairs' multipliers carry."""
        pressure = -self.price.pressure / self.price.lam
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

    def _flow_lengths(self, gradient: Floats) -> Floats:
        return np.diag(np.linalg.norm(gradient, axis=0))

    def polar(self, gradient: Floats, rtol: float = 0.0) -> float:
        """sigma(G), G given as (T, C)."""
        return polar(gradient.T, TRIANGLE, np.ones(len(gradient)))


def _rows_per_adaptation(rows: SampleArrays, n_classes: int) -> int:
    """Rows between two adaptations of the pairs: few, but they take most of the time."""
    n_rows = len(rows.y)
    costly = FIRST_ORDER.adaptation_cost * n_classes**2 / max(rows.row_width, 1.0)
    often = min(
        FIRST_ORDER.rows_per_adaptation, n_rows // FIRST_ORDER.adaptations_per_epoch
    )
    return max(1, often, int(costly))


def _starting_weights(coef: Floats, constrained: Floats) -> Floats:
    spread = pair_distances(np.eye(coef.shape[1]), coef.T @ coef) * constrained
    largest = spread.max()
    weights = (
        (spread / largest) ** FIRST_ORDER.start_power + FIRST_ORDER.start_floor
        if largest > 0
        else np.ones_like(spread)
    )
    weights *= constrained
    return np.asarray(weights / np.tril(weights).sum())
