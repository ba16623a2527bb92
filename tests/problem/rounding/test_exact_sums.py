"""Sums of large terms that cancel, against rational numbers."""

from fractions import Fraction

import numpy as np
import pytest

from wdrsvm.problem.rounding.exact_sums import affine


def by_fractions(coef, point, intercept):
    pairs = zip(coef.tolist(), point.tolist(), strict=True)
    products = [Fraction(a) * Fraction(b) for a, b in pairs]
    return float(sum(products) + Fraction(float(intercept)))


@pytest.mark.parametrize("n_features", [1, 2, 3, 8, 13])
@pytest.mark.parametrize("power", [0, 9, 14])
def test_terms_that_cancel_leave_all_digits(n_features, power):
    rng = np.random.default_rng([n_features, power])
    coef = rng.normal(size=(3, n_features))
    point = 10.0**power * rng.normal(size=n_features)
    intercept = rng.normal(size=3) - coef @ point
    found = affine(coef, point, intercept)
    expected = [by_fractions(row, point, b) for row, b in zip(coef, intercept, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_errors_of_sums_count_in_both_orders():
    coef = np.array([[1.0, 2.0**-60, -1.0], [2.0**-60, 1.0, -1.0]])
    np.testing.assert_array_equal(affine(coef, np.ones(3), np.zeros(2)), [2.0**-60] * 2)


def test_digits_of_products_are_not_lost():
    digit = 1 + 2.0**-30
    assert affine(np.array([[digit]]), np.array([digit]), np.array([-1.0])) == [
        2.0**-29 + 2.0**-60
    ]
