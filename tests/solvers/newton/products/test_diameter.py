"""The smoothed diameter: below the true one, with its gradient, learning towards it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from wdrsvm.problem.norms import lipschitz, polar
from wdrsvm.problem.pair_weights import pair_distances
from wdrsvm.solvers.newton.products import diameter as module
from wdrsvm.solvers.newton.products.diameter import DIAMETERS, PairDiameter
from wdrsvm.solvers.newton.products.settings import PRODUCTS

NORMS = [*DIAMETERS]


def random_coef(seed=0, shape=(6, 4)):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("norm", NORMS)
def test_gradient_by_finite_differences(norm):
    coef = random_coef()
    diameter = DIAMETERS[norm].of(6, 4)
    diameter = diameter.reweighted(diameter.at(coef + 0.3).lengths, 6.0)
    slope = approx_fprime(
        coef.ravel(), lambda flat: diameter.at(flat.reshape(6, 4)).value, 1e-7
    )
    np.testing.assert_allclose(diameter.at(coef).gradient.ravel(), slope, atol=1e-5)


@pytest.mark.parametrize("norm", NORMS)
def test_it_is_below_the_largest_length_and_learns_towards_it(norm):
    coef = random_coef()
    diameter = DIAMETERS[norm].of(6, 4)
    values = []
    for _ in range(12):
        found = diameter.at(coef)
        values.append(found.value)
        diameter = diameter.reweighted(found.lengths, 10.0)
    assert values == sorted(values)
    assert values[-1] <= found.largest
    assert values[-1] == pytest.approx(found.largest, rel=1e-3)


def test_a_length_without_a_share_gets_one_when_it_is_long():
    """Else many rounds at a high power let pairs grow that were short before them."""
    diameter = DIAMETERS["l2"].of(4, 1)
    for _ in range(40):
        near = diameter.at(np.array([[0.0], [1.0], [0.5], [0.4]]))
        diameter = diameter.reweighted(near.lengths, 40.0)
    grown = diameter.at(np.array([[0.0], [1.0], [0.5], [3.0]]))
    assert diameter.shares[0, 3] < 1e-100
    assert grown.value == pytest.approx(1.0)
    again = diameter.reweighted(grown.lengths, 40.0)
    assert again.shares.sum() == pytest.approx(1.0)
    assert again.mean(grown.lengths) > 0.85 * grown.largest


@pytest.mark.parametrize("scale", [0.0, 1.0])
def test_the_mean_that_adapted_shares_would_have(scale):
    diameter = DIAMETERS["l2"].of(6, 4)
    found = diameter.at(scale * random_coef())
    lesson, again = diameter.lesson(found), diameter.reweighted(found.lengths, 8.0)
    assert diameter.power == 8.0
    assert lesson.value == again.mean(found.lengths)
    np.testing.assert_array_equal(diameter.taught(lesson).shares, again.shares)
    assert lesson.value >= found.value


def test_shortened_pairs_pull_equally_at_both_ends():
    """So the mean of all classes stays, however many long pairs each class is in."""
    coef = random_coef()
    coef[0] += 5.0
    diameter = DIAMETERS["l2"].of(*coef.shape)
    repaired = diameter.repaired(coef, 0.5 * diameter.at(coef).largest, 1e-3)
    assert (repaired != coef).any()
    np.testing.assert_allclose(repaired.mean(axis=0), coef.mean(axis=0), atol=1e-12)


def test_the_largest_length_is_the_modulus():
    coef, cost = random_coef(), np.ones(4)
    assert DIAMETERS["l2"].of(6, 4).at(coef).largest == pytest.approx(
        lipschitz(coef, "l2", cost)
    )
    centred = coef - (coef.max(axis=0) + coef.min(axis=0)) / 2
    assert DIAMETERS["l1"].of(6, 4).at(centred).largest == pytest.approx(
        lipschitz(coef, "l1", cost)
    )


@pytest.mark.parametrize("norm", NORMS)
def test_its_gradient_costs_at_most_one(norm):
    """Whatever the shares are: the flow of a stationary point is paid by the radius."""
    coef = random_coef()
    coef -= coef.mean(axis=0)
    diameter = DIAMETERS[norm].of(6, 4)
    found = diameter.at(coef)
    flow = diameter.flow(found, found.gradient, tol=1e-6)
    assert polar(found.gradient, norm, np.ones(4), flow) <= 1 + 1e-9
    assert diameter.polar(flow, found.gradient) <= 1 + 1e-9


@pytest.mark.parametrize("norm", NORMS)
def test_repaired_coefficients_are_no_farther_apart_than_asked(norm):
    coef = random_coef()
    diameter = DIAMETERS[norm].of(6, 4)
    wanted = 0.7 * diameter.at(coef).largest
    repaired = diameter.repaired(coef, wanted, 1e-3)
    assert diameter.at(repaired).largest <= wanted * (1 + 1e-3) * (1 + 1e-9)
    assert (diameter.repaired(coef, 9.0, 1e-3) == coef).all()


@pytest.mark.parametrize("norm", NORMS)
def test_equal_classes_have_no_diameter(norm):
    diameter = DIAMETERS[norm].of(3, 2)
    found = diameter.at(np.zeros((3, 2)))
    assert found.value == 0
    assert not found.gradient.any()
    assert diameter.reweighted(found.lengths, 9.0) is diameter


@pytest.mark.parametrize("norm", NORMS)
def test_shares_stay_where_nothing_can_be_learnt(norm):
    diameter = DIAMETERS[norm].of(3, 2)
    lengths = np.zeros_like(diameter.shares)
    assert diameter.reweighted(lengths, 9.0) is diameter
    longest = np.zeros_like(lengths, dtype=bool)
    longest.flat[1] = True
    lost = type(diameter)(np.where(longest, 0.0, diameter.shares), 60.0)
    assert lost.reweighted(np.where(longest, 1.0, 1e-9), 60.0) is lost


def test_coefficients_are_pulled_together_to_a_length_of_zero():
    coef = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    repaired = DIAMETERS["l2"].of(3, 2).repaired(coef, 0.0, 1e-6)
    assert pair_distances(repaired).max() < 1e-2


def test_shares_that_are_given_come_with_their_power():
    diameter = PairDiameter.of(3, 2)
    shares = np.array([[0.0, 0.4, 0.1], [0.4, 0.0, 0.0], [0.1, 0.0, 0.0]])
    found = diameter.with_shares(shares, 20.0, np.zeros((3, 3)))
    assert found.power == 20.0
    np.testing.assert_array_equal(found.shares, shares)
    lengths = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 2.0], [1.0, 2.0, 0.0]])
    found = diameter.with_shares(shares, 20.0, lengths)
    # The long pair without a share has a little of it; the others stay in proportion.
    assert found.power == 20.0
    assert found.shares[1, 2] > 0
    assert found.shares[0, 1] == pytest.approx(4 * found.shares[0, 2])


def test_coefficients_that_are_no_numbers_have_no_length():
    coef = np.ones((3, 2))
    coef[1, 1] = np.nan
    found = PairDiameter.of(3, 2).at(coef)
    assert np.isnan(found.value)
    assert np.isnan(found.lengths[0, 1])


def single_diameter(shape, monkeypatch):
    settings = replace(PRODUCTS, least_single_coefficients=1)
    monkeypatch.setattr(module, "PRODUCTS", settings)
    return PairDiameter.of(*shape, np.float32)


def test_products_in_single_precision(monkeypatch):
    coef = random_coef(shape=(30, 40))
    single = single_diameter(coef.shape, monkeypatch)
    found, expected = single.at(coef), PairDiameter.of(30, 40).at(coef)
    assert found.gradient.dtype == np.float32
    assert found.value == pytest.approx(expected.value, rel=1e-6)
    np.testing.assert_allclose(found.lengths, expected.lengths, rtol=1e-5)
    np.testing.assert_allclose(found.gradient, expected.gradient, atol=1e-6)
    far = single.at(coef + 1e4)
    np.testing.assert_allclose(far.lengths, expected.lengths, rtol=1e-5)
    np.testing.assert_allclose(far.gradient, expected.gradient, atol=1e-6)


def test_few_coefficients_have_products_in_double_precision():
    assert PairDiameter.of(6, 4, np.float32).at(random_coef()).gradient.dtype == np.float64


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_known_lengths_give_the_same(kind, monkeypatch):
    coef = random_coef(shape=(8, 5))
    diameter = replace(single_diameter((8, 5), monkeypatch), kind=kind)
    before = diameter.at(coef)
    learnt = diameter.reweighted(before.lengths, 20.0)
    again, expected = learnt.at(coef, before), learnt.at(coef)
    assert again.value == expected.value > before.value
    np.testing.assert_array_equal(again.gradient, expected.gradient)
