r"""Transport norms, their duals, the pairwise Lipschitz modulus and its polar.

For coefficients ``M`` of shape (C, P) and feature costs ``c`` of shape (P,)

    L(M)     = max over i, j of || (M_i - M_j) / c ||_*           (modulus)
    sigma(G) = min of sum over i<j of || c T_ij ||                (polar of L)
               over flows T, one row per pair, whose divergence is G.

``||.||_*`` is the dual of the transport norm ``||.||``.  The triangle bound of kernel
models replaces || M_i - M_j || by || M_i || + || M_j ||, with i = j allowed.  In this
package it has the name of a norm, ``"triangle"``, with

    L(M) = 2 max_i || M_i ||_2,    sigma(G) = 1/2 sum_i || G_i ||_2.

A feature of infinite cost does not count in ``L``.  ``sigma`` is finite only if ``G`` is
zero on this feature.

A new norm begins in ``NORMS`` below.  Other tables by name of norm: ``projections.py`` and
``bounded/moves.py`` beside this file; the solvers' ``CONE_OF_NORM`` (``cones/choice.py``),
``BLOCKS`` (``first_order/state.py``) and ``NORM_ROWS`` (``reference/programs.py``);
``NEAREST_STEPS`` and ``METRICS`` in ``robustness``; ``INVERSE_ORDERS`` in ``kernels``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..arrays import Codes, Flags, Floats
from .pair_weights import MANY_CLASSES as MANY_CLASSES
from .pair_weights import MAX_DIFFERENCES, PairWeights, distance_bounds

# Up to so many classes a product with all pairs is as quick as one class after another.
FEW_CLASSES = 30
# Products of a few numbers between these limits, or of their reciprocals, do not overflow.
TINY, HUGE = 1e-60, 1e60


@dataclass(frozen=True)
class Norm:
    """A norm on the rows of an array, its dual, and where a linear function rises fastest.

    ``steepest`` takes a slope s other than 0.  It returns a v of norm 1 with
    s . v = ||s||_*, which is also a subgradient of the dual norm at s.
    """

    of_rows: Callable[[Floats], Floats]
    dual_of_rows: Callable[[Floats], Floats]
    steepest: Callable[[Floats], Floats]


def _l1(rows: Floats) -> Floats:
    return np.asarray(np.abs(rows).sum(axis=-1))


def _l2(rows: Floats) -> Floats:
    return np.asarray(np.linalg.norm(rows, axis=-1))


def _linf(rows: Floats) -> Floats:
    return np.asarray(np.abs(rows).max(axis=-1, initial=0.0))


def _one_feature(slope: Floats) -> Floats:
    unit = np.zeros_like(slope)
    steepest = int(np.abs(slope).argmax())
    unit[steepest] = np.sign(slope[steepest])
    return unit


def _along(slope: Floats) -> Floats:
    return np.asarray(slope / np.linalg.norm(slope))


TRIANGLE = "triangle"
NORMS = {
    "l1": Norm(_l1, _linf, _one_feature),
    "l2": Norm(_l2, _l2, _along),
    "linf": Norm(_linf, _l1, np.sign),
}


def steepest_direction(slope: Floats, norm: str, feature_cost: Floats) -> Floats:
    """A movement of cost 1 that raises ``slope . x`` the most; slope != 0 where it counts.

    Features of infinite cost stay where they are.
    """
    direction = np.zeros_like(slope)
    touchable = np.isfinite(feature_cost)
    cost = feature_cost[touchable]
    direction[touchable] = NORMS[norm].steepest(slope[touchable] / cost) / cost
    return direction


@lru_cache
def class_pairs(n_classes: int) -> tuple[Codes, Codes]:
    """The pairs i < j, in the order of the rows of a flow, as read-only arrays."""
    first, second = np.triu_indices(n_classes, k=1)
    first.setflags(write=False)
    second.setflags(write=False)
    return first, second


def pairwise_moduli(coef: Floats, norm: str, feature_cost: Floats) -> Floats:
    """Dual norms of all differences of rows, a symmetric (C, C) array."""
    n_classes = len(coef)
    scaled = _scaled(coef, feature_cost)
    moduli = np.zeros((n_classes, n_classes))
    # Several classes at a time where they are few: a call takes longer than their work.
    step = max(1, MAX_DIFFERENCES // max(scaled.size, 1))
    for i in range(0, n_classes, step):
        differences = scaled[i:] - scaled[i : i + step, None]
        moduli[i : i + step, i:] = NORMS[norm].dual_of_rows(differences)
    return np.maximum(moduli, moduli.T)


def lipschitz(
    coef: Floats,
    norm: str,
    feature_cost: Floats,
    reachable: Flags | None = None,
) -> float:
    """Largest rate at which the adversary can raise a loss by moving features.

    ``reachable`` marks the labels that some row has or can be flipped to.  Only pairs with
    at least one such label count.
    """
    if norm == TRIANGLE:
        return 2 * float(_l2(coef / feature_cost).max(initial=0.0))
    if norm == "l2" and len(coef) >= MANY_CLASSES:
        farthest = _largest_distance(_scaled(coef, feature_cost), reachable)
        if farthest is not None:
            return farthest
    moduli = pairwise_moduli(coef, norm, feature_cost)
    if reachable is not None:
        moduli = moduli[:, reachable]
    return float(moduli.max(initial=0.0))


def _scaled(coef: Floats, feature_cost: Floats) -> Floats:
    """The coefficients of features that can move, for a unit of cost."""
    touchable = np.isfinite(feature_cost)
    return coef[:, touchable] / feature_cost[touchable]


def _largest_distance(points: Floats, reachable: Flags | None) -> float | None:
    """The largest distance of a point from a reachable one; None if many may be largest.

    Bounds by products leave few pairs, and their differences are computed.
    """
    low, high = distance_bounds(points)
    if reachable is not None:
        low[:, ~reachable], high[:, ~reachable] = -1.0, -1.0
    most = low.max(initial=0.0)
    first, second = np.nonzero(high >= most)
    if not np.isfinite(most) or len(first) > len(points):
        return None
    return float(_l2(points[first] - points[second]).max(initial=0.0))


@lru_cache
def incidence(n_classes: int) -> Floats:
    """Rows e_i - e_j, shape (pairs, C); ``incidence @ M`` has the differences of rows."""
    first, second = class_pairs(n_classes)
    unit = np.eye(n_classes)
    rows = unit[first] - unit[second]
    rows.setflags(write=False)
    return rows


def divergence(flow: Floats, n_classes: int) -> Floats:
    """Net outflow (C, P) of a flow (pairs, P), summed in double precision."""
    if n_classes <= FEW_CLASSES:
        return np.asarray(incidence(n_classes).T @ flow)
    # The matrix would have more entries than the flow: class by class.
    net = np.zeros((n_classes, flow.shape[1]))
    for i, pairs in _pairs_of_classes(n_classes):
        net[i] += flow[pairs].sum(axis=0, dtype=np.float64)
        net[i + 1 :] -= flow[pairs]
    return net


def _pairs_of_classes(n_classes: int) -> Iterator[tuple[int, slice]]:
    """Each class, and its pairs with later classes."""
    start = 0
    for i in range(n_classes - 1):
        end = start + n_classes - 1 - i
        yield i, slice(start, end)
        start = end


def flow_cost(
    flow: Floats,
    gradient: Floats,
    length_of_rows: Callable[[Floats], Floats],
    feature_cost: Floats,
) -> float:
    """The cost of the nearest flow with divergence ``gradient``, as ``with_divergence``
    finds it.

    The flow may have single precision; what is added to it is exact.  It is corrected class
    by class: other tables of all pairs would take longer than their numbers.
    """
    n_classes, total = len(gradient), 0.0
    missing = (gradient - divergence(flow, n_classes)) / n_classes
    if n_classes <= FEW_CLASSES:
        corrected = flow + incidence(n_classes) @ missing
        return float(length_of_rows(corrected * feature_cost).sum())
    space = np.empty(gradient.shape)
    for i, pairs in _pairs_of_classes(n_classes):
        corrected = np.subtract(missing[i], missing[i + 1 :], out=space[i + 1 :])
        corrected += flow[pairs]
        corrected *= feature_cost
        total += float(length_of_rows(corrected).sum())
    return total


def with_divergence(flow: Floats, gradient: Floats) -> Floats:
    """The nearest flow with divergence ``gradient``, whose columns must sum to zero."""
    n_classes = len(gradient)
    first, second = class_pairs(n_classes)
    missing = gradient - divergence(flow, n_classes)
    return flow + (missing[first] - missing[second]) / n_classes


def polar(
    gradient: Floats,
    norm: str,
    feature_cost: Floats,
    flow: Floats | PairWeights | None = None,
) -> float:
    """The polar sigma(G), or an upper bound of it.

    Exact for ``"l1"``, for ``"triangle"`` and for two classes.  Otherwise the cost of a
    flow with the right divergence: the given flow after a correction, the flow of given
    weights of the pairs, or a flow that iterative reweighting finds.
    """
    scaled = gradient * feature_cost
    n_classes = len(gradient)
    if norm == "l1":
        return 0.5 * float(np.abs(scaled).sum())
    if norm == TRIANGLE:
        return 0.5 * float(_l2(scaled).sum())
    if n_classes == 2:
        return float(NORMS[norm].of_rows(scaled[:1])[0])
    length = NORMS[norm].of_rows
    if flow is None:
        flow = PairWeights.uniform(n_classes).shortened(scaled)
    if isinstance(flow, PairWeights):
        return flow.cost(scaled, length, is_l2=norm == "l2")
    return flow_cost(flow, gradient, length, feature_cost)
