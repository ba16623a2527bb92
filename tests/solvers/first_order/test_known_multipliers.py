"""Starts that bring multipliers: the first-order method goes on where a neighbour ended."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from wdrsvm.problem import LOSSES, RobustProblem, WassersteinBall
from wdrsvm.solvers import SolverSettings, solve
from wdrsvm.solvers.chain import chain_of
from wdrsvm.solvers.first_order.known_multipliers import resumable
from wdrsvm.solvers.first_order.state import Ascent
from wdrsvm.solvers.neighbours import Neighbour

LOOSE = SolverSettings(tol=1e-3)


def embeddings(radius=0.05, norm="l2", label_cost=np.inf, loss="crammer-singer"):
    """Rows of unit length around six centres, half of which overlap."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 6
    X = rng.standard_normal((6, 20))[y] + rng.standard_normal((240, 20))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    ball = WassersteinBall(radius, label_cost, norm=norm)
    weight = rng.uniform(0.5, 1.5, 240)
    return RobustProblem.of(X, y, weight / weight.sum(), ball, 6, loss=LOSSES[loss])


def with_radius(problem, radius):
    return replace(problem, ball=replace(problem.ball, radius=radius))


def solved(problem, start=None, settings=LOOSE):
    return solve(problem, "first-order", settings, start)


def start_of(problem):
    return Neighbour(problem, solved(problem)).start


@pytest.mark.parametrize("label_cost", [np.inf, 0.5])
def test_a_resumed_state_is_that_of_its_multipliers(label_cost):
    problem = embeddings(label_cost=label_cost)
    start = start_of(problem)
    ascent = Ascent(problem, start, seed=0)
    alpha, phi, beta = ascent.duals
    slopes = alpha.copy() if len(phi) == 0 else alpha + beta - phi
    slopes[np.arange(len(alpha)), problem.y] -= alpha.sum(axis=1)
    block = ascent.block
    expected = ascent.layout.touch.T @ slopes - block.damping * block.coef
    assert_allclose(block.residual, expected, atol=1e-12)
    assert_allclose(block.gram, block.residual.T @ block.residual, atol=1e-12)
    assert_array_equal(block.pairs, block.pairs.T)
    assert np.tril(block.pairs).sum() == pytest.approx(1.0)
    spent = 0.0 if len(phi) == 0 else 0.5 * phi.sum()
    assert ascent.price.spent == pytest.approx(spent)


@pytest.mark.parametrize("lipschitz", ["exact", "triangle"])
def test_the_end_of_a_fit_is_a_good_start_for_it(lipschitz):
    exact = lipschitz == "exact"
    problem = replace(embeddings(0.03), lipschitz=lipschitz, fit_intercept=exact)
    found = solved(problem)
    again = solved(problem, Neighbour(problem, found).start)
    assert again.n_iter < found.n_iter / 2
    assert again.certificate.holds(1e-3)
    allowed = found.certificate.gap + again.certificate.gap
    assert abs(found.certificate.objective - again.certificate.objective) <= allowed


def test_a_start_is_not_changed():
    problem = embeddings(label_cost=0.5)
    start = start_of(problem)
    parts = (start.coef, start.multipliers.alpha, start.multipliers.phi)
    before = [part.copy() for part in parts]
    for part in parts:
        part.setflags(write=False)
    solved(with_radius(problem, 0.03), start)
    for part, old in zip(parts, before, strict=True):
        assert_array_equal(part, old)


def test_a_path_needs_fewer_epochs_with_multipliers():
    radii = 0.1, 0.07, 0.05, 0.035, 0.025
    problems = [with_radius(embeddings(), radius) for radius in radii]
    cold = [solved(problem) for problem in problems]
    neighbours = []
    with chain_of(problems[0], "first-order", LOOSE) as chain:
        for problem in problems:
            neighbours.append(chain.solve(problem, neighbours))
    warm = [neighbour.result for neighbour in neighbours]
    assert sum(r.n_iter for r in warm[1:]) < 0.9 * sum(r.n_iter for r in cold[1:])
    for ours, theirs in zip(warm, cold, strict=True):
        assert ours.certificate.holds(1e-3)
        assert ours.certificate.dual_bound <= theirs.certificate.objective
        assert theirs.certificate.dual_bound <= ours.certificate.objective


def test_only_multipliers_of_these_rows_are_resumed():
    problem = embeddings()
    start = start_of(problem)
    assert resumable(problem, start) is start.multipliers
    assert resumable(problem, None) is None
    assert resumable(problem, start._replace(multipliers=None)) is None
    assert resumable(embeddings(norm="linf"), start) is None
    assert resumable(embeddings(loss="logistic"), start) is None
    fewer = problem.with_rows(
        X=problem.X[1:], y=problem.y[1:], weight=problem.weight[1:] / 2
    )
    assert resumable(fewer, start) is None


def test_a_chain_starts_from_no_classifier_without_multipliers():
    problem = embeddings(norm="linf", radius=0.2)
    with chain_of(problem, "first-order", LOOSE) as chain:
        first = chain.solve(problem, [])
        again = chain.solve(problem, [first])
    assert again.result.n_iter == first.result.n_iter
