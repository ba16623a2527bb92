"""The envelope for the l1 norm: what holds for any multipliers."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.problem.norms import polar
from wdrsvm.solvers.newton.products.envelopes.entries import EntryEnvelope

RADIUS = 0.3


def drawn(seed=0, shape=(5, 7), size=0.02):
    """Coefficients, and an envelope with some multipliers that the radius cannot pay."""
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=shape)
    envelope = EntryEnvelope.of(coef, RADIUS)
    return coef, replace(envelope, multipliers=size * rng.normal(size=shape))


def least_by_search(envelope, coef):
    """min over bounds of the sum that defines the envelope, on a fine grid."""
    moved = np.abs(coef + envelope.multipliers / envelope.stiffness)
    bounds = np.linspace(0, moved.max(), 100_001)
    cuts = [float((np.maximum(moved - bound, 0) ** 2).sum()) for bound in bounds]
    before = float((envelope.multipliers**2).sum()) / envelope.stiffness
    return (
        2 * RADIUS * bounds + envelope.stiffness / 2 * np.array(cuts)
    ).min() - before / 2


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_least_sum(seed):
    coef, envelope = drawn(seed)
    assert RADIUS * envelope.at(coef).value == pytest.approx(
        least_by_search(envelope, coef), abs=1e-8
    )


@pytest.mark.parametrize("size", [0.0, 0.02, 1.0])
def test_it_is_below_the_modulus_and_the_radius_pays_for_its_slopes(size):
    coef, envelope = drawn(size=size)
    found = envelope.at(coef)
    assert found.value <= found.largest == 2 * np.abs(coef).max()
    assert polar(found.gradient, "l1", np.ones(7)) <= 1 + 1e-12


def test_slopes_are_those_of_finite_differences():
    coef, envelope = drawn()
    step = 1e-6 * np.random.default_rng(1).normal(size=coef.shape)
    rise = envelope.at(coef + step).value - envelope.at(coef - step).value
    assert rise == pytest.approx(2 * np.vdot(envelope.at(coef).gradient, step), rel=1e-5)


def test_new_multipliers_add_at_least_what_they_promise():
    coef, envelope = drawn(size=0.001)
    found = envelope.at(coef)
    better = envelope.adapted(coef).at(coef)
    assert found.value + found.lag <= better.value + 1e-12
    assert better.value <= better.largest


def test_multipliers_that_fit_stay_and_the_envelope_is_the_modulus():
    coef = np.array([[1.0, -1.0, 0.2], [0.3, 1.0, -0.5]])
    held = np.where(np.abs(coef) == 1, np.sign(coef), 0.0)
    envelope = EntryEnvelope(2 * RADIUS * held / 3, 0.7, RADIUS)
    found = envelope.at(coef)
    assert found.value == pytest.approx(found.largest)
    assert found.lag == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(RADIUS * found.gradient, envelope.multipliers)


def test_small_coefficients_are_not_held():
    """The radius pays for more than there is: all coefficients are pulled to zero."""
    coef, envelope = drawn(size=0.0)
    found = envelope.at(1e-6 * coef)
    assert found.level == 0
    np.testing.assert_allclose(RADIUS * found.gradient, 1e-6 * envelope.stiffness * coef)


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_coefficients_are_those_of_the_envelope(seed):
    """Their modulus is the level, and the sum that defines the envelope is least there."""
    coef, envelope = drawn(seed)
    found, nearest = envelope.at(coef), envelope.nearest(coef)
    assert envelope.modulus(nearest) == pytest.approx(found.level)
    before = envelope.multipliers / envelope.stiffness
    squares = ((coef + before - nearest) ** 2).sum() - (before**2).sum()
    least = envelope.modulus(nearest) + envelope.stiffness / RADIUS / 2 * squares
    assert least == pytest.approx(found.value)


def test_multipliers_that_fit_lead_back_to_the_bound():
    """Coefficients beside the bound are brought to it from both sides."""
    bound = np.array([[1.0, -1.0, 0.2], [0.3, 1.0, -0.5]])
    held = np.where(np.abs(bound) == 1, np.sign(bound), 0.0)
    envelope = EntryEnvelope(2 * RADIUS * held / 3, 0.7, RADIUS)
    coef = bound + np.array([[0.02, 0.01, 0.0], [0.0, -0.01, 0.0]])
    np.testing.assert_allclose(envelope.nearest(coef), bound)


def test_coefficients_that_are_zero_have_an_envelope():
    assert EntryEnvelope.of(np.zeros((3, 2)), RADIUS).at(np.zeros((3, 2))).value == 0


def test_coefficients_at_the_bound_are_held_more():
    coef, envelope = drawn(size=0.0)
    found = envelope.at(coef)
    held, is_cut = envelope.held(found), 2 * np.abs(coef) > found.level
    assert is_cut.any()
    assert not is_cut.all()
    np.testing.assert_allclose(held[is_cut], envelope.stiffness / RADIUS)
    assert (held[~is_cut] < held[is_cut].min()).all()
    assert (held > 0).all()
