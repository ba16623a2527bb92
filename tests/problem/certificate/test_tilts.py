"""The loop of tilts and its linear solves, on systems and errors that are known."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from wdrsvm.problem.certificate import tilts
from wdrsvm.problem.certificate.multipliers import RowMultipliers
from wdrsvm.problem.certificate.settings import CERTIFICATE
from wdrsvm.problem.certificate.tilts import (
    solve_by_products,
    solve_dense,
    tilted_until_equal,
)


def by_products(system, lack, ridge, columns):
    def product(tilt):
        return np.einsum("idje,je->id", system, tilt)

    return solve_by_products(product, np.einsum("idid->id", system), lack, ridge, columns)


@pytest.mark.parametrize("solve", [solve_dense, by_products])
@pytest.mark.parametrize("ridge", [0.0, 1e-12])
def test_a_tilt_supplies_what_is_lacked_on_its_columns(ridge, solve, monkeypatch):
    monkeypatch.setattr(tilts, "CERTIFICATE", replace(CERTIFICATE, cg_tol=1e-12))
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(30, 3))
    system = RowMultipliers(*rng.exponential(size=(3, 30, 4))).curvature(columns)
    lack = rng.normal(size=(4, 3))
    lack -= lack.mean(axis=0)
    for chosen in ([True, True, True], [True, False, True], [False, True, False]):
        chosen = np.array(chosen)
        before = system.copy()
        tilt = solve(system, lack, ridge, chosen)
        np.testing.assert_array_equal(system, before)
        supplied = np.einsum("idje,je->id", system, tilt)
        np.testing.assert_allclose(supplied[:, chosen], lack[:, chosen], atol=1e-9)
        assert not tilt[:, ~chosen].any()
        np.testing.assert_allclose(tilt.sum(axis=0), 0.0, atol=1e-12)
    stiffer = solve(system, lack, 1e-2, np.ones(3, dtype=bool))
    assert np.linalg.norm(stiffer) < np.linalg.norm(
        solve(system, lack, 0.0, np.ones(3, dtype=bool))
    )


def test_a_system_that_nothing_can_solve_is_met_as_far_as_it_goes():
    """Two equal columns, and one that no row has."""
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(9, 1)) * [1.0, 1.0, 0.0]
    system = RowMultipliers(*rng.exponential(size=(3, 9, 2))).curvature(columns)
    lack = np.array([[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0]])
    tilt = solve_dense(system, lack, 0.0, np.ones(3, dtype=bool))
    supplied = np.einsum("idje,je->id", system, tilt)
    np.testing.assert_allclose(supplied, lack, atol=1e-9)


@dataclass(frozen=True)
class Errors:
    """Multipliers whose errors are a list; a tilt below the ridge ``needed`` is worse."""

    left: tuple
    needed: float = 0.0
    ridges: tuple = ()

    unit: float = 1.0

    def miss(self, columns):
        return self.left[0] / self.unit

    def lacking(self, columns):
        return self.left[0]

    def tilted(self, ridge, columns):
        now = replace(self, ridges=(*self.ridges, ridge))
        if ridge < self.needed:
            return replace(now, left=(2 * self.left[0],))
        return replace(now, left=self.left[1:])


EVERY = np.ones(1, dtype=bool)


def test_tilts_end_where_the_equalities_hold():
    found = tilted_until_equal(Errors((1.0, 0.1, 1e-14, 0.0)), [EVERY])
    assert found.left == (1e-14, 0.0)
    exact = Errors((0.0,))
    assert tilted_until_equal(exact, [EVERY]) is exact


@dataclass(frozen=True)
class Shrinking(Errors):
    """Their terms become smaller faster than their errors."""

    def tilted(self, ridge, columns):
        return replace(super().tilted(ridge, columns), unit=0.01 * self.unit)


def test_a_tilt_that_helps_is_kept_even_if_it_makes_all_terms_small():
    found = tilted_until_equal(Shrinking((1.0, 0.1, 0.0)), [EVERY])
    assert found.left == (0.0,)
    assert len(found.ridges) == 2


def test_a_tilt_that_makes_it_worse_is_discarded_and_the_ridge_raised():
    found = tilted_until_equal(Errors((1.0, 0.0), needed=1e-7), [EVERY])
    assert found.left == (0.0,)
    assert found.ridges == (pytest.approx(1e-6),)
    hopeless = tilted_until_equal(Errors((1.0, 0.0), needed=np.inf), [EVERY])
    assert hopeless.left == (1.0, 0.0)


def test_tilts_are_limited_in_each_stage():
    errors = tuple(0.9**k for k in range(100))
    found = tilted_until_equal(Errors(errors), [EVERY, EVERY])
    assert len(found.ridges) == 2 * CERTIFICATE.max_tilts


def test_a_column_that_no_row_has_is_not_divided_by():
    rng = np.random.default_rng(2)
    columns = rng.normal(size=(9, 2)) * [1.0, 0.0]
    system = RowMultipliers(*rng.exponential(size=(3, 9, 2))).curvature(columns)
    lack = np.array([[1.0, 0.0], [-1.0, 0.0]])
    with np.errstate(all="raise"):
        tilt = by_products(system, lack, 0.0, np.ones(2, dtype=bool))
    supplied = np.einsum("idje,je->id", system, tilt)
    np.testing.assert_allclose(supplied, lack, atol=1e-6)
    assert not tilt[:, 1].any()
