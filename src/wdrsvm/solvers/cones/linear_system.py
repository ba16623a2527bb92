"""The linear system of a second-order step.  Of matrices the lower triangle is kept."""

import cython
import numpy as np
from cython.cimports.libc.math import fabs, sqrt

if not cython.compiled:
    from ..blas import factorise, substitute, subtract_product
    from .rows import NO_END

MAX_REFINEMENTS = cython.declare(cython.Py_ssize_t, 5)
REFINED = cython.declare(cython.double, 1e-13)
LEAST_RIDGE = cython.declare(cython.double, 1e-15)


@cython.cclass
class LinearSystem:
    """A symmetric positive system, scaled to unit diagonal, factorised and refined.

    Where rounding has made it indefinite the factor gets a ridge as small as will do; where
    none will, because an overflow left no numbers to factorise, solutions have none either.
    """

    size = cython.declare(cython.Py_ssize_t)
    matrix = cython.declare(cython.double[:, ::1])
    factor = cython.declare(cython.double[:, ::1])
    scale = cython.declare(cython.double[::1])
    scaled = cython.declare(cython.double[::1])
    residual = cython.declare(cython.double[::1])

    def __init__(self, size):
        self.size = size
        self.matrix, self.factor = np.zeros((size, size)), np.zeros((size, size))
        self.scale, self.scaled = np.ones(size), np.zeros(size)
        self.residual = np.zeros(size)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def factorise(self) -> cython.void:
        """Scale the matrix in place and factorise it."""
        ridge: cython.double = LEAST_RIDGE
        self.to_unit_diagonal()
        while ridge < 1e3 * self.size:
            self.shift(ridge)
            if factorise(self.factor):
                return
            ridge *= 100
        self.factor[0, 0] = NO_NUMBER

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def to_unit_diagonal(self) -> cython.void:
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        for i in range(self.size):
            self.scale[i] = 1.0 / sqrt(self.matrix[i, i])
        for i in range(self.size):
            for j in range(i + 1):
                self.matrix[i, j] *= self.scale[i] * self.scale[j]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def shift(self, ridge: cython.double) -> cython.void:
        """The matrix, with a ridge, as what is to be factorised."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        for i in range(self.size):
            for j in range(i + 1):
                self.factor[i, j] = self.matrix[i, j]
            self.factor[i, i] += ridge

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def solve(self, rhs: cython.double[::1], out: cython.double[::1]) -> cython.void:
        """The solution, refined as long as that halves the residual."""
        i: cython.Py_ssize_t
        attempt: cython.Py_ssize_t
        error: cython.double = NO_END
        previous: cython.double
        for i in range(self.size):
            self.scaled[i] = rhs[i] * self.scale[i]
            out[i] = self.scaled[i]
        substitute(self.factor, out)
        for attempt in range(MAX_REFINEMENTS):
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


NO_NUMBER = cython.declare(cython.double, float("nan"))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def largest(values: cython.double[::1]) -> cython.double:
    i: cython.Py_ssize_t
    most: cython.double = 0.0
    for i in range(values.shape[0]):
        most = fabs(values[i]) if not fabs(values[i]) <= most else most
    return most


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def fix_gauge(
    matrix: cython.double[:, ::1],
    n_classes: cython.Py_ssize_t,
    n_columns: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
) -> cython.void:
    """Stiffen the shift of all classes at once, in columns from ``first`` on.

    Nothing else resists that shift; the right-hand side does not excite it.  A column
    without any curvature, a constant one that was centred, is held altogether.
    """
    d: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    stiffness: cython.double
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
