"""Rounds of the search for the shortest flow: see ``first_order.norms.polar``."""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import sqrt

from wdrsvm.solvers.first_order.settings import FIRST_ORDER

from ...runtime.blas import multiply, solve_rows
from ...runtime.kernel_names import (
    Count,
    ReadTable,
    Real,
    SmallCodes,
    Table,
    inner,
    kernel,
)

ROUNDS = cython.declare(Count, FIRST_ORDER.flow_rounds)
# Next to rounding: a weight of exactly zero would make L_p singular.
LEAST_WEIGHT = cython.declare(Real, 1e-14)
# No flow has been found yet.
UNKNOWN = cython.declare(Real, float("inf"))


@inner
def fill_laplacian(pairs: ReadTable, out: Table) -> None:
    """L_p, whose quadratic form is sum over i >= j of p_ij d_ij^2."""
    i: Count
    j: Count
    total: Real
    for i in range(pairs.shape[0]):
        total = 0.0
        for j in range(pairs.shape[0]):
            total += pairs[i, j]
            out[i, j] = -pairs[i, j]
        out[i, i] = total + 3 * pairs[i, i]


def laplacian(pairs: ReadTable):
    """L_p, whose quadratic form is sum over i >= j of p_ij d_ij^2."""
    matrix: Table = np.empty((pairs.shape[0], pairs.shape[0]))
    fill_laplacian(pairs, matrix)
    return np.asarray(matrix)


@inner
def _turn(table: ReadTable, out: Table) -> None:
    i: Count
    k: Count
    for k in range(table.shape[0]):
        for i in range(table.shape[1]):
            out[i, k] = table[k, i]


@kernel
def _fill_lengths(weights: Table, potential: Table, lengths: Table) -> Real:
    """p_ij || V_i - V_j ||, taken of differences: nothing cancels; returns their sum."""
    i: Count
    j: Count
    k: Count
    apart: Real
    square: Real
    total: Real = 0.0
    for i in range(weights.shape[0]):
        for j in range(i):
            square = 0.0
            for k in range(potential.shape[1]):
                apart = potential[i, k] - potential[j, k]
                square += apart * apart
            lengths[i, j] = weights[i, j] * sqrt(square)
            total += lengths[i, j]
    return total


@inner
def _lack(factor: ReadTable, product: Table) -> Real:
    """The sum of the lengths of the classes' columns of factor - product."""
    i: Count
    k: Count
    apart: Real
    square: Real
    total: Real = 0.0
    for i in range(factor.shape[1]):
        square = 0.0
        for k in range(factor.shape[0]):
            apart = factor[k, i] - product[k, i]
            square += apart * apart
        total += sqrt(square)
    return total


@inner
def _reweigh(weights: Table, lengths: Table, length: Real) -> None:
    i: Count
    j: Count
    for i in range(weights.shape[0]):
        weights[i, i] = 0.0
        for j in range(i):
            weights[i, j] = lengths[i, j] / length
            if not weights[i, j] > LEAST_WEIGHT:
                weights[i, j] = LEAST_WEIGHT
            weights[j, i] = weights[i, j]


def flow_length(factor: ReadTable, pairs: ReadTable, rtol: Real = 0.0):
    """Length of the best flow found whose divergence is the transpose of ``factor`` (T, C).

    Any potential V makes a flow p_ij (V_i - V_j); what its divergence L_p V lacks is sent
    along as well, so that a badly conditioned L_p makes the flow longer, never the bound
    false.  The search ends when a round gains less than the share ``rtol``.
    """
    _: Count
    i: Count
    j: Count
    length: Real
    found: Real
    gained: Real
    shortest: Real = UNKNOWN
    n_classes: Count = pairs.shape[0]
    mean: Real = 1.0 / n_classes
    weights: Table = np.array(pairs)
    tied: Table = np.empty((n_classes, n_classes))
    system: Table = np.empty((n_classes, n_classes))
    lengths: Table = np.zeros((n_classes, n_classes))
    potential: Table = np.empty((factor.shape[0], n_classes))
    turned: Table = np.empty((n_classes, factor.shape[0]))
    product: Table = np.empty((factor.shape[0], n_classes))
    pivots: SmallCodes = np.empty(n_classes, dtype=np.intc)
    with cython.nogil:
        for _ in range(ROUNDS):
            fill_laplacian(weights, tied)
            for i in range(n_classes):
                for j in range(n_classes):
                    system[i, j] = tied[i, j] + mean
            for i in range(factor.shape[0]):
                for j in range(n_classes):
                    potential[i, j] = factor[i, j]
            if solve_rows(system, potential, pivots) != 0:
                break
            _turn(potential, turned)
            length = _fill_lengths(weights, turned, lengths)
            multiply(potential, tied, product)
            found = length + _lack(factor, product)
            gained = shortest - found
            if found < shortest:
                shortest = found
            if not length > 0 or gained < rtol * shortest:
                break
            _reweigh(weights, lengths, length)
    return shortest
