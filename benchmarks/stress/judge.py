"""The risk of a classifier, without a line of the library and in extended precision.

    min over lam >= L(M) of  radius lam + sum_n w_n max_c ( l(z_n, c) - lam k[n, c] )

by bisection over the kinks of the convex function of lam, or by golden section where a box
makes the kinks many.
"""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .instances import Floats, Instance

# 64 bits of mantissa where the machine has them, and a range that nothing here leaves.
Long = NDArray[np.longdouble]
SECTIONS = 300
# Roundings of a term on its way into a score: of the entries, the product and the sum.
ROUNDINGS = 4


def _long(values: Any) -> Long:
    return np.asarray(values, dtype=np.longdouble)


def exact_risk(instance: Instance, coef: Floats, intercept: Floats) -> float:
    """The worst-case risk on the training data."""
    long_coef, shift = _long(coef), _long(intercept)
    if instance.support is not None and instance.radius > 0:
        return _risk_in_box(instance, long_coef, shift)
    scores = _scores(instance, long_coef, shift)
    return _risk_of(instance, scores, _modulus(instance, long_coef))


def exact_kernel_risk(instance: Instance, dual: Floats, intercept: Floats) -> float:
    """The same of functions sum_n dual_n k(., x_n), whose kernel has no rounding here."""
    X, long_dual = _long(instance.X), _long(dual)
    square = ((X[:, None, :] - X[None]) ** 2).sum(axis=2)
    gram = np.exp(-np.longdouble(instance.gamma or 0.0) * square)
    scores = gram @ long_dual.T + _long(intercept)
    if instance.lipschitz == "triangle":
        ends = 2 * long_dual
    else:
        ends = np.array([i - j for i, j in combinations(long_dual, 2)])
    lengths = np.sqrt(np.maximum(((ends @ gram) * ends).sum(axis=1), 0))
    return _risk_of(instance, scores, lengths.max())


def rounding_of(rows: Floats, coef: Floats, intercept: Floats) -> float:
    """How far double precision may be off in the score of a row."""
    terms = np.abs(rows) @ np.abs(coef).T + np.abs(intercept)
    return float(ROUNDINGS * np.finfo(float).eps * terms.max())


def _risk_of(instance: Instance, scores: Long, least: Any) -> float:
    losses = _losses(instance, scores)
    price, weight = _prices(instance), _long(instance.weight)
    if instance.radius == 0:
        return float(weight @ np.where(price == 0, losses, 0.0).max(axis=1))

    def total(lam: Any) -> Any:
        return instance.radius * lam + weight @ _worst(losses, price, lam)

    return float(_least_from(total, least, _kinks(losses, price, least)))


def _scores(instance: Instance, coef: Long, shift: Long) -> Long:
    return np.asarray(_long(instance.features) @ coef.T + shift)


def _losses(instance: Instance, scores: Long) -> Long:
    """Loss of every label on every row, (N, C)."""
    n_classes, loss = instance.n_classes, instance.loss
    raised = scores[:, None, :] + loss.margin * (1 - np.eye(n_classes))
    largest = raised.max(axis=2)
    if loss.temperature > 0:
        powers = np.exp((raised - largest[:, :, None]) / _long(loss.temperature))
        largest = largest + loss.temperature * np.log(powers.sum(axis=2))
    return np.asarray(largest - scores)


def _prices(instance: Instance) -> Long:
    """k of shape (N, C): 0 for the row's own label, infinite for what cannot happen."""
    n_classes, y = instance.n_classes, instance.y
    table = np.broadcast_to(_long(instance.label_cost), (n_classes, n_classes))
    price = np.array(table[y])
    if instance.label_trust is not None:
        trust = _long(instance.label_trust)[:, None]
        with np.errstate(invalid="ignore"):
            price = np.where(np.isinf(trust) | np.isinf(price), np.inf, trust * price)
    price[np.arange(len(y)), y] = 0.0
    return price


def _modulus(instance: Instance, coef: Long) -> Any:
    """L(M) over the pairs whose second label some mass can carry."""
    possible = np.isfinite(_prices(instance)[instance.weight > 0])
    carried = np.asarray(possible.any(axis=0))
    if instance.lipschitz == "triangle":
        return 2 * np.sqrt((coef**2).sum(axis=1)).max()
    cost = (
        np.ones(coef.shape[1]) if instance.feature_cost is None else instance.feature_cost
    )
    scaled = (coef / _long(cost))[:, np.isfinite(cost)]
    rates = [np.longdouble(0)]
    for i, j in combinations(range(len(coef)), 2):
        if carried[i] or carried[j]:
            rates.append(_dual_norm(instance.norm, np.abs(scaled[i] - scaled[j])))
    return max(rates)


def _dual_norm(norm: str, sizes: Long) -> Any:
    if not len(sizes):
        return np.longdouble(0)
    if norm == "l1":
        return sizes.max()
    return sizes.sum() if norm == "linf" else np.sqrt((sizes**2).sum())


def _worst(losses: Long, price: Long, lam: Any) -> Long:
    paid = np.where(np.isinf(price), np.inf, lam * np.where(np.isinf(price), 0.0, price))
    return np.asarray((losses - paid).max(axis=1))


def _kinks(losses: Long, price: Long, least: Any) -> Long:
    """Where two labels of a row are worth the same, above the least lam."""
    possible = np.isfinite(price)
    finite = np.where(possible, price, 0.0)
    extra = finite[:, :, None] - finite[:, None, :]
    dearer = (extra > 0) & possible[:, :, None] & possible[:, None, :]
    gain = losses[:, :, None] - losses[:, None, :]
    kinks = np.unique(gain[dearer] / extra[dearer])
    return np.asarray(kinks[(kinks > least) & np.isfinite(kinks)])


def _least_from(total: Any, least: Any, kinks: Long) -> Any:
    """The minimum of a convex function that is linear between the kinks."""
    points = np.concatenate([[least], kinks])
    low, high = 0, len(points) - 1
    best = min(total(points[low]), total(points[high]))
    while low < high:
        middle = (low + high) // 2
        here, beyond = total(points[middle]), total(points[middle + 1])
        best = min(best, here, beyond)
        low, high = (low, middle) if here <= beyond else (middle + 1, high)
    return best


def _risk_in_box(instance: Instance, coef: Long, shift: Long) -> float:
    """l1 transport in a box: the pair (j, c) gains what the box leaves to each feature."""
    assert instance.norm == "l1"
    assert instance.support is not None
    X, scores = _long(instance.X), _scores(instance, coef, shift)
    price, weight = _prices(instance), _long(instance.weight)
    low, high = (_long(end) for end in instance.support)
    pairs = list(permutations(range(instance.n_classes), 2))

    def total(lam: Any) -> Any:
        worst = _worst(np.zeros_like(scores), price, lam)
        for j, c in pairs:
            slope = coef[j] - coef[c]
            up, down = np.maximum(slope - lam, 0), np.maximum(-slope - lam, 0)
            gain = 1 + scores[:, j] - scores[:, c] + (high - X) @ up + (X - low) @ down
            possible = np.isfinite(price[:, c])
            paid = lam * np.where(possible, price[:, c], 0.0)
            worst = np.maximum(worst, np.where(possible, gain - paid, -np.inf))
        return instance.radius * lam + weight @ worst

    # No better lam can cost more than all of the risk without a price.
    return float(_golden(total, total(np.longdouble(0)) / instance.radius))


def _golden(total: Any, high: Any) -> Any:
    """The minimum of a convex function on [0, high]."""
    ratio = (np.sqrt(np.longdouble(5)) - 1) / 2
    left, right = np.longdouble(0), high
    best = min(total(left), total(right))
    for _ in range(SECTIONS):
        one, other = right - ratio * (right - left), left + ratio * (right - left)
        at_one, at_other = total(one), total(other)
        best = min(best, at_one, at_other)
        left, right = (left, other) if at_one <= at_other else (one, right)
    return best
