"""Flows between classes that are told by one weight for each pair."""

from itertools import pairwise

import numpy as np
import pytest

from wdrsvm.problem import pair_weights as module
from wdrsvm.problem.norms import NORMS, lipschitz
from wdrsvm.problem.pair_weights import (
    MANY_CLASSES,
    PairWeights,
    distance_bounds,
    laplacian,
    pair_distances,
)

l2 = NORMS["l2"].of_rows


def zero_sum(seed, n_classes, n_features):
    gradient = np.random.default_rng(seed).normal(size=(n_classes, n_features))
    return gradient - gradient.mean(axis=0)


def random_weights(seed, n_classes):
    weights = np.random.default_rng(seed).uniform(0.1, 2.0, (n_classes, n_classes))
    weights = weights + weights.T
    np.fill_diagonal(weights, 0.0)
    return weights


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_potentials_are_those_of_the_pseudoinverse(n_classes):
    weights, gradient = random_weights(0, n_classes), zero_sum(1, n_classes, 4)
    found = module._potentials(weights, gradient)
    expected = np.linalg.pinv(laplacian(weights)) @ gradient
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_many_columns_are_as_long_in_few():
    """Rounds on wide gradients work on (C, C) arrays, and find the same weights."""
    gradient = zero_sum(2, 5, 40)
    narrow = module._narrow(gradient)
    assert narrow.shape == (5, 5)
    np.testing.assert_allclose(narrow @ narrow.T, gradient @ gradient.T, atol=1e-12)
    assert module._narrow(narrow) is narrow


def test_distances_are_those_of_the_differences():
    points = np.random.default_rng(0).normal(size=(5, 3))
    true = np.linalg.norm(points[:, None] - points, axis=2)
    np.testing.assert_allclose(pair_distances(points), true, atol=1e-7)


def test_the_cost_bounds_every_product_whatever_the_weights():
    gradient, rng = zero_sum(1, 6, 4), np.random.default_rng(2)
    for weights in (random_weights(3, 6), np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1)):
        cost = PairWeights(weights).cost(gradient, l2)
        for _ in range(100):
            coef = rng.normal(size=(6, 4))
            assert np.vdot(gradient, coef) <= cost * lipschitz(coef, "l2", np.ones(4))


def test_the_cost_pays_for_a_divergence_that_rounding_has_spoilt(monkeypatch):
    gradient, potentials = zero_sum(1, 6, 4), module._potentials
    exact = PairWeights.uniform(6).shortened(gradient)
    least = exact.cost(gradient, l2)
    spoilt = lambda weights, gradient: 0.7 * potentials(weights, gradient)  # noqa: E731
    monkeypatch.setattr(module, "_potentials", spoilt)
    assert exact.cost(gradient, l2) >= least


def test_rounds_shorten_the_flow_until_they_no_longer_do():
    gradient, uniform = zero_sum(1, 5, 3), PairWeights.uniform(5)
    costs = [uniform.shortened(gradient, n).cost(gradient, l2) for n in (1, 2, 5, 30, 300)]
    assert all(one > other for one, other in pairwise(costs))
    rough = uniform.shortened(gradient, rtol=0.05).cost(gradient, l2)
    assert costs[-1] < rough <= costs[0]


def test_uniform_weights_have_no_diagonal():
    expected = [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    np.testing.assert_array_equal(PairWeights.uniform(3).weights, expected)


def test_without_a_gradient_nothing_flows():
    nothing = np.zeros((4, 2))
    assert PairWeights.uniform(4).shortened(nothing).cost(nothing, l2) == 0.0


@pytest.mark.parametrize("weight", [0.0, np.inf, np.nan])
def test_weights_that_say_nothing_are_taken_as_equal(weight):
    gradient = zero_sum(0, 4, 3)
    lost = PairWeights(np.full((4, 4), weight))
    equal = PairWeights(np.ones((4, 4)))
    assert lost.cost(gradient, l2) == equal.cost(gradient, l2)
    np.testing.assert_array_equal(
        lost.shortened(gradient).weights, equal.shortened(gradient).weights
    )


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_flows_are_shortened_in_every_unit(unit):
    gradient, weights = zero_sum(3, 5, 4), PairWeights(random_weights(3, 5))
    shortened = weights.shortened(gradient).cost(gradient, l2)
    assert shortened < 0.99 * weights.cost(gradient, l2)
    found = weights.shortened(unit * gradient).cost(unit * gradient, l2)
    assert found == pytest.approx(unit * shortened, rel=1e-9)


@pytest.mark.parametrize(
    ("n_rounds", "rtol"), [(1, 1e-4), (3, 1e-4), (100, 1e-4), (100, 0)]
)
def test_the_length_of_shortened_flows_is_foreseen(n_rounds, rtol):
    gradient = zero_sum(5, 6, 8)
    found = PairWeights.uniform(6).shortened(gradient, n_rounds, rtol)
    assert found.length == pytest.approx(found.cost(gradient, l2), rel=1e-6)
    assert PairWeights.uniform(6).shortened(0 * gradient).length == 0.0
    assert PairWeights.uniform(6).cost(np.zeros((6, 0)), l2) == 0.0


def test_the_size_of_weights_does_not_matter_to_the_least_of_them():
    weights = np.array([[0.0, 1e-3, 1.0], [1e-3, 0.0, 0.0], [1.0, 0.0, 0.0]])
    expected = module._floored(weights)
    assert (expected[~np.eye(3, dtype=bool)] > 0).all()
    assert expected.mean() == pytest.approx(1.0)
    assert not np.diag(expected).any()
    for unit in (2.0**-40, 2.0**40):
        np.testing.assert_allclose(module._floored(unit * weights), expected)
    equal = module._floored(np.zeros((3, 3)))
    np.testing.assert_allclose(equal, 1.5 * (1 - np.eye(3)))


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8])
def test_distances_lie_between_their_bounds(offset):
    """However far all points are from zero; there the bounds are far apart."""
    points = np.random.default_rng(0).normal(size=(7, 300)) + offset
    points[1] = points[0]
    true = np.linalg.norm(points[:, None] - points, axis=2)
    low, high = distance_bounds(points)
    assert (low <= true).all()
    assert (true <= high).all()
    assert (high[2:, :2] <= (1 + 1e-10) * low[2:, :2]).all() == (offset == 0)


@pytest.mark.parametrize("scale", [1.0, 1e-100, 1e100])
def test_many_classes_have_the_same_cost_by_products(scale):
    gradient = scale * zero_sum(0, MANY_CLASSES, 80)
    weights = PairWeights(random_weights(1, MANY_CLASSES))
    cost = weights.cost(gradient, l2)
    found = weights.cost(gradient, l2, is_l2=True)
    assert cost * (1 - 1e-13) <= found <= cost * (1 + 1e-9)


def test_a_length_that_products_cannot_tell_is_computed_from_differences():
    """Nearly all of the weight is on a pair whose potentials are close to each other."""
    weights = np.full((MANY_CLASSES, MANY_CLASSES), 1e-9)
    weights[0, 1] = weights[1, 0] = 1.0
    np.fill_diagonal(weights, 0.0)
    gradient, found = zero_sum(0, MANY_CLASSES, 30), PairWeights(weights)
    cost = found.cost(gradient, l2)
    assert found.cost(gradient, l2, is_l2=True) == pytest.approx(cost, rel=1e-12)
    potential = np.random.default_rng(0).normal(size=(MANY_CLASSES, 30))
    potential[1] = potential[0] * (1 + 1e-12)
    assert module._length_by_products(weights, potential) is None
    assert module._length_by_products(np.ones_like(weights), potential) is not None
