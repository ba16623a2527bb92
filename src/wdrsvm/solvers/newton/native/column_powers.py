r"""Powers of the entries of a table, and what both softmax families need of its columns.

The table has a row for each class and a column for each sample.  Every loop runs along a
row, so that the C compiler makes vectors of it: no sum goes across a vector.  For that the
exponential in double precision is written out:

    exp(x) = exp(x / 256)^256,

the inner one by its Taylor series, the power by squaring eight times.  That loses two
digits of sixteen down to 1e-26, which steps do not miss; no certificate is made of them.
"""

from __future__ import annotations

import cython

from ...runtime.kernel_names import (
    Count,
    Either,
    EitherTable,
    EitherVector,
    Real,
    Single,
    inner,
    kernel,
)
from ...runtime.powers import single_power

# Below, a power is nothing beside 1, in either precision.  A variable: of a number the C
# compiler would make a branch, and no vectors.
LOWEST = cython.declare(Real, -75.0)
# An entry that is left out.
NOTHING = cython.declare(Single, -float("inf"))


@inner
def not_too_low(x: Either) -> Either:
    lowest: Either = LOWEST
    return x if x > lowest else lowest


@inner
def _double_power(x: Real) -> Real:
    r: Real = x * (1.0 / 256.0)
    high: Real = 1.0 / 5040.0 + r * (1.0 / 40320.0 + r * (1.0 / 362880.0))
    high = 1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0 + r * high))
    high = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * high)))
    high *= high
    high *= high
    high *= high
    high *= high
    high *= high
    high *= high
    high *= high
    return high * high


@inner
def _either_power(x: Either) -> Either:
    if Either is cython.float:
        return single_power(x)
    else:
        return _double_power(x)


@inner
def falling_power(x: Either) -> Either:
    """exp(x) for x <= 0; a lower x counts as the lowest one."""
    return _either_power(not_too_low(x))


@kernel
def find_tops(z: EitherTable, top: EitherVector) -> None:
    """The largest entry of each column."""
    j: Count
    n: Count
    for n in range(z.shape[1]):
        top[n] = z[0, n]
    for j in range(1, z.shape[0]):
        for n in range(z.shape[1]):
            top[n] = z[j, n] if z[j, n] > top[n] else top[n]


@kernel
def fill_powers(
    z: EitherTable, top: EitherVector, total: EitherVector, sharp: Either
) -> None:
    """Replace scores by powers exp((z - top) sharp), and sum them."""
    j: Count
    n: Count
    power: Either
    for n in range(z.shape[1]):
        total[n] = 0.0
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            power = falling_power((z[j, n] - top[n]) * sharp)
            z[j, n] = power
            total[n] += power


@kernel
def fill_powers_and_moments(
    z: EitherTable,
    top: EitherVector,
    total: EitherVector,
    moments: EitherTable,
    sharp: Either,
) -> None:
    """The same; add the powers times their exponents, and times the squares, to the
    moments."""
    j: Count
    n: Count
    gap: Either
    power: Either
    for n in range(z.shape[1]):
        total[n] = 0.0
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            gap = not_too_low((z[j, n] - top[n]) * sharp)
            power = _either_power(gap)
            z[j, n] = power
            total[n] += power
            moments[0, n] += power * gap
            moments[1, n] += power * gap * gap


@kernel
def scale_columns(z: EitherTable, factor: EitherVector) -> None:
    j: Count
    n: Count
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            z[j, n] *= factor[n]
