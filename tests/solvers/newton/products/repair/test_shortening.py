"""Coefficients whose longest differences are shortened."""

import numpy as np
import pytest

from wdrsvm.solvers.newton.products.repair import shortening
from wdrsvm.solvers.newton.products.repair.shortening import repaired
from wdrsvm.solvers.newton.products.steps import Descent

TOL = 1e-3


def risk_at(descent, coef):
    return Descent(descent.design, descent.diameter, descent.radius, coef).risk


@pytest.fixture
def sharp(descent):
    """A descent whose smoothed diameter is close to the true one."""
    for _ in range(4):
        for _ in range(3):
            descent.step()
        descent.sharpen()
    return descent


def shortened(descent):
    coef, n = descent.coef.copy(), descent.n_touchable
    coef[:, :n] = descent.diameter.repaired(coef[:, :n], descent.lam, 0.1 * TOL)
    return coef


def test_differences_are_only_shortened_where_that_is_likely_to_suffice(sharp):
    cheap = shortened(sharp)
    enough = risk_at(sharp, cheap) + 0.5 * (sharp.risk - sharp.smooth_risk)
    np.testing.assert_array_equal(repaired(sharp, TOL, enough), cheap)


@pytest.mark.parametrize("missing", ["a little", "much"])
def test_else_forces_are_balanced(sharp, missing, monkeypatch):
    best = repaired(sharp, TOL, -np.inf)
    cost = risk_at(sharp, shortened(sharp)) - sharp.smooth_risk
    assert risk_at(sharp, best) - sharp.smooth_risk < cost
    share = {"a little": 0.99, "much": 0.1}[missing]
    foreseen = []
    monkeypatch.setattr(
        shortening, "_foreseen_risk", lambda *told: foreseen.append(0) or risk_at(*told)
    )
    found = repaired(sharp, TOL, sharp.smooth_risk + share * cost)
    np.testing.assert_array_equal(found, best)
    # Where the risk is far too high, nothing is tried before.
    assert len(foreseen) == (missing == "a little")


def test_the_foreseen_risk_is_about_the_true_one(sharp):
    cheap = shortened(sharp)
    true, changed = risk_at(sharp, cheap), sharp.risk
    foreseen = shortening._foreseen_risk(sharp, cheap)
    assert abs(foreseen - true) < 0.1 * abs(changed - true)
    # To first order it is exact.
    near = sharp.coef + 1e-3 * (cheap - sharp.coef)
    assert shortening._foreseen_risk(sharp, near) == pytest.approx(
        risk_at(sharp, near), 1e-9
    )


def test_the_foreseen_risk_bends_about_as_much_as_the_true_one(sharp):
    step = np.zeros_like(sharp.coef)
    step[2] = 0.03 * np.random.default_rng(2).normal(size=step.shape[1])

    def bend(risk):
        ahead, back, here = (risk(sharp, sharp.coef + t * step) for t in (1, -1, 0))
        # Both risks have the same norm.
        return ahead + back - 2 * here

    norm = bend(lambda _, coef: sharp.radius * sharp.smoothed_at(coef).largest)
    foreseen, true = bend(shortening._foreseen_risk) - norm, bend(risk_at) - norm
    assert true > 0
    assert 0.5 < foreseen / true < 2


def test_the_descent_is_not_even_yet(sharp):
    """Else the tests above would compare nothing."""
    assert sharp.risk > (1 + 1e-5) * sharp.smooth_risk
    gained = sharp.risk - risk_at(sharp, shortened(sharp))
    assert gained > 0.1 * (sharp.risk - sharp.smooth_risk)
