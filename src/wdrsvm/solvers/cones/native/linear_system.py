"""The linear system of a second-order step; only lower triangles are kept."""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import fabs, sqrt

from wdrsvm.solvers.cones.settings import CONES

from ...runtime.blas import (
    check_signals,
    factorise_panel,
    substitute,
    subtract_product,
)
from ...runtime.kernel_names import (
    Count,
    Flag,
    Real,
    Small,
    Table,
    Vector,
    interruptible,
    kernel,
)
from .rows import NO_END

MAX_REFINEMENTS = cython.declare(Count, CONES.max_refinements)
# Relative residual of a solution, and ridge of a unit diagonal, next to rounding.
REFINED = cython.declare(Real, 1e-13)
LEAST_RIDGE = cython.declare(Real, 1e-15)
LONG_CALL = cython.declare(Count, CONES.max_product_work)


@cython.cclass
class LinearSystem:
    """A symmetric positive system, scaled to unit diagonal, factorised and refined.

    If rounding makes the matrix indefinite, the factor gets the smallest ridge that makes
    it definite.  If no ridge does, because the matrix has overflowed, the solution is NaN.
    """

    size: Count
    matrix: Table
    factor: Table
    scale: Vector
    scaled: Vector
    residual: Vector
    is_definite: Flag

    def __init__(self, size):
        self.size = size
        self.matrix, self.factor = np.zeros((size, size)), np.zeros((size, size))
        self.scale, self.scaled = np.ones(size), np.zeros(size)
        self.residual = np.zeros(size)

    @interruptible
    def factorise(self) -> Small:
        """Scale the matrix in place and factorise it."""
        ridge: Real = LEAST_RIDGE
        self.to_unit_diagonal()
        while ridge < 1e3 * self.size:
            self.shift(ridge)
            self.factorise_by_panels()
            if self.is_definite:
                return 0
            ridge *= 100
        self.factor[0, 0] = NO_NUMBER
        return 0

    @interruptible
    def factorise_by_panels(self) -> Small:
        begin: Count = 0
        end: Count
        panel: Count = rows_at_once(self.size, self.size)
        self.is_definite = True
        while begin < self.size and self.is_definite:
            if begin > 0:
                check_signals()
            end = min(begin + panel, self.size)
            self.is_definite = factorise_panel(self.factor, begin, end)
            begin = end
        return 0

    @kernel
    def to_unit_diagonal(self) -> None:
        i: Count
        j: Count
        for i in range(self.size):
            self.scale[i] = 1.0 / sqrt(self.matrix[i, i])
        for i in range(self.size):
            for j in range(i + 1):
                self.matrix[i, j] *= self.scale[i] * self.scale[j]

    @kernel
    def shift(self, ridge: Real) -> None:
        """Copy the matrix plus a ridge to the factor."""
        i: Count
        j: Count
        for i in range(self.size):
            for j in range(i + 1):
                self.factor[i, j] = self.matrix[i, j]
            self.factor[i, i] += ridge

    @kernel
    def solve(self, rhs: Vector, out: Vector) -> None:
        """Solve, and refine the solution as long as each refinement halves the residual."""
        i: Count
        left: Count = MAX_REFINEMENTS
        error: Real = NO_END
        previous: Real
        for i in range(self.size):
            self.scaled[i] = rhs[i] * self.scale[i]
            out[i] = self.scaled[i]
        substitute(self.factor, out)
        while left > 0:
            left -= 1
            for i in range(self.size):
                self.residual[i] = self.scaled[i]
            subtract_product(self.matrix, out, self.residual)
            previous, error = error, largest(self.residual)
            if error <= REFINED * largest(self.scaled) or not error < previous / 2:
                break
            substitute(self.factor, self.residual)
            for i in range(self.size):
                out[i] += self.residual[i]
        for i in range(self.size):
            out[i] *= self.scale[i]


NO_NUMBER = cython.declare(Real, float("nan"))


@kernel
def rows_at_once(width: Count, inner: Count) -> Count:
    """Number of rows that one short call multiplies by a matrix of this shape."""
    return max(16, LONG_CALL // (width * inner + 1))


@kernel
def largest(values: Vector) -> Real:
    i: Count
    most: Real = 0.0
    for i in range(values.shape[0]):
        most = fabs(values[i]) if not fabs(values[i]) <= most else most
    return most


@kernel
def fix_gauge(
    matrix: Table,
    n_classes: Count,
    n_columns: Count,
    first: Count,
) -> None:
    """Add curvature for a shift of all classes by one vector, in columns from ``first`` on.

    The matrix has no other curvature for this shift, and the right-hand side has no part
    in its direction.  A column without any curvature, which is a centred constant column,
    gets a unit diagonal.
    """
    d: Count
    i: Count
    j: Count
    stiffness: Real
    for d in range(first, n_columns):
        stiffness = 0.0
        for i in range(n_classes):
            stiffness += matrix[i * n_columns + d, i * n_columns + d] / n_classes
        for i in range(n_classes):
            if stiffness <= 0:
                matrix[i * n_columns + d, i * n_columns + d] = 1.0
                continue
            for j in range(i + 1):
                matrix[i * n_columns + d, j * n_columns + d] += stiffness
