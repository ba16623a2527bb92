"""Affine functions M x + b whose terms are large and cancel.

Each product and each sum is kept as two doubles, its rounded value and the rounding error
(Dekker, 1971; Knuth, TAOCP 4.2.2).  The result has about twice the digits of a double
before it is rounded once.  It does not depend on the machine's extended precision.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Floats

# Half of the digits of a double: the split of Veltkamp and Dekker.
SPLIT = 2.0**27 + 1


def affine(coef: Floats, point: Floats, intercept: Floats) -> Floats:
    """M x + b, shape (C,), for M of shape (C, P): twice the digits, then rounded."""
    product, error = _product(coef, point)
    terms = np.concatenate([product, intercept[:, None]], axis=1)
    errors = np.concatenate([error, np.zeros((len(coef), 1))], axis=1)
    return _sum(terms, errors)


def _product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The rounded product and its error; both are exact."""
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    product = a * b
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(values: Floats) -> tuple[Floats, Floats]:
    """Leading and last digits, so few that their products are exact."""
    large = SPLIT * values
    high = large - (large - values)
    return high, values - high


def _sum(terms: Floats, errors: Floats) -> Floats:
    """The sum over the last axis, in pairs, with the rounding errors of all sums."""
    while terms.shape[1] > 1:
        if terms.shape[1] % 2:
            terms, errors = (np.pad(part, ((0, 0), (0, 1))) for part in (terms, errors))
        a, b = terms[:, ::2], terms[:, 1::2]
        total = a + b
        of_b = total - a
        lost = (a - (total - of_b)) + (b - of_b)
        terms, errors = total, errors[:, ::2] + errors[:, 1::2] + lost
    return np.asarray(terms[:, 0] + errors[:, 0])
