r"""The samples' curvature in (z, lam), and its sum over samples in (M, lam).

A spring is mult / slack.  A sample has the springs (a, b, f), with the sums A, B, F over
classes.  The quadratic form of a Newton step, minimised over s and h, is the energy in
``newton/native/springs.py`` with the series stiffness A B F / (AB + AF + BF).  Here it is
computed for all samples at once, in vectors that run over samples; ``springs`` does it
sample by sample.

The curvatures of each pair of classes i >= j are one row with an entry per sample.  The
C (C + 1) / 2 rows are in the order of a lower triangle.
"""

from __future__ import annotations

import cython
import numpy as np

from wdrsvm.solvers.cones.settings import CONES

from ...runtime.blas import check_signals, multiply_rows
from ...runtime.kernel_names import (
    Codes,
    Count,
    Cube,
    Flag,
    Real,
    Small,
    Table,
    Vector,
    interruptible,
    kernel,
)
from .linear_system import rows_at_once
from .rows import fill, times


@cython.cclass
class Curvature:
    """Forms the normal matrix from columns (Q, N) and springs (kinds, C, N) of samples.

    ``again`` tells whether it forms the matrix more than once.
    """

    n_classes: Count
    n_columns: Count
    n_samples: Count
    columns: Table
    # x_d x_e for d >= e; not kept if that is too much memory
    products: Table
    has_products: Flag
    pairs: Table
    with_lam: Table
    corner: Vector
    share: Cube
    inverse_sums: Table
    series: Vector
    gap: Table
    blocks: Table
    scaled: Table
    coupling: Table

    def __init__(self, columns, n_classes, again=True):
        n_columns, n_samples = columns.shape
        self.n_classes, self.n_columns, self.n_samples = n_classes, n_columns, n_samples
        self.columns = columns
        n_pairs = n_classes * (n_classes + 1) // 2
        n_products = n_columns * (n_columns + 1) // 2
        self.has_products = again and n_products * n_samples <= CONES.max_products
        if self.has_products:
            self.products = np.empty((n_products, n_samples))
            self.blocks = np.empty((n_pairs, n_products))
            self.multiply_columns()
        else:
            self.scaled = np.empty((n_classes * n_columns, n_samples))
            self.blocks = np.empty((n_classes * n_columns, n_columns))
        self.pairs, self.corner = np.zeros((n_pairs, n_samples)), np.zeros(n_samples)
        self.with_lam = np.zeros((n_classes, n_samples))
        self.share = np.zeros((3, n_classes, n_samples))
        self.inverse_sums, self.series = np.zeros((3, n_samples)), np.zeros(n_samples)
        self.gap = np.zeros((n_classes + 1, n_samples))
        self.coupling = np.zeros((n_classes, n_columns))

    @kernel
    def multiply_columns(self) -> None:
        d: Count
        e: Count
        row: Count = 0
        for d in range(self.n_columns):
            for e in range(d + 1):
                times(self.columns[d], self.columns[e], self.products[row])
                row += 1

    def put(self, pairs, with_lam, corner):
        """Set the curvatures: pairs (C (C + 1) / 2, N), with lam (C, N), of lam (N,)."""
        np.asarray(self.pairs)[...] = pairs
        np.asarray(self.with_lam)[...] = with_lam
        np.asarray(self.corner)[:] = corner

    def gathered(self):
        """The sum over samples as a symmetric matrix."""
        size = self.n_classes * self.n_columns + 1
        matrix = np.zeros((size, size))
        self.gather(matrix)
        return np.tril(matrix) + np.tril(matrix, -1).T

    @kernel
    def find(
        self,
        spring: Cube,
        sums: Table,
        price: Table,
        label: Codes,
        prices_differ: Flag,
    ) -> None:
        """The curvatures of all samples."""
        k: Count
        i: Count
        n_kinds: Count = spring.shape[0]
        for k in range(n_kinds):
            invert_sums(sums[k], self.inverse_sums[k])
            for i in range(self.n_classes):
                times(spring[k, i], self.inverse_sums[k], self.share[k, i])
        if n_kinds == 3:
            find_series(sums, self.inverse_sums, self.series)
            self.find_gap(spring, price, label)
        for i in range(self.n_classes):
            self.find_class(i, spring)
        if n_kinds == 3:
            self.find_lam(spring, price, prices_differ)

    @kernel
    def find_gap(
        self,
        spring: Cube,
        price: Table,
        label: Codes,
    ) -> None:
        """mean_a z - mean_b z - z_y + mean_f (z + k lam) as a vector in (z, lam)."""
        i: Count
        n: Count
        gap: Table = self.gap
        share: Cube = self.share
        fill(gap[self.n_classes], 0.0)
        for i in range(self.n_classes):
            for n in range(self.n_samples):
                gap[i, n] = share[0, i, n] - share[1, i, n] + share[2, i, n]
            for n in range(self.n_samples):
                gap[self.n_classes, n] += share[2, i, n] * price[i, n]
        for n in range(self.n_samples):
            gap[label[n], n] -= 1.0

    @kernel
    def find_class(self, i: Count, spring: Cube) -> None:
        """Curvatures of the pairs i >= j; each pair also adds to two diagonal entries."""
        j: Count
        n: Count
        tie: Real
        row: Count = i * (i + 1) // 2
        pairs: Table = self.pairs
        share: Cube = self.share
        gap: Table = self.gap
        series: Vector = self.series
        other: Count
        for n in range(self.n_samples):
            pairs[row + i, n] = series[n] * gap[i, n] * gap[i, n]
        for j in range(i):
            other = j * (j + 1) // 2 + j
            if spring.shape[0] == 1:
                for n in range(self.n_samples):
                    tie = share[0, i, n] * spring[0, j, n]
                    pairs[row + j, n] = -tie
                    pairs[row + i, n] += tie
                    pairs[other, n] += tie
                continue
            for n in range(self.n_samples):
                tie = share[0, i, n] * spring[0, j, n]
                tie += share[1, i, n] * spring[1, j, n]
                tie += share[2, i, n] * spring[2, j, n]
                pairs[row + j, n] = series[n] * gap[i, n] * gap[j, n] - tie
                pairs[row + i, n] += tie
                pairs[other, n] += tie

    @kernel
    def find_lam(
        self,
        spring: Cube,
        price: Table,
        prices_differ: Flag,
    ) -> None:
        i: Count
        j: Count
        n: Count
        last: Count = self.n_classes
        for n in range(self.n_samples):
            self.corner[n] = self.series[n] * self.gap[last, n] * self.gap[last, n]
        for i in range(self.n_classes):
            for n in range(self.n_samples):
                self.with_lam[i, n] = self.series[n] * self.gap[i, n] * self.gap[last, n]
        if prices_differ:
            for i in range(self.n_classes):
                for j in range(i):
                    self.add_price_spread(i, j, spring[2, j], price)

    @kernel
    def add_price_spread(
        self,
        i: Count,
        j: Count,
        spring: Vector,
        price: Table,
    ) -> None:
        """Add the lam part of the flips' Laplacian; it is zero if all costs are equal."""
        n: Count
        pull: Real
        for n in range(self.n_samples):
            pull = self.share[2, i, n] * spring[n] * (price[i, n] - price[j, n])
            self.with_lam[i, n] += pull
            self.with_lam[j, n] -= pull
            self.corner[n] += pull * (price[i, n] - price[j, n])

    @interruptible
    def gather(self, matrix: Table) -> Small:
        """sum_n curvature_n kron x_n x_n' as a lower triangle (C Q + 1, C Q + 1)."""
        i: Count
        d: Count
        n: Count
        last: Count = self.n_classes * self.n_columns
        total: Real = 0.0
        if self.has_products:
            self.gather_at_once(matrix)
        else:
            for i in range(self.n_classes):
                self.gather_class(i, matrix)
        multiply_rows(self.with_lam, self.columns, self.coupling)
        for i in range(self.n_classes):
            for d in range(self.n_columns):
                matrix[last, i * self.n_columns + d] = self.coupling[i, d]
        for n in range(self.n_samples):
            total += self.corner[n]
        matrix[last, last] = total
        return 0

    @kernel
    def gather_at_once(self, matrix: Table) -> None:
        """Form all blocks from the kept products of columns; blocks are symmetric."""
        i: Count
        j: Count
        d: Count
        e: Count
        pair: Count = 0
        entry: Count
        width: Count = self.n_columns
        multiply_rows(self.pairs, self.products, self.blocks)
        for i in range(self.n_classes):
            for j in range(i + 1):
                entry = 0
                for d in range(width):
                    for e in range(d + 1):
                        matrix[i * width + d, j * width + e] = self.blocks[pair, entry]
                        if i > j:
                            matrix[i * width + e, j * width + d] = self.blocks[pair, entry]
                        entry += 1
                pair += 1

    @interruptible
    def gather_class(self, i: Count, matrix: Table) -> Small:
        """Form the blocks of class i with the classes up to i, in few matrix products."""
        j: Count
        d: Count
        k: Count
        row: Count = i * (i + 1) // 2
        width: Count = self.n_columns
        seen: Count = (i + 1) * width
        begin: Count = 0
        end: Count
        strip: Count = rows_at_once(2 * width, self.n_samples)
        for j in range(i + 1):
            for d in range(width):
                times(self.pairs[row + j], self.columns[d], self.scaled[j * width + d])
        while begin < seen:
            if begin > 0:
                check_signals()
            end = min(begin + strip, seen)
            multiply_rows(self.scaled[begin:end], self.columns, self.blocks[begin:end])
            begin = end
        for d in range(width):
            for k in range(seen):
                matrix[i * width + d, k] = self.blocks[k, d]
        return 0


@kernel
def invert_sums(sums: Vector, inverse: Vector) -> None:
    n: Count
    for n in range(sums.shape[0]):
        inverse[n] = 1.0 / sums[n] if sums[n] > 0 else 0.0


@kernel
def find_series(
    sums: Table,
    inverse: Table,
    series: Vector,
) -> None:
    """A B F / (AB + AF + BF), three springs in series."""
    n: Count
    soft: Real
    for n in range(series.shape[0]):
        soft = inverse[0, n] + inverse[1, n] + inverse[2, n]
        series[n] = 1.0 / soft if sums[2, n] > 0 else 0.0
