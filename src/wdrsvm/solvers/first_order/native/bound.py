"""Sums over the rows behind the certified bound: see ``first_order.bound``."""

from __future__ import annotations

import cython
import numpy as np

from ...runtime.kernel_names import (
    Count,
    ReadCodes,
    ReadTable,
    Real,
    Table,
    Vector,
    inner,
)
from .hinge_rows import INFINITE, clear
from .products import add_outer, add_product
from .records import Design


@inner
def _total(mass: ReadTable, n: Count) -> Real:
    j: Count
    total: Real = 0.0
    for j in range(mass.shape[1]):
        total += mass[n, j]
    return total


@inner
def _mean_pull(mass: ReadTable, n: Count, pull: Vector, total: Real) -> Real:
    """The mean of u_n under m_n, 0 if there is no mass."""
    j: Count
    mean: Real = 0.0
    for j in range(pull.shape[0]):
        mean += mass[n, j] * pull[j]
    return mean / total if total > 0 else 0.0


def add_slopes(
    free: Design,
    y: ReadCodes,
    alpha: ReadTable,
    phi: ReadTable,
    beta: ReadTable,
    out: Table,
):
    """out (E, C) += sum_n f_n g_n'."""
    n: Count
    j: Count
    slope: Vector = np.empty(alpha.shape[1])
    with cython.nogil:
        for n in range(alpha.shape[0]):
            for j in range(slope.shape[0]):
                slope[j] = alpha[n, j]
            slope[y[n]] -= _total(alpha, n)
            if phi.shape[0] > 0:
                for j in range(slope.shape[0]):
                    slope[j] += beta[n, j] - phi[n, j]
            add_outer(free, n, out, slope)


def add_response(free: Design, mass: ReadTable, potential: ReadTable, out: Table):
    """out += sum_n f_n (m_n * (u_n - mean of u_n under m_n))',  u_n = S' f_n."""
    n: Count
    j: Count
    total: Real
    mean: Real
    pull: Vector = np.empty(mass.shape[1])
    with cython.nogil:
        for n in range(mass.shape[0]):
            clear(pull)
            add_product(free, n, potential, pull)
            total = _total(mass, n)
            if total > 0:
                mean = _mean_pull(mass, n, pull, total)
                for j in range(pull.shape[0]):
                    pull[j] = mass[n, j] * (pull[j] - mean)
                add_outer(free, n, out, pull)


def add_curvature(free: Design, mass: ReadTable, out: Table):
    """The diagonal of ``add_response``."""
    n: Count
    j: Count
    k: Count
    total: Real
    square: Real
    with cython.nogil:
        for n in range(mass.shape[0]):
            total = _total(mass, n)
            if not total > 0:
                continue
            for k in range(free.indptr[n], free.indptr[n + 1]):
                square = free.data[k] * free.data[k]
                for j in range(mass.shape[1]):
                    out[free.indices[k], j] += (
                        square * mass[n, j] * (1.0 - mass[n, j] / total)
                    )


def tilt(free: Design, mass: Table, potential: ReadTable):
    """Shift mass within each row along u_n = S' f_n, by at most what is there."""
    n: Count
    j: Count
    total: Real
    mean: Real
    after: Real
    pull: Vector = np.empty(mass.shape[1])
    with cython.nogil:
        for n in range(mass.shape[0]):
            clear(pull)
            add_product(free, n, potential, pull)
            total = _total(mass, n)
            mean = _mean_pull(mass, n, pull, total)
            after = 0.0
            for j in range(pull.shape[0]):
                pull[j] = 1.0 + pull[j] - mean
                pull[j] = mass[n, j] * pull[j] if pull[j] > 0 else 0.0
                after += pull[j]
            if after > 0 and after < INFINITE:
                for j in range(pull.shape[0]):
                    mass[n, j] = pull[j] * (total / after)
