"""What steps know without a pass over the rows."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.solvers.newton.products.lengths.descent import LengthDescent
from wdrsvm.solvers.newton.products.lengths.diameter import LengthDiameter
from wdrsvm.solvers.newton.products.settings import PRODUCTS
from wdrsvm.solvers.newton.products.steps import Descent
from wdrsvm.solvers.newton.products.tangents import Multiples


def risk_at(descent, coef):
    found = Descent(descent.design, descent.diameter, descent.radius, coef)
    return found.risk


def test_the_tangent_of_the_loss_bounds_the_risk_of_other_coefficients(descent):
    rng = np.random.default_rng(1)
    for size in (1e-3, 0.1, 3.0):
        coef = descent.coef + size * rng.normal(size=descent.coef.shape)
        assert descent.least_risk_at(coef) < risk_at(descent, coef)
    near = descent.coef + 1e-5 * rng.normal(size=descent.coef.shape)
    assert descent.least_risk_at(near) == pytest.approx(risk_at(descent, near), rel=1e-8)


def test_repaired_pairs_are_even_and_cost_less_than_shortened_ones(descent):
    for _ in range(6):
        descent.step()
    repaired = descent.repaired(1e-3)
    n = descent.n_touchable
    shortened = descent.coef.copy()
    shortened[:, :n] = descent.diameter.repaired(descent.coef[:, :n], descent.lam, 1e-4)
    assert risk_at(descent, repaired) < risk_at(descent, shortened) < descent.risk
    lengths = descent.diameter.at(repaired[:, :n]).lengths
    held = np.sort(lengths[np.triu_indices(5, 1)])
    assert held[-1] <= held[-3] * (1 + 1e-3)


def test_a_repair_changes_neither_the_point_nor_the_preconditioner(descent):
    coef, stiffness = descent.coef.copy(), descent.precondition.inverse.stiffness.copy()
    descent.repaired(1e-3)
    np.testing.assert_array_equal(descent.coef, coef)
    np.testing.assert_array_equal(descent.precondition.inverse.stiffness, stiffness)


def test_the_preconditioner_is_built_anew_unless_the_end_is_near(descent, monkeypatch):
    built = []
    monkeypatch.setattr(Descent, "rebuild", lambda self: built.append(self.n_iter))
    for tol, promise in ((0.0, 1e-9), (1e-3, 0.1 * descent.risk)):
        descent.tol, descent.n_iter, descent.promise = tol, 39, promise
        descent.step()
    assert built == [40, 40]
    descent.n_iter, descent.promise = 39, 1e-9
    descent.step()
    assert built == [40, 40]
    descent.n_iter, descent.promise = PRODUCTS.rebuilds[0] - 1, 1e-9
    descent.step()
    assert built == [40, 40, PRODUCTS.rebuilds[0]]


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_new_shares_add_no_more_than_the_longest_length_allows(descent, norm):
    """The bound spares most steps the shares; it may change no answer."""
    if norm == "linf":
        n = descent.n_touchable
        diameter = LengthDiameter.of(descent.coef[:, :n])
        descent = LengthDescent(descent.design, diameter, descent.radius, descent.coef)
    descent.step()
    for power in (8.0, 12.0, 25.0):
        assert 0 <= descent.spread <= descent.most_spread * (1 + 1e-12)
        for ratio in (0.5, 1.0, 2.0):
            descent.promise = ratio * PRODUCTS.settled * descent.to_learn
            assert Descent.has_settled.fget(descent) is (ratio < 1)
        descent.sharpen()
        descent.diameter = replace(descent.diameter, power=power)
        descent.smoothed = descent.smoothed_at(descent.coef)
        if norm == "linf":
            # Multipliers may lag behind by more than any length.
            descent.smoothed = descent.smoothed._replace(lag=2 * descent.smoothed.largest)


def at_multiple(descent, scale):
    return Descent(descent.design, descent.diameter, descent.radius, scale * descent.coef)


def test_a_multiple_has_longer_slopes_and_a_foreseen_value(descent):
    for _ in range(6):
        descent.step()
    fall = -np.vdot(descent.coef, descent.sums.gradient)
    for growth in (1.002, 1.01):
        scale = Multiples.of(descent).scale_for(growth)
        there = at_multiple(descent, scale)
        grown = -np.vdot(descent.coef, there.sums.gradient) / fall
        assert grown - 1 == pytest.approx(growth - 1, rel=0.05)
        gained = there.dual - descent.dual
        assert Multiples.of(descent).dual_at(scale) - descent.dual == pytest.approx(
            gained, rel=0.05
        )
        assert gained > 0


def test_no_tangents_are_worth_more_than_the_best_multiple_costs(descent):
    for _ in range(6):
        descent.step()
    risks = [at_multiple(descent, scale).smooth_risk for scale in np.linspace(0.8, 1.2, 81)]
    assert Multiples.of(descent).best_dual == pytest.approx(min(risks), rel=1e-4)
    assert Multiples.of(descent).best_dual <= descent.smooth_risk


def test_multiples_are_for_slopes_that_are_too_short_and_trusted_labels(descent):
    for _ in range(6):
        descent.step()
    assert (
        Multiples.of(descent).scale_for(1.0) == Multiples.of(descent).scale_for(0.9) == 1.0
    )
    assert Multiples.of(descent).scale_for(1e6) == PRODUCTS.least_scale
    assert Multiples.of(descent).dual_at(1.0) == descent.dual
    dual = descent.dual
    descent.smoothed = descent.smoothed._replace(value=0.0)
    assert Multiples.of(descent).scale_for(1.01) == 1.0
    assert Multiples.of(descent).best_dual == dual
    descent.flip_cost = 1.0
    assert Multiples.of(descent).scale_for(1.01) == 1.0
