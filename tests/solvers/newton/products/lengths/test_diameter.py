"""The smoothed diameter of the linf norm: what holds for any shares and multipliers."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.problem.norms import class_pairs, divergence, lipschitz, polar
from wdrsvm.solvers.newton.products.lengths.diameter import LengthDiameter
from wdrsvm.solvers.newton.products.lengths.settings import LENGTHS

N_CLASSES, N_COLUMNS = 5, 7
ONES = np.ones(N_COLUMNS)


def drawn(seed=0, size=1.0, power=8.0):
    """Coefficients, and a diameter with some shares and multipliers up to ``size``."""
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(N_CLASSES, N_COLUMNS))
    diameter = LengthDiameter.of(coef)
    shares = rng.uniform(size=len(diameter.shares))
    multipliers = size * rng.uniform(-1, 1, diameter.multipliers.shape)
    return coef, replace(
        diameter,
        shares=shares / shares.sum(),
        power=power,
        multipliers=multipliers.astype(np.float32),
    )


def flow_of(diameter, found):
    """The weights times the slopes of a point."""
    first, second = class_pairs(N_CLASSES)
    moved = (found.coef[first] - found.coef[second]) / diameter.width
    return found.weights[:, None] * np.clip(moved + diameter.multipliers, -1, 1)


@pytest.mark.parametrize("size", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("power", [8.0, 25.0])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_below_the_modulus_and_its_slopes_cost_at_most_one(seed, power, size):
    coef, diameter = drawn(seed, size, power)
    found = diameter.at(coef)
    assert found.value <= found.largest
    assert found.largest == pytest.approx(lipschitz(coef, "linf", ONES))
    flow = flow_of(diameter, found)
    np.testing.assert_allclose(divergence(flow, N_CLASSES), found.gradient, atol=1e-12)
    assert np.abs(flow).max(axis=1).sum() <= 1 + 1e-12
    assert polar(found.gradient, "linf", ONES, flow) <= 1 + 1e-12


def test_in_single_precision_it_is_nearly_the_same():
    coef, diameter = drawn()
    found, single = diameter.at(coef), replace(diameter, kind=np.float32).at(coef)
    assert single.gradient.dtype == np.float32
    assert single.value == pytest.approx(found.value, rel=1e-6)
    np.testing.assert_allclose(single.gradient, found.gradient, atol=1e-5)


def test_slopes_are_those_of_finite_differences():
    coef, diameter = drawn()
    step = 1e-6 * np.random.default_rng(1).normal(size=coef.shape)
    rise = diameter.at(coef + step).value - diameter.at(coef - step).value
    assert rise == pytest.approx(2 * np.vdot(diameter.at(coef).gradient, step), rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_new_multipliers_add_at_least_what_they_promise(seed):
    coef, diameter = drawn(seed, size=0.3)
    found = diameter.at(coef)
    better = replace(diameter.adapted(found, diameter.power), shares=diameter.shares)
    after = replace(better, width=diameter.width).at(coef)
    assert found.value + found.lag <= after.value + 1e-9
    assert after.value <= after.largest


def test_adapting_ends_at_the_modulus():
    coef, diameter = drawn(size=0.0)
    for _ in range(100):
        diameter = diameter.adapted(diameter.at(coef), 25.0)
    found = diameter.at(coef)
    assert found.value == pytest.approx(found.largest, rel=1e-3)
    assert found.lag < 1e-6


def test_the_width_follows_the_size_of_the_coefficients():
    coef, diameter = drawn()
    small = diameter.adapted(diameter.at(0.5 * coef), 8.0)
    assert small.width == pytest.approx(0.5 * diameter.width)
    assert LengthDiameter.of(0.5 * coef).width == pytest.approx(small.width)
    none = small.adapted(small.at(np.zeros_like(coef)), 8.0)
    assert none.width == small.width
    narrow = replace(diameter, relative_width=0.5 * LENGTHS.width)
    assert narrow.width == diameter.width
    after = narrow.adapted(narrow.at(coef), 8.0)
    assert after.width == pytest.approx(0.5 * diameter.width)
    assert LengthDiameter.of(np.zeros_like(coef)).width > 0


def test_multipliers_that_point_the_wrong_way_give_no_negative_length():
    coef, diameter = drawn()
    first, second = class_pairs(N_CLASSES)
    wrong = -np.sign(coef[first] - coef[second]).astype(np.float32)
    found = replace(diameter, multipliers=wrong, width=50.0).at(coef)
    assert found.value == 0
    assert (found.lengths == 0).all()
    np.testing.assert_array_equal(found.gradient, 0.0)


@pytest.mark.parametrize("left", [1.0, 0.2])
def test_a_flow_is_fitted_to_the_gradient_at_no_cost(left):
    coef, diameter = drawn(size=0.5)
    found = diameter.at(coef)
    gradient = -left * found.gradient
    noise = 1e-3 * np.random.default_rng(2).normal(size=gradient.shape)
    gradient += noise - noise.mean(axis=0)
    flow = diameter.flow(found, gradient, left)
    plain = -left * flow_of(diameter, found)
    assert np.abs(flow).max(axis=1).sum() <= left * (1 + 1e-6)
    rest, before = (gradient - divergence(each, N_CLASSES) for each in (flow, plain))
    assert np.linalg.norm(rest) < 0.8 * np.linalg.norm(before)
    assert diameter.polar(flow, gradient) < diameter.polar(plain, gradient)


def test_classes_without_a_weight_get_no_flow():
    coef, diameter = drawn()
    found = diameter.at(coef)
    first, _ = class_pairs(N_CLASSES)
    found = found._replace(weights=found.weights * (first > 0))
    flow = diameter.flow(found, np.ones_like(coef), 1.0)
    assert np.isfinite(flow).all()
    np.testing.assert_array_equal(flow[first == 0], 0.0)


def test_pairs_with_next_to_no_weight_get_no_infinite_flow():
    coef, diameter = drawn()
    diameter = replace(diameter, kind=np.float32)
    found = diameter.at(coef)
    first, _ = class_pairs(N_CLASSES)
    weights = np.where(first == 0, 1e-42, found.weights)
    flow = diameter.flow(found._replace(weights=weights), np.ones_like(coef), 1.0)
    assert np.abs(flow).max(axis=1).sum() <= weights.sum() * (1 + 1e-6)


def test_a_repair_stays_within_the_length():
    coef, diameter = drawn()
    repaired = diameter.repaired(coef, 2.0, 1e-3)
    assert LengthDiameter.modulus(repaired) <= 2.0 * (1 + 1e-2)
    np.testing.assert_array_equal(diameter.repaired(coef, 100.0, 0.0), coef)


def test_tied_coefficients_are_held_more_than_free_ones():
    coef, diameter = drawn()
    # Nothing ties the last class in the first column, and everything all others.
    coef[:, 0] = [0.0, 0.0, 0.0, 0.0, 9.0]
    diameter = replace(diameter, multipliers=np.zeros_like(diameter.multipliers))
    found = diameter.at(coef)
    held, ratio = diameter.held(found), LENGTHS.tied_share / LENGTHS.class_share
    least = ratio * found.stiffness[:, None]
    assert held[-1, 0] == pytest.approx(least[-1, 0])
    tied = found.weights[[0, 1, 2]].sum() / diameter.width
    assert held[0, 0] == pytest.approx(max(LENGTHS.held_share * tied, least[0, 0]))
    assert (held >= least * (1 - 1e-12)).all()
    assert (held > 1.01 * least).any()


def test_each_class_is_held_along_its_signs_as_the_mean_bends():
    """One class is far from all others, which are equal: all of its pairs are alike."""
    signs = np.sign(np.random.default_rng(0).normal(size=N_COLUMNS))
    coef = np.zeros((N_CLASSES, N_COLUMNS))
    coef[0] = 3 * signs
    shares = (class_pairs(N_CLASSES)[0] == 0) / (N_CLASSES - 1)
    diameter = replace(LengthDiameter.of(coef), width=0.5, shares=shares)
    found, step = diameter.at(coef), 1e-3 * coef
    values = [diameter.at(coef + k * step).value for k in (-1, 0, 1)]
    bend, slope = values[0] - 2 * values[1] + values[2], 0.5 * (values[2] - values[0])
    bend += (diameter.power - 1) / found.value * slope**2
    along = diameter.held_along(found)
    held = np.einsum("cd,cd->c", along, step) ** 2
    assert held[0] == pytest.approx(LENGTHS.bend_share * bend, rel=1e-3)
    np.testing.assert_array_equal(held[1:], 0.0)


def test_coefficients_that_are_all_equal_are_held_along_nothing():
    coef = np.ones((N_CLASSES, N_COLUMNS))
    diameter = LengthDiameter.of(coef)
    np.testing.assert_array_equal(diameter.held_along(diameter.at(coef)), 0.0)
