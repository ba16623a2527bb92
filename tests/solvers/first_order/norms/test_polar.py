"""Flows between classes: right divergence, and never too short."""

import numpy as np
import pytest

from wdrsvm.problem.norms import NORMS, divergence, lipschitz, with_divergence
from wdrsvm.solvers.first_order.bound import feasible_pieces
from wdrsvm.solvers.first_order.norms.polar import shortest_flow

from ..cases import ascended, wide


def test_the_linf_flow_has_the_divergence_and_the_cost_that_the_bound_assumes():
    problem = wide("linf", 0.5)
    ascent = ascended(problem, 30)
    gradient = feasible_pieces(ascent.rows, ascent.layout, ascent.duals).gradient.T
    flow = with_divergence(ascent.block.flow(), gradient)
    np.testing.assert_allclose(divergence(flow, 3), gradient, atol=1e-14)
    cost = NORMS["linf"].of_rows(flow).sum()
    assert ascent.block.polar(gradient.T) == pytest.approx(cost, rel=1e-12)


def pair_weights(rng, n_classes, spread):
    weights = 10.0 ** -rng.uniform(0, spread, (n_classes, n_classes))
    weights = np.triu(weights, 1)
    return (weights + weights.T) / weights.sum()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("idle", [False, True])
def test_the_l2_polar_is_never_too_small(seed, idle):
    """<M, G> <= L(M) sigma(G) for every M, also if a class hardly takes part."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 7))
    gradient = rng.normal(size=(n_classes, 9))
    if idle:
        gradient[0] *= 1e-9
    gradient -= gradient.mean(axis=0)
    pairs = pair_weights(rng, n_classes, spread=12)
    polar = shortest_flow(gradient @ gradient.T, pairs)
    laplacian = np.diag(pairs.sum(axis=0)) - pairs
    for ridge in (0.0, 1e-3, 1.0):
        M = np.linalg.pinv(laplacian + ridge * np.eye(n_classes)) @ gradient
        modulus = lipschitz(M, "l2", np.ones(9))
        assert np.vdot(M, gradient) <= modulus * polar * (1 + 1e-12)
    assert polar <= np.linalg.norm(gradient, axis=1).sum() * (1 + 1e-6)
