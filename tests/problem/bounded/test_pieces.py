"""Gains of pairs as linear functions of the row, against the moves of every row."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from wdrsvm.problem.bounded.pieces import (
    PairView,
    _over_winners,
    affine_gains,
    chosen_pieces,
)

from ...agreement.bounded_instances import bounded_problem


@pytest.mark.parametrize("lam", [0.0, 0.3, 1.0, 50.0])
@pytest.mark.parametrize("seed", range(6))
def test_gains_and_costs_are_those_of_the_best_moves(seed, lam):
    problem = bounded_problem(seed, "l1", n_rows=9)
    rng, moves = np.random.default_rng(seed), problem.moves
    coef = rng.normal(size=(problem.n_classes, problem.n_features))
    gains = affine_gains(moves, coef, lam)
    X = problem.X - problem.centre
    gain = X @ gains.gain_slope.T + gains.gain_offset
    cost = X @ gains.cost_slope.T + gains.cost_offset
    for k, (j, c) in enumerate(zip(*moves.pairs, strict=True)):
        slope = coef[j] - coef[c]
        np.testing.assert_allclose(gain[:, k], moves.gain(slope, lam), atol=1e-12)
        np.testing.assert_allclose(cost[:, k], moves.moved(slope, lam)[1], atol=1e-12)


def test_far_features_keep_their_digits():
    """The same rows a million units away, with an intercept that takes up the shift."""
    problem = bounded_problem(0, "l1", n_rows=9)
    ball = problem.ball
    far = 1e6
    low, high = ball.box(problem.n_features)
    moved = replace(problem, ball=replace(ball, support=(low + far, high + far)))
    moved = moved.with_rows(X=problem.X + far)
    rng = np.random.default_rng(0)
    coef = rng.normal(size=(problem.n_classes, problem.n_features))
    intercept = rng.normal(size=problem.n_classes)
    expected = problem.risk(coef, intercept).value
    found = moved.risk(coef, intercept - far * coef.sum(axis=1)).value
    assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("temperature", [0.25, 1.0, 3.0])
def test_a_smooth_loss_weighs_all_winners(temperature):
    losses, costs = np.random.default_rng(0).normal(size=(2, 3, 3, 5))
    loss, spent = _over_winners(losses, costs, temperature)
    scaled = losses / temperature
    np.testing.assert_allclose(loss, temperature * logsumexp(scaled, axis=1))
    np.testing.assert_allclose(spent, (softmax(scaled, axis=1) * costs).sum(axis=1))


def test_a_winner_that_gains_nothing_leaves_the_row_to_its_label():
    problem = bounded_problem(0, "l1", n_rows=9)
    coef, moves = np.zeros((problem.n_classes, problem.n_features)), problem.moves
    gains = affine_gains(moves, coef, 1.0)
    view = PairView(coef, np.zeros(problem.n_classes), 1.0, *moves.pairs, gains)
    nothing = np.zeros((len(moves.pairs[0]), 9))
    sums, choice = chosen_pieces(problem, slice(0, 9), view, nothing, nothing + 1.0)
    assert (sums.value, sums.cost) == (0.0, 0.0)
    np.testing.assert_array_equal(choice, np.stack([problem.y, problem.y], axis=1))
