"""Coefficients and intercepts of features that are far from zero, rounded together.

At the centre x of such features, M x and b are large and cancel.  The rounding of b alone
moves all scores of a class: by 1e-4 if b is 1e12.  But the last digits of M are free.  A
change of some M_j by its last digit moves M x by about as much as the rounding of b.  It
changes neither the norm of M nor the differences of scores between rows.  So the last
digits of two coefficients are chosen such that M x + b is right.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Floats
from .exact_sums import affine

# A rounding of scores that is small beside every gap that can be asked for.
NEGLIGIBLE = 1e-11
# The largest change of a coefficient, in units of its last digit.
REACH = 32
# Sums over classes below this share of the largest term are rounding.
ROUNDING = 4 * REACH * float(np.finfo(float).eps)
# Small changes first: of equally good ones the first is taken.
_CHANGES = np.array(sorted(range(-REACH, REACH + 1), key=abs), dtype=np.float64)


def rounded_together(coef: Floats, shift: Floats, centre: Floats) -> tuple[Floats, Floats]:
    """Coefficients (C, P) and intercepts (C,) with scores ``shift`` (C,) at the centre."""
    intercept = shift - coef @ centre
    if not coef.size or (np.spacing(np.abs(intercept)) <= NEGLIGIBLE).all():
        return coef, intercept
    if len(coef) != 2 or not (_sums_to_zero(coef) and _sums_to_zero(shift)):
        return _rounded(coef, shift, centre)
    # The difference of two classes, which estimators keep, is exact if they are opposite.
    one, its_intercept = _rounded(coef[1:], shift[1:], centre)
    return np.concatenate([-one, one]), np.concatenate([-its_intercept, its_intercept])


def with_sums_of_zero(coef: Floats, intercept: Floats) -> tuple[Floats, Floats]:
    """The same differences of scores, with classes that sum to zero up to rounding.

    If they do already, the last digits stay as they are.
    """
    if _sums_to_zero(coef) and _sums_to_zero(intercept):
        return coef, intercept
    return coef - coef.mean(axis=0), intercept - intercept.mean()


def _sums_to_zero(values: Floats) -> bool:
    """Whether the sums over the first axis are rounding."""
    return bool((np.abs(values.sum(axis=0)) <= ROUNDING * np.abs(values).max(axis=0)).all())


def _rounded(coef: Floats, shift: Floats, centre: Floats) -> tuple[Floats, Floats]:
    intercept = affine(-coef, centre, shift)
    unit = np.spacing(np.abs(intercept))
    excess = affine(coef, centre, intercept) - shift
    classes = zip(coef, excess, unit, strict=True)
    coef = np.array([_adjusted(*of_class, centre) for of_class in classes])
    return coef, affine(-coef, centre, shift)


def _adjusted(coef: Floats, excess: float, unit: float, centre: Floats) -> Floats:
    """Coefficients (P,) of a class that lower its score at the centre by ``excess``.

    Multiples of ``unit``, the last digit of the intercept, do not matter.
    """
    digit = np.spacing(np.abs(coef))
    step = digit * centre
    first, second = np.argsort(-np.abs(step), kind="stable")[[0, min(1, len(coef) - 1)]]
    left = excess + _CHANGES[:, None] * step[first] + _CHANGES * step[second]
    best = np.argmin(np.abs(left - unit * np.round(left / unit)))
    row, column = np.unravel_index(best, left.shape)
    changed = coef.copy()
    changed[first] += _CHANGES[row] * digit[first]
    changed[second] += _CHANGES[column] * digit[second]
    return changed
