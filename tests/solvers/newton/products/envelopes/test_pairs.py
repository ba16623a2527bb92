"""The envelope for the linf norm: what holds for any multipliers."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.problem.norms import class_pairs, divergence, polar
from wdrsvm.solvers.newton.products.envelopes.pairs import PairEnvelope

RADIUS, N_CLASSES, N_COLUMNS = 0.3, 5, 7
ONES = np.ones(N_COLUMNS)


def drawn(seed=0, size=0.2):
    """Coefficients, and an envelope with some multipliers that the radius cannot pay."""
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(N_CLASSES, N_COLUMNS))
    envelope = PairEnvelope.of(coef, RADIUS)
    before = size * rng.normal(size=envelope.before.shape)
    return coef, replace(envelope, before=before, plain=before)


def cut_at(moved, length):
    """What is cut off the differences, for them to have at most this length."""
    low, high = np.zeros(len(moved)), np.abs(moved).max(axis=1)
    for _ in range(60):
        middle = (low + high) / 2
        is_long = np.maximum(np.abs(moved) - middle[:, None], 0).sum(axis=1) > length
        low, high = np.where(is_long, middle, low), np.where(is_long, high, middle)
    return np.clip(moved, -high[:, None], high[:, None])


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_least_sum(seed):
    coef, envelope = drawn(seed)
    first, second = class_pairs(N_CLASSES)
    moved = coef[first] - coef[second] + envelope.before
    lengths = np.linspace(0, np.abs(moved).sum(axis=1).max(), 2001)
    energies = np.array([(cut_at(moved, length) ** 2).sum() for length in lengths])
    energies -= (envelope.before**2).sum()
    least = (RADIUS * lengths + envelope.stiffness / 2 * energies).min()
    assert RADIUS * envelope.at(coef).value == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize("size", [0.0, 0.2, 5.0])
def test_it_is_below_the_modulus_and_the_radius_pays_for_its_slopes(size):
    coef, envelope = drawn(size=size)
    found = envelope.at(coef)
    assert found.value <= found.largest * (1 + 1e-12)
    assert found.largest == pytest.approx(envelope.modulus(coef))
    flow = envelope.adapted(coef).plain * envelope.adapted(coef).stiffness / RADIUS
    np.testing.assert_allclose(divergence(flow, N_CLASSES), found.gradient, atol=1e-9)
    assert polar(found.gradient, "linf", ONES, flow) <= 1 + 1e-6


def test_slopes_are_those_of_finite_differences():
    coef, envelope = drawn()
    step = 1e-6 * np.random.default_rng(1).normal(size=coef.shape)
    rise = envelope.at(coef + step).value - envelope.at(coef - step).value
    assert rise == pytest.approx(2 * np.vdot(envelope.at(coef).gradient, step), rel=1e-4)


def test_new_multipliers_add_at_least_what_they_promise():
    coef, envelope = drawn(size=0.01)
    found = envelope.at(coef)
    better = envelope.adapted(coef).at(coef)
    assert found.value + found.lag <= better.value + 1e-9
    assert better.value <= better.largest * (1 + 1e-12)


def test_softer_multipliers_are_the_same():
    coef, envelope = drawn()
    after = envelope.adapted(coef)
    assert after.stiffness < envelope.stiffness
    assert np.abs(after.plain).max() > 0
    plain = envelope._clipped(coef, envelope.guess.heights)
    np.testing.assert_allclose(
        after.stiffness * after.plain, envelope.stiffness * plain, rtol=1e-6
    )
    np.testing.assert_array_equal(after.before, after.plain)


def test_new_multipliers_are_those_of_the_coefficients_whatever_was_asked_before():
    coef, envelope = drawn()
    plain = envelope.adapted(coef).plain
    envelope.at(3 * coef)
    np.testing.assert_allclose(envelope.adapted(coef).plain, plain, atol=1e-8)


def test_later_multipliers_have_momentum():
    coef, envelope = drawn()
    one = envelope.adapted(coef)
    two = one.adapted(1.1 * coef)
    change = two.plain - one.plain * one.stiffness / two.stiffness
    np.testing.assert_allclose(two.before, two.plain + change / 4, atol=1e-12)


def test_a_flow_is_fitted_to_the_gradient_at_no_cost():
    coef, envelope = drawn()
    gradient = -RADIUS * envelope.at(coef).gradient
    noise = 1e-3 * np.random.default_rng(2).normal(size=gradient.shape)
    gradient += noise - noise.mean(axis=0)
    flow = envelope.flow(coef, gradient)
    plain = -envelope.stiffness * envelope._clipped(coef, envelope.guess.heights)
    assert np.abs(flow).max(axis=1).sum() == pytest.approx(RADIUS, rel=1e-6)
    left, before = (gradient - divergence(each, N_CLASSES) for each in (flow, plain))
    assert np.linalg.norm(left) < np.linalg.norm(before)


def test_small_coefficients_are_not_held():
    """The radius pays for more than there is: all differences are pulled to zero."""
    coef, envelope = drawn(size=0.0)
    found = envelope.at(1e-6 * coef)
    assert found.level == 0
    pull = N_CLASSES * (coef - coef.mean(axis=0))
    np.testing.assert_allclose(
        RADIUS * found.gradient, 1e-6 * envelope.stiffness * pull, rtol=1e-9
    )


def test_a_repair_stays_within_the_length():
    coef, envelope = drawn()
    assert envelope.modulus(envelope.repaired(coef, 2.0, 1e-3)) <= 2.0 * (1 + 1e-2)
    np.testing.assert_array_equal(envelope.repaired(coef, 100.0, 0.0), coef)
