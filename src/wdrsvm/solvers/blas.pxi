# BLAS and LAPACK as SciPy brings them, on matrices whose rows are contiguous, and the
# clock.  ``blas.py`` is the same in NumPy, for runs that are not compiled.
from cpython.exc cimport PyErr_CheckSignals
from scipy.linalg.cython_blas cimport dgemm, dsymv, dtrsv
from scipy.linalg.cython_lapack cimport dpotrf

cdef extern from "<time.h>" nogil:
    struct timespec:
        long tv_sec
        long tv_nsec
    const int TIME_UTC
    int timespec_get(timespec *, int)


cdef double seconds() noexcept nogil:
    """The time of day, in seconds."""
    cdef timespec now
    timespec_get(&now, TIME_UTC)
    return now.tv_sec + 1e-9 * now.tv_nsec


cdef int check_signals() except -1 nogil:
    """Let Python handle signals that have arrived, Ctrl-C above all."""
    with gil:
        return PyErr_CheckSignals()


cdef void multiply(double[:, ::1] a, double[:, ::1] b, double[:, ::1] out) noexcept nogil:
    """out = a b."""
    cdef int m = <int> a.shape[0], k = <int> a.shape[1], n = <int> b.shape[1]
    cdef double one = 1.0, zero = 0.0
    cdef char plain = b"N"
    if m > 0 and n > 0 and k > 0:
        dgemm(&plain, &plain, &n, &m, &k, &one, &b[0, 0], &n, &a[0, 0], &k, &zero,
              &out[0, 0], &n)


cdef void multiply_rows(
    double[:, ::1] a, double[:, ::1] b, double[:, ::1] out
) noexcept nogil:
    """out = a b', all products of a row of a with a row of b."""
    cdef int m = <int> a.shape[0], k = <int> a.shape[1], n = <int> b.shape[0]
    cdef double one = 1.0, zero = 0.0
    cdef char plain = b"N", turned = b"T"
    if m > 0 and n > 0 and k > 0:
        dgemm(&turned, &plain, &n, &m, &k, &one, &b[0, 0], &k, &a[0, 0], &k, &zero,
              &out[0, 0], &n)


cdef bint factorise(double[:, ::1] matrix) noexcept nogil:
    """Cholesky's factor in place of a lower triangle; whether there is one."""
    cdef int size = <int> matrix.shape[0], failed = 0
    cdef char upper = b"U"
    dpotrf(&upper, &size, &matrix[0, 0], &size, &failed)
    return failed == 0


cdef void substitute(double[:, ::1] factor, double[::1] x) noexcept nogil:
    """x = (factor factor')^-1 x."""
    cdef int size = <int> factor.shape[0], one = 1
    cdef char upper = b"U", turned = b"T", plain = b"N"
    dtrsv(&upper, &turned, &plain, &size, &factor[0, 0], &size, &x[0], &one)
    dtrsv(&upper, &plain, &plain, &size, &factor[0, 0], &size, &x[0], &one)


cdef void subtract_product(
    double[:, ::1] matrix, double[::1] x, double[::1] out
) noexcept nogil:
    """out -= matrix x, of a matrix whose lower triangle is given."""
    cdef int size = <int> matrix.shape[0], step = 1
    cdef double one = 1.0, minus = -1.0
    cdef char upper = b"U"
    dsymv(&upper, &size, &minus, &matrix[0, 0], &size, &x[0], &step, &one, &out[0], &step)
