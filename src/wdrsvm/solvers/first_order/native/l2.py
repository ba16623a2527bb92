"""Class metric and pair weights of the l2 norm: see ``first_order.norms.l2``."""

from __future__ import annotations

import math

import cython
import numpy as np
from cython.cimports.libc.math import pow as power_of
from cython.cimports.libc.math import sqrt

from wdrsvm.solvers.first_order.settings import FIRST_ORDER

from ...runtime.blas import invert_definite, multiply
from ...runtime.kernel_names import (
    Count,
    ReadTable,
    Real,
    Table,
    Vector,
    inner,
    kernel,
)
from .hinge_ascent import bounded
from .polar import fill_laplacian
from .records import Price

PAIR_POWER = cython.declare(Real, FIRST_ORDER.pair_power)
MAX_POWER_FACTOR = cython.declare(Real, FIRST_ORDER.max_power_factor)
MAX_CHANGE = cython.declare(Real, FIRST_ORDER.max_pair_change)
MAX_EXPONENT = cython.declare(Real, math.log(FIRST_ORDER.max_pair_change))
PAIR_STEP = cython.declare(Real, FIRST_ORDER.pair_step)
MAX_PAIR_POWER = cython.declare(Real, FIRST_ORDER.max_pair_power)
CLASS_ROUNDS = cython.declare(Count, FIRST_ORDER.class_rounds)
LEAST_PRESSURE = cython.declare(Real, FIRST_ORDER.least_pressure)
# A metric that cannot be inverted is filled with it, which the certificate refuses.
NO_NUMBER = cython.declare(Real, float("nan"))


@cython.cclass
class Classes:
    """Memory for the steps between rows: the metric A, the distances d, and products.

    ``excess`` are distances over their mean, minus 1, ``own`` the part of each class in
    them, ``lack`` what it lacks, ``degree`` the weight of the pairs of each class.
    """

    metric: Table
    spread: Table
    product: Table
    half: Table
    excess: Table
    own: Vector
    lack: Vector
    degree: Vector

    def __init__(self, n_classes):
        self.metric, self.spread = np.zeros((2, n_classes, n_classes))
        self.product, self.half = np.zeros((2, n_classes, n_classes))
        self.excess = np.zeros((n_classes, n_classes))
        self.own, self.lack, self.degree = np.zeros((3, n_classes))


@kernel
def fill_metric(pairs: ReadTable, price: Price, damping: Real, metric: Table) -> None:
    """A = (T L_p + delta I)^{-1}; not a number where there is no inverse."""
    i: Count
    j: Count
    stiffness: Real = price.pressure / price.lam
    fill_laplacian(pairs, metric)
    for i in range(metric.shape[0]):
        for j in range(metric.shape[0]):
            metric[i, j] *= stiffness
        metric[i, i] += damping
    if invert_definite(metric) != 0:
        for i in range(metric.shape[0]):
            for j in range(metric.shape[0]):
                metric[i, j] = NO_NUMBER


def class_metric(pairs: ReadTable, price: Price, damping: Real):
    """A = (T L_p + delta I)^{-1}."""
    metric: Table = np.empty((pairs.shape[0], pairs.shape[0]))
    fill_metric(pairs, price, damping, metric)
    return np.asarray(metric)


@inner
def fill_spread(classes: Classes) -> None:
    """d_ij from the products of M's rows; symmetric to the last bit."""
    i: Count
    j: Count
    square: Real
    for i in range(classes.product.shape[0]):
        square = classes.product[i, i]
        classes.spread[i, i] = 2 * sqrt(square) if square > 0 else 0.0
        for j in range(i):
            square = classes.product[i, i] + classes.product[j, j]
            square -= classes.product[i, j] + classes.product[j, i]
            classes.spread[i, j] = sqrt(square) if square > 0 else 0.0
            classes.spread[j, i] = classes.spread[i, j]


@kernel
def _fill_distances(metric: ReadTable, gram: ReadTable, classes: Classes) -> None:
    """d_ij: distances between the rows of A R', on the diagonal twice their lengths."""
    multiply(metric, gram, classes.half)
    multiply(classes.half, metric, classes.product)
    fill_spread(classes)


def pair_distances(metric: ReadTable, gram: ReadTable):
    """Distances between the rows of A R', on the diagonal twice their lengths."""
    classes: Classes = Classes(gram.shape[0])
    _fill_distances(metric, gram, classes)
    return np.asarray(classes.spread)


@inner
def _limited(value: Real, lowest: Real, highest: Real) -> Real:
    if not value > lowest:
        return lowest
    return value if value < highest else highest


@inner
def _mean_distance(pairs: Table, spread: Table) -> Real:
    i: Count
    j: Count
    square: Real = 0.0
    for i in range(pairs.shape[0]):
        for j in range(i + 1):
            square += pairs[i, j] * spread[i, j] * spread[i, j]
    return sqrt(square)


@inner
def _count_constraints(pairs: Table) -> Real:
    i: Count
    j: Count
    count: Real = 0.0
    for i in range(pairs.shape[0]):
        for j in range(i + 1):
            count += 1.0 if pairs[i, j] > 0 else 0.0
    return count


@inner
def _fill_excess(pairs: Table, length: Real, classes: Classes) -> None:
    """d_ij / d - 1 of all pairs, and the weight of the pairs of each class."""
    i: Count
    j: Count
    for i in range(pairs.shape[0]):
        classes.degree[i] = classes.own[i] = 0.0
        for j in range(i):
            classes.excess[i, j] = classes.spread[i, j] / length - 1.0
            classes.degree[i] += pairs[i, j]
            classes.degree[j] += pairs[i, j]


@inner
def _fill_class_parts(pairs: Table, classes: Classes) -> None:
    """Numbers of the classes whose sums a_i + a_j are near the excess of the pairs.

    A few damped rounds of Jacobi's method on the weighted least squares.
    """
    i: Count
    j: Count
    _: Count
    rest: Real
    for _ in range(CLASS_ROUNDS):
        for i in range(pairs.shape[0]):
            classes.lack[i] = 0.0
            for j in range(i):
                rest = classes.excess[i, j] - classes.own[i] - classes.own[j]
                classes.lack[i] += pairs[i, j] * rest
                classes.lack[j] += pairs[i, j] * rest
        for i in range(pairs.shape[0]):
            if classes.degree[i] > 0:
                classes.own[i] += 0.5 * classes.lack[i] / classes.degree[i]


@inner
def _growth(x: Real) -> Real:
    """About exp(x), and no more than the largest change."""
    x = _limited(x, -MAX_EXPONENT, MAX_EXPONENT)
    return 1.0 + x + 0.5 * x * x


@inner
def _pair_factor(
    weight: Real, i: Count, j: Count, stiffness: Real, classes: Classes
) -> Real:
    """The factor on the weight of a pair of two classes."""
    shared: Real = classes.own[i] + classes.own[j]
    response: Real = classes.metric[i, i] + classes.metric[j, j]
    # The metric is symmetric to the last bit, and its columns are slow to read.
    response -= 2 * classes.metric[i, j]
    response *= stiffness * weight
    power: Real = MAX_PAIR_POWER
    if response * MAX_PAIR_POWER > PAIR_STEP:
        power = PAIR_STEP / response
    power = power if power > PAIR_POWER else PAIR_POWER
    return _growth(PAIR_POWER * shared + power * (classes.excess[i, j] - shared))


@inner
def _diagonal_factor(weight: Real, mean_weight: Real, ratio: Real) -> Real:
    """The factor on the weight of a class alone (triangle bound)."""
    power: Real = _limited(sqrt(mean_weight / weight), 1.0, MAX_POWER_FACTOR)
    factor: Real = power_of(ratio, PAIR_POWER * power)
    return _limited(factor, 1 / MAX_CHANGE, MAX_CHANGE)


@kernel
def _reweight(pairs: Table, stiffness: Real, least_weight: Real, classes: Classes) -> Real:
    """Move weight to the distant pairs; returns the mean distance d before."""
    i: Count
    j: Count
    factor: Real
    total: Real = 0.0
    mean_weight: Real
    length: Real = _mean_distance(pairs, classes.spread)
    if not length > 0:
        return length
    mean_weight = 1.0 / _count_constraints(pairs)
    _fill_excess(pairs, length, classes)
    _fill_class_parts(pairs, classes)
    for i in range(pairs.shape[0]):
        for j in range(i + 1):
            if pairs[i, j] == 0:
                continue
            if i == j:
                factor = _diagonal_factor(
                    pairs[i, i], mean_weight, classes.spread[i, i] / length
                )
            else:
                factor = _pair_factor(pairs[i, j], i, j, stiffness, classes)
            pairs[i, j] *= factor
            if not pairs[i, j] > least_weight * mean_weight:
                pairs[i, j] = least_weight * mean_weight
            total += pairs[i, j]
    for i in range(pairs.shape[0]):
        for j in range(i + 1):
            pairs[i, j] /= total
            pairs[j, i] = pairs[i, j]
    return length


@kernel
def adapt_to_distances(
    pairs: Table, price: Price, least_weight: Real, classes: Classes
) -> None:
    """Adapt pair weights and pressure to the distances, and lam to the pressure."""
    stiffness: Real = price.pressure / price.lam
    follow_length(price, _reweight(pairs, stiffness, least_weight, classes))


@inner
def follow_length(price: Price, length: Real) -> None:
    """Adapt the pressure to the mean distance of the pairs, and lam to the pressure."""
    factor: Real
    excess: Real
    factor = _limited(length / price.lam, 1 / MAX_CHANGE, MAX_CHANGE)
    price.pressure *= factor
    if not price.pressure > LEAST_PRESSURE * price.radius:
        price.pressure = LEAST_PRESSURE * price.radius
    excess = price.radius - price.spent - price.pressure
    price.response = price.step
    price.lam = bounded(price.centre - price.step * excess, price)


@kernel
def adapt_pairs(
    pairs: Table, gram: ReadTable, price: Price, least_weight: Real, classes: Classes
) -> None:
    """Adapt all of these to the distances at this metric and R' R."""
    _fill_distances(classes.metric, gram, classes)
    adapt_to_distances(pairs, price, least_weight, classes)


def adapt_pairs_often(
    pairs: Table,
    gram: ReadTable,
    price: Price,
    damping: Real,
    least_weight: Real,
    rounds: Count,
):
    """Adapt the pairs so many times with R as it is."""
    _: Count
    classes: Classes = Classes(pairs.shape[0])
    with cython.nogil:
        for _ in range(rounds):
            fill_metric(pairs, price, damping, classes.metric)
            adapt_pairs(pairs, gram, price, least_weight, classes)
