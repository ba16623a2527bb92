"""Norms and their duals, the Lipschitz modulus and its polar, flows between classes."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.optimize import linprog

from wdrsvm.problem.norms import (
    FEW_CLASSES,
    MANY_CLASSES,
    NORMS,
    class_pairs,
    divergence,
    flow_cost,
    incidence,
    lipschitz,
    pairwise_moduli,
    polar,
    steepest_direction,
    with_divergence,
)

PRIMAL_ORDER = {"l1": 1, "l2": 2, "linf": np.inf}
DUAL_ORDER = {"l1": np.inf, "l2": 2, "linf": 1}
repeatable = settings(derandomize=True, deadline=None, max_examples=60)
every_norm = pytest.mark.parametrize("norm", list(NORMS))


def vectors(size):
    return arrays(np.float64, size, elements=st.floats(-1e3, 1e3, allow_subnormal=False))


def zero_sum(rng, n_classes, n_features):
    gradient = rng.normal(size=(n_classes, n_features))
    return gradient - gradient.mean(axis=0)


def modulus_by_hand(coef, norm, cost):
    scaled = np.where(np.isfinite(cost), coef / cost, 0.0)
    pairs = combinations(range(len(coef)), 2)
    return max(np.linalg.norm(scaled[i] - scaled[j], DUAL_ORDER[norm]) for i, j in pairs)


def steepest(slope, norm):
    """A direction of unit length along which a slope rises at its dual norm."""
    if norm == "l2":
        return slope / np.linalg.norm(slope)
    if norm == "linf":
        return np.sign(slope)
    steep = np.zeros_like(slope)
    steep[np.abs(slope).argmax()] = np.sign(slope[np.abs(slope).argmax()])
    return steep


@every_norm
@repeatable
@given(st.data())
def test_a_product_is_at_most_the_product_of_the_norms(norm, data):
    slope, move = data.draw(vectors(4)), data.draw(vectors(4))
    bound = NORMS[norm].dual_of_rows(slope[None])[0] * NORMS[norm].of_rows(move[None])[0]
    assert abs(slope @ move) <= bound * (1 + 1e-12) + 1e-9


@every_norm
def test_some_unit_direction_attains_the_dual_norm(norm):
    for slope in np.random.default_rng(0).normal(size=(20, 5)):
        direction = steepest(slope, norm)
        assert NORMS[norm].of_rows(direction) == pytest.approx(1.0)
        assert slope @ direction == pytest.approx(NORMS[norm].dual_of_rows(slope))


@every_norm
def test_norms_are_those_of_numpy(norm):
    rows = np.random.default_rng(0).normal(size=(6, 4))
    expected = np.linalg.norm(rows, PRIMAL_ORDER[norm], axis=1)
    dual = np.linalg.norm(rows, DUAL_ORDER[norm], axis=1)
    np.testing.assert_allclose(NORMS[norm].of_rows(rows), expected)
    np.testing.assert_allclose(NORMS[norm].dual_of_rows(rows), dual)


@every_norm
def test_norms_of_no_features_are_zero(norm):
    empty = np.empty((3, 0))
    np.testing.assert_array_equal(NORMS[norm].of_rows(empty), 0.0)
    np.testing.assert_array_equal(NORMS[norm].dual_of_rows(empty), 0.0)


@every_norm
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_modulus_is_the_largest_over_pairs(norm, n_classes):
    rng = np.random.default_rng(n_classes)
    coef, cost = rng.normal(size=(n_classes, 4)), rng.uniform(0.2, 5.0, 4)
    expected = modulus_by_hand(coef, norm, cost)
    assert lipschitz(coef, norm, cost) == pytest.approx(expected, rel=1e-14)


@every_norm
def test_pairwise_moduli_are_symmetric_with_a_zero_diagonal(norm):
    coef = np.random.default_rng(0).normal(size=(4, 3))
    moduli = pairwise_moduli(coef, norm, np.ones(3))
    np.testing.assert_array_equal(moduli, moduli.T)
    np.testing.assert_array_equal(np.diag(moduli), 0.0)
    expected = np.linalg.norm(coef[1] - coef[3], DUAL_ORDER[norm])
    assert moduli[1, 3] == pytest.approx(expected)


@every_norm
@repeatable
@given(st.data())
def test_modulus_ignores_a_shift_of_all_classes(norm, data):
    coef, shift = data.draw(vectors((3, 4))), data.draw(vectors(4))
    cost = np.array([0.5, 1.0, 2.0, np.inf])
    before, after = lipschitz(coef, norm, cost), lipschitz(coef + shift, norm, cost)
    assert after == pytest.approx(before, rel=1e-9, abs=1e-9)


@every_norm
def test_a_feature_of_infinite_cost_does_not_count(norm):
    coef = np.random.default_rng(0).normal(size=(3, 4))
    cost = np.array([1.0, np.inf, 2.0, 0.5])
    kept = np.isfinite(cost)
    without = lipschitz(coef[:, kept], norm, cost[kept])
    assert lipschitz(coef, norm, cost) == without
    assert lipschitz(coef, norm, np.full(4, np.inf)) == 0.0


@every_norm
def test_dearer_features_lower_the_modulus_in_proportion(norm):
    coef = np.random.default_rng(0).normal(size=(3, 4))
    cost = np.array([1.0, 3.0, 2.0, 0.5])
    assert lipschitz(coef, norm, 4 * cost) == pytest.approx(lipschitz(coef, norm, cost) / 4)


def test_a_pair_of_labels_that_no_mass_can_carry_is_no_way_to_move():
    coef = np.array([[0.0], [1.0], [-5.0], [7.0]])
    reachable = np.array([True, True, False, False])
    assert lipschitz(coef, "l2", np.ones(1), reachable) == 7.0
    assert lipschitz(coef, "l2", np.ones(1)) == 12.0
    assert lipschitz(coef, "l2", np.ones(1), np.zeros(4, dtype=bool)) == 0.0


@every_norm
@repeatable
@given(st.data())
def test_polar_bounds_every_product(norm, data):
    gradient, coef = data.draw(vectors((3, 4))), data.draw(vectors((3, 4)))
    gradient = gradient - gradient.mean(axis=0)
    cost = np.array([0.5, 1.0, 2.0, 3.0])
    bound = polar(gradient, norm, cost) * lipschitz(coef, norm, cost)
    size = np.abs(gradient).max() * np.abs(coef).max()
    assert np.vdot(gradient, coef) <= bound * (1 + 1e-9) + 1e-9 * (1 + size)


def cheapest_flow(gradient, norm, cost):
    """sigma(G) and a flow that attains it, by a general-purpose solver."""
    return (_flow_by_clarabel if norm == "l2" else _flow_by_linprog)(gradient, norm, cost)


def _flow_by_linprog(gradient, norm, cost):
    """Variables: flow (K, P) and bounds u of its entries (l1) or of its rows (linf)."""
    n_classes, n_features = gradient.shape
    n_pairs = n_classes * (n_classes - 1) // 2
    size = n_pairs * n_features
    priced = np.diag(np.tile(cost, n_pairs))
    widen = np.kron(np.eye(n_pairs), np.ones((n_features, 1)))
    widen = np.eye(size) if norm == "l1" else widen
    n_bounds = widen.shape[1]
    kept = np.kron(incidence(n_classes).T, np.eye(n_features))
    found = linprog(
        np.r_[np.zeros(size), np.ones(n_bounds)],
        A_ub=np.block([[priced, -widen], [-priced, -widen]]),
        b_ub=np.zeros(2 * size),
        A_eq=np.hstack([kept, np.zeros((gradient.size, n_bounds))]),
        b_eq=gradient.ravel(),
        bounds=(None, None),
    )
    return found.fun, found.x[:size].reshape(n_pairs, n_features)


def _flow_by_clarabel(gradient, norm, cost):
    """Rows: divergence = G, then (u_k, cost * flow_k) in a second-order cone each."""
    clarabel = pytest.importorskip("clarabel")
    n_classes, n_features = gradient.shape
    n_pairs = n_classes * (n_classes - 1) // 2
    size = n_pairs * n_features
    kept = np.kron(incidence(n_classes).T, np.eye(n_features))
    cone = np.zeros((n_pairs, 1 + n_features, size + n_pairs))
    for k in range(n_pairs):
        cone[k, 0, size + k] = -1.0
        cone[k, 1:, k * n_features : (k + 1) * n_features] = -np.diag(cost)
    rows = np.vstack(
        [np.hstack([kept, np.zeros((gradient.size, n_pairs))]), np.concatenate(cone)]
    )
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-11
    found = clarabel.DefaultSolver(
        sparse.csc_matrix((size + n_pairs, size + n_pairs)),
        np.r_[np.zeros(size), np.ones(n_pairs)],
        sparse.csc_matrix(rows),
        np.r_[gradient.ravel(), np.zeros(n_pairs * (1 + n_features))],
        [clarabel.ZeroConeT(gradient.size)]
        + [clarabel.SecondOrderConeT(1 + n_features)] * n_pairs,
        options,
    ).solve()
    flow = np.array(found.x)[:size].reshape(n_pairs, n_features)
    return found.obj_val, flow


@pytest.mark.parametrize(("norm", "n_classes"), [("l1", 4), ("l2", 2), ("linf", 2)])
def test_polar_is_exact_for_l1_and_for_two_classes(norm, n_classes):
    rng = np.random.default_rng(n_classes)
    gradient, cost = zero_sum(rng, n_classes, 3), rng.uniform(0.3, 3.0, 3)
    value, _ = cheapest_flow(gradient, norm, cost)
    assert polar(gradient, norm, cost) == pytest.approx(value, rel=1e-7)


@pytest.mark.parametrize("norm", ["l2", "linf"])
@pytest.mark.parametrize("n_classes", [3, 4])
def test_polar_is_an_upper_bound_attained_by_the_best_flow(norm, n_classes):
    rng = np.random.default_rng(n_classes)
    gradient, cost = zero_sum(rng, n_classes, 3), rng.uniform(0.3, 3.0, 3)
    value, flow = cheapest_flow(gradient, norm, cost)
    assert polar(gradient, norm, cost) >= value * (1 - 1e-7)
    assert polar(gradient, norm, cost, flow) == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("n_classes", [3, 4, 6])
def test_polar_of_l2_is_nearly_exact_without_a_flow(n_classes):
    gradient = zero_sum(np.random.default_rng(n_classes), n_classes, 5)
    value, _ = cheapest_flow(gradient, "l2", np.ones(5))
    assert polar(gradient, "l2", np.ones(5)) == pytest.approx(value, rel=1e-4)


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_a_flow_of_the_wrong_divergence_still_bounds_the_polar(norm):
    rng = np.random.default_rng(0)
    gradient, cost = zero_sum(rng, 3, 4), rng.uniform(0.3, 3.0, 4)
    value, flow = cheapest_flow(gradient, norm, cost)
    for wrong in (0.5 * flow, flow + rng.normal(scale=0.1, size=flow.shape)):
        assert polar(gradient, norm, cost, wrong) >= value * (1 - 1e-7)


@every_norm
def test_polar_of_nothing_is_zero(norm):
    assert polar(np.zeros((3, 4)), norm, np.ones(4)) == 0.0


def test_incidence_gives_differences():
    coef = np.random.default_rng(0).normal(size=(4, 3))
    first, second = class_pairs(4)
    np.testing.assert_array_equal(incidence(4) @ coef, coef[first] - coef[second])
    with pytest.raises(ValueError, match="read-only"):
        incidence(4)[0, 0] = 0.0


def test_divergence_is_the_adjoint_of_differences():
    rng = np.random.default_rng(0)
    flow, coef = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    carried = np.vdot(divergence(flow, 4), coef)
    assert carried == pytest.approx(np.vdot(flow, incidence(4) @ coef))
    np.testing.assert_allclose(divergence(flow, 4).sum(axis=0), 0.0, atol=1e-14)


def test_divergence_of_many_classes_is_summed_class_by_class():
    n_classes = MANY_CLASSES + 1
    flow = np.random.default_rng(0).normal(size=(n_classes * (n_classes - 1) // 2, 2))
    expected = incidence(n_classes).T @ flow
    np.testing.assert_allclose(divergence(flow, n_classes), expected, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e-100, 1e100])
def test_the_modulus_of_many_classes_is_the_largest_of_all_differences(scale):
    rng = np.random.default_rng(0)
    coef = scale * rng.normal(size=(MANY_CLASSES + 3, 6))
    cost = np.array([0.5, 2.0, 1.0, 1.0, np.inf, 3.0])
    reachable = rng.uniform(size=len(coef)) < 0.5
    # The longest difference of all is one between classes that no row can have.
    first, second = np.flatnonzero(~reachable)[:2]
    coef[first], coef[second] = 100 * coef[0], -100 * coef[0]
    moduli = pairwise_moduli(coef, "l2", cost)
    for columns in (None, reachable):
        largest = moduli.max() if columns is None else moduli[:, columns].max()
        assert lipschitz(coef, "l2", cost, columns) == pytest.approx(largest, rel=1e-14)
    assert moduli[:, reachable].max() < moduli.max()


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_equal_coefficients_of_many_classes_have_no_modulus(value):
    coef = np.full((MANY_CLASSES, 4), value)
    assert lipschitz(coef, "l2", np.ones(4)) == 0.0
    coef[0, 0] = np.nan
    assert np.isnan(lipschitz(coef, "l2", np.ones(4)))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_corrected_flow_is_the_nearest_with_its_divergence(n_classes):
    rng = np.random.default_rng(n_classes)
    gradient = zero_sum(rng, n_classes, 3)
    flow = rng.normal(size=(len(incidence(n_classes)), 3))
    found = with_divergence(flow, gradient)
    np.testing.assert_allclose(divergence(found, n_classes), gradient, atol=1e-13)
    missing = gradient - divergence(flow, n_classes)
    smallest = np.linalg.pinv(incidence(n_classes).T) @ missing
    np.testing.assert_allclose(found, flow + smallest, atol=1e-12)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("n_classes", [2, 5, FEW_CLASSES + 3])
@every_norm
def test_the_cost_of_a_flow_is_that_of_the_nearest_with_the_divergence(
    norm, n_classes, kind
):
    rng = np.random.default_rng(n_classes)
    gradient, cost = zero_sum(rng, n_classes, 3), rng.uniform(0.3, 3.0, 3)
    flow = rng.normal(size=(len(incidence(n_classes)), 3)).astype(kind)
    length = NORMS[norm].of_rows
    corrected = with_divergence(flow.astype(np.float64), gradient)
    wanted = length(corrected * cost).sum()
    found = flow_cost(flow, gradient, length, cost)
    assert found == pytest.approx(wanted, rel=1e-13)


class TestTriangleBound:
    """lam >= ||M_i|| + ||M_j|| for all i, j, and the polar of that."""

    rng = np.random.default_rng(0)

    def test_modulus_is_the_largest_sum_of_two_lengths(self):
        coef, cost = self.rng.normal(size=(4, 3)), np.array([0.5, 2.0, np.inf])
        lengths = np.linalg.norm(coef[:, :2] / cost[:2], axis=1)
        largest = max(a + b for a in lengths for b in lengths)
        assert lipschitz(coef, "triangle", cost) == pytest.approx(largest)
        assert lipschitz(coef, "triangle", cost) >= lipschitz(coef, "l2", cost)

    def test_polar_bounds_every_product_and_is_attained(self):
        cost = np.array([0.5, 2.0, 1.0])
        gradient = self.rng.normal(size=(4, 3))
        bound = polar(gradient, "triangle", cost)
        for _ in range(200):
            coef = self.rng.normal(size=(4, 3))
            product = float((gradient * coef).sum())
            assert product <= bound * lipschitz(coef, "triangle", cost) + 1e-12
        scaled = gradient * cost
        best = cost * scaled / np.linalg.norm(scaled, axis=1, keepdims=True) / 2
        assert lipschitz(best, "triangle", cost) == pytest.approx(1.0)
        assert float((gradient * best).sum()) == pytest.approx(bound)


def test_a_gradient_of_two_classes_flows_along_the_pair_between_them():
    gradient = np.zeros((4, 2))
    gradient[1], gradient[3] = [3.0, 4.0], [-3.0, -4.0]
    assert polar(gradient, "l2", np.ones(2)) == pytest.approx(5.0, rel=1e-6)
    assert polar(np.zeros((4, 2)), "l2", np.ones(2)) == 0.0


def test_no_classes_and_no_features_have_no_modulus():
    for norm in (*NORMS, "triangle"):
        for shape in ((0, 2), (3, 0), (1, 2)):
            coef, cost = np.zeros(shape), np.ones(shape[1])
            assert lipschitz(coef, norm, cost) == 0.0
    assert lipschitz(np.ones((1, 2)), "l2", np.ones(2)) == 0.0
    none = np.zeros(3, dtype=bool)
    assert lipschitz(np.eye(3), "l2", np.ones(3), none) == 0.0


def test_pairs_come_in_the_order_of_flows():
    first, second = class_pairs(4)
    assert [*zip(first.tolist(), second.tolist(), strict=True)] == [
        (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)
    ]  # fmt: skip


def test_polars_by_hand():
    gradient, cost = np.array([[3.0, -1.0], [-3.0, 1.0]]), np.array([1.0, 4.0])
    assert polar(gradient, "l1", cost) == 3.0 + 4.0
    assert polar(gradient, "l2", cost) == 5.0
    assert polar(gradient, "linf", cost) == 4.0
    assert polar(gradient, "triangle", cost) == 5.0
    # A given flow is paid for at the costs of its features.
    three = np.array([[3.0, 4.0], [-3.0, 0.0], [0.0, -4.0]])
    flow = np.array([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]])
    assert polar(three, "l2", np.array([1.0, 2.0]), flow) == pytest.approx(3.0 + 8.0)
    assert polar(three, "linf", np.array([1.0, 2.0]), flow) == pytest.approx(3.0 + 8.0)


SLOPE = np.array([3.0, -8.0, 100.0, 0.0])
COST = np.array([1.0, 2.0, np.inf, 1.0])


@pytest.mark.parametrize(
    ("norm", "expected"),
    [
        ("l1", [0.0, -0.5, 0.0, 0.0]),
        ("l2", [0.6, -0.4, 0.0, 0.0]),
        ("linf", [1.0, -0.5, 0.0, 0.0]),
    ],
)
def test_a_unit_of_cost_goes_where_the_slope_is_steepest_for_its_price(norm, expected):
    found = steepest_direction(SLOPE, norm, COST)
    np.testing.assert_allclose(found, expected)
