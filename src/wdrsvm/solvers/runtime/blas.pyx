# BLAS and LAPACK of SciPy for the kernels, so that no library is linked.  blas.py has the
# same functions for uncompiled kernels, with a docstring for each.
# Matrices are stored by rows.  LAPACK reads them as transposes; symmetric ones are equal.
import cython
from cpython.exc cimport PyErr_CheckSignals
from scipy.linalg.cython_blas cimport dgemm, dsymv, dsyrk, dtrsm, dtrsv, sgemm, ssyrk
from scipy.linalg.cython_lapack cimport dgesv, dpotrf, dpotri, spotrf, spotri


cdef inline int solve(double[:, ::1] system, double[::1] rhs, int[::1] pivots) noexcept nogil:
    cdef int n = <int> system.shape[0], one = 1, info = 0
    cdef Py_ssize_t i, j
    cdef double held
    # dgesv needs the matrix by columns: transpose it in place.
    for i in range(n):
        for j in range(i):
            held = system[i, j]
            system[i, j] = system[j, i]
            system[j, i] = held
    if n > 0:
        dgesv(&n, &one, &system[0, 0], &n, &pivots[0], &rhs[0], &n, &info)
    return info


# By squares that fit into a cache: a column of a large table has a cache line for each entry.
cdef inline void mirror(Either[:, ::1] matrix) noexcept nogil:
    cdef Py_ssize_t i, j, top, left, n = matrix.shape[0]
    for top in range(0, n, 32):
        for left in range(0, top + 1, 32):
            for i in range(top, min(top + 32, n)):
                for j in range(left, min(left + 32, i)):
                    matrix[j, i] = matrix[i, j]


cdef inline int invert_definite(Either[:, ::1] matrix) noexcept nogil:
    cdef int n = <int> matrix.shape[0], info = 0
    if n == 0:
        return 0
    if Either is float:
        spotrf("U", &n, &matrix[0, 0], &n, &info)
        if info == 0:
            spotri("U", &n, &matrix[0, 0], &n, &info)
    else:
        dpotrf("U", &n, &matrix[0, 0], &n, &info)
        if info == 0:
            dpotri("U", &n, &matrix[0, 0], &n, &info)
    # The upper triangle of the columns is the lower one of the rows.
    mirror(matrix)
    return info


# Column by column, as BLAS reads them, the matrices are transposes: of out' = right' left'
# it is told whether right' and left' are as they stand ("N") or turned ("T").
cdef inline void general_product(
    char *turn_right, char *turn_left, int columns, int rows, int inner,
    const Either[:, ::1] right, const Either[:, ::1] left, Either[:, ::1] out,
) noexcept nogil:
    cdef int right_width = <int> right.shape[1], left_width = <int> left.shape[1]
    cdef Either one = 1.0, zero = 0.0
    if rows == 0 or columns == 0 or inner == 0:
        out[:, :] = 0.0
        return
    if Either is float:
        sgemm(
            turn_right, turn_left, &columns, &rows, &inner, &one,
            <float*> &right[0, 0], &right_width, <float*> &left[0, 0], &left_width,
            &zero, &out[0, 0], &columns,
        )
    else:
        dgemm(
            turn_right, turn_left, &columns, &rows, &inner, &one,
            <double*> &right[0, 0], &right_width, <double*> &left[0, 0], &left_width,
            &zero, &out[0, 0], &columns,
        )


cdef inline void multiply(
    const Either[:, ::1] left, const Either[:, ::1] right, Either[:, ::1] out
) noexcept nogil:
    cdef int rows = <int> left.shape[0], inner = <int> left.shape[1]
    general_product("N", "N", <int> right.shape[1], rows, inner, right, left, out)


cdef inline void multiply_rows(
    const Either[:, ::1] left, const Either[:, ::1] right, Either[:, ::1] out
) noexcept nogil:
    cdef int rows = <int> left.shape[0], inner = <int> left.shape[1]
    general_product("T", "N", <int> right.shape[0], rows, inner, right, left, out)


cdef inline void multiply_columns(
    const Either[:, ::1] left, const Either[:, ::1] right, Either[:, ::1] out
) noexcept nogil:
    cdef int rows = <int> left.shape[1], inner = <int> left.shape[0]
    general_product("N", "T", <int> right.shape[1], rows, inner, right, left, out)


cdef inline void half_single_gram(const float[:, ::1] rows, float[:, ::1] out) noexcept nogil:
    cdef int n_rows = <int> rows.shape[0], inner = <int> rows.shape[1]
    cdef float one = 1.0, zero = 0.0
    if n_rows == 0 or inner == 0:
        out[:, :] = 0.0
        return
    ssyrk(
        "U", "T", &n_rows, &inner, &one, <float*> &rows[0, 0], &inner,
        &zero, &out[0, 0], &n_rows,
    )


cdef inline void single_gram(const float[:, ::1] rows, float[:, ::1] out) noexcept nogil:
    half_single_gram(rows, out)
    mirror(out)


# The lower triangle by rows is the upper one by columns.
cdef inline bint factorise_panel(
    double[:, ::1] matrix, Py_ssize_t begin, Py_ssize_t end
) noexcept nogil:
    cdef int stride = <int> matrix.shape[0], width = <int> (end - begin), info = 0
    cdef int below = <int> (matrix.shape[0] - end)
    cdef double one = 1.0, minus = -1.0
    dpotrf("U", &width, &matrix[begin, begin], &stride, &info)
    if info != 0 or below == 0:
        return info == 0
    dtrsm(
        "L", "U", "T", "N", &width, &below, &one,
        &matrix[begin, begin], &stride, &matrix[end, begin], &stride,
    )
    dsyrk(
        "U", "T", &below, &width, &minus, &matrix[end, begin], &stride,
        &one, &matrix[end, end], &stride,
    )
    return True


cdef inline void substitute(double[:, ::1] factor, double[::1] x) noexcept nogil:
    cdef int size = <int> factor.shape[0], one = 1
    dtrsv("U", "T", "N", &size, &factor[0, 0], &size, &x[0], &one)
    dtrsv("U", "N", "N", &size, &factor[0, 0], &size, &x[0], &one)


cdef inline void subtract_product(
    double[:, ::1] lower, double[::1] x, double[::1] out
) noexcept nogil:
    cdef int size = <int> lower.shape[0], step = 1
    cdef double one = 1.0, minus = -1.0
    dsymv("U", &size, &minus, &lower[0, 0], &size, &x[0], &step, &one, &out[0], &step)


cdef extern from "<time.h>" nogil:
    struct timespec:
        long tv_sec
        long tv_nsec
    const int TIME_UTC
    int timespec_get(timespec *, int)


cdef inline double seconds() noexcept nogil:
    cdef timespec now
    timespec_get(&now, TIME_UTC)
    return now.tv_sec + 1e-9 * now.tv_nsec


cdef inline int check_signals() except -1 nogil:
    with gil:
        return PyErr_CheckSignals()


cdef inline int solve_rows(
    double[:, ::1] system, double[:, ::1] rhs, int[::1] pivots
) noexcept nogil:
    cdef int n = <int> system.shape[0], columns = <int> rhs.shape[0], info = 0
    if n > 0:
        dgesv(&n, &columns, &system[0, 0], &n, &pivots[0], &rhs[0, 0], &n, &info)
    return info
