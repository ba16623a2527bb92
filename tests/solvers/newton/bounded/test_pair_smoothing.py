"""Smoothed pieces of a bounded ball: bounds, derivatives and masses."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.problem import LOSSES, Loss
from wdrsvm.solvers.interior_point.bounded.layout import BoundedLayout
from wdrsvm.solvers.newton.bounded.smoothed_risk import BoundedSmoothedRisk

from ....agreement.bounded_instances import bounded_problem

LOSS_FAMILY = [LOSSES["crammer-singer"], LOSSES["logistic"], Loss(0.3, 1.0)]
STEP = 1e-5


def passes_of(seed, loss=LOSSES["crammer-singer"], trusted=False):
    problem = replace(bounded_problem(seed, "l1", n_rows=12), loss=loss)
    if trusted:
        problem = replace(problem, ball=replace(problem.ball, label_cost=np.inf))
    layout = BoundedLayout.of(problem, problem.X.mean(axis=0))
    with problem.reduction() as reduction:
        return BoundedSmoothedRisk.over(problem, layout, reduction)


def random_point(passes, seed, mu=0.4):
    """A point that need not be feasible: the rows do not know the constraints."""
    rng, lay = np.random.default_rng(seed), passes.layout
    coef = rng.normal(size=(passes.problem.n_classes, lay.n_shared))
    own = rng.exponential(size=(lay.n_pairs, lay.n_own))
    return coef, 0.7, own, mu


def evaluated(passes, coef, lam, own, mu):
    return passes.evaluate(passes.point(passes.layout.local(coef, lam, own), lam, mu))


def gradient(passes, *point):
    """By coef and lam, from masses and moments."""
    now, lay = evaluated(passes, *point), passes.layout
    pull = now.moments @ lay.lift
    by_coef = np.zeros_like(point[0])
    np.add.at(by_coef, lay.winner, pull[:, : lay.n_shared])
    np.subtract.at(by_coef, lay.label, pull[:, : lay.n_shared])
    return np.append(by_coef.ravel(), -now.on_flips)


def moved(point, change):
    coef, lam, own, mu = point
    return coef + change[:-1].reshape(coef.shape), lam + change[-1], own, mu


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("loss", LOSS_FAMILY, ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_masses_are_the_derivatives_of_the_loss(seed, loss, trusted):
    passes = passes_of(seed, loss, trusted)
    point, rng = random_point(passes, seed), np.random.default_rng(seed)
    for _ in range(3):
        change = STEP * rng.normal(size=point[0].size + 1)
        there, back = (
            evaluated(passes, *moved(point, sign * change)).loss for sign in (1, -1)
        )
        expected = gradient(passes, *point) @ change
        assert (there - back) / 2 == pytest.approx(expected, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("loss", LOSS_FAMILY, ids=str)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_curvature_is_that_of_the_gradient(seed, loss, trusted):
    passes = passes_of(seed, loss, trusted)
    point, lay = random_point(passes, seed), passes.layout
    first, size = lay.columns["lam"].stop, point[0].size + 1
    now = evaluated(passes, *point)
    at = passes.point(lay.local(*point[:3]), point[1], point[3])
    basis = np.zeros((lay.n_pairs, lay.lift.shape[1], first + 1))
    basis[:, :first, :first] = np.eye(first)
    matrix = passes.curvature(at, passes.frames(basis), now, 1.0, 0)[:size, :size]
    for direction in np.random.default_rng(seed).normal(size=(3, size)):
        there, back = (
            gradient(passes, *moved(point, sign * STEP * direction)) for sign in (1, -1)
        )
        expected = (there - back) / (2 * STEP)
        # Rows that are nearly decided have no curvature.
        np.testing.assert_allclose(matrix @ direction, expected, atol=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_the_smoothed_loss_lies_above_the_loss_and_tends_to_it(seed):
    """Up to mu times the logarithm of the number of pieces."""
    passes = passes_of(seed)
    coef, lam, own, _ = random_point(passes, seed)
    losses = [evaluated(passes, coef, lam, own, mu).loss for mu in (1e-6, 0.01, 0.1, 1.0)]
    assert losses == sorted(losses)
    n_pieces = passes.problem.n_classes**2
    assert losses[2] <= losses[0] + 0.1 * np.log(n_pieces)


@pytest.mark.parametrize("trusted", [True, False])
def test_masses_sum_to_the_weights(trusted):
    passes = passes_of(1, trusted=trusted)
    coef, lam, own, mu = random_point(passes, 1, mu=0.01)
    at = passes.point(passes.layout.local(coef, lam, own), lam, mu)
    n_rows = passes.problem.n_rows
    mass = passes.masses(at).rows(passes.problem, slice(0, n_rows))
    assert mass.shape == (passes.layout.n_pairs, passes.problem.n_rows)
    assert (mass.sum(axis=0) <= passes.problem.weight * (1 + 1e-12)).all()
    np.testing.assert_allclose(
        mass.sum(axis=1), passes.evaluate(at).moments[:, -1], rtol=1e-12
    )
    every = passes.masses(at, with_stays=True).rows(passes.problem, slice(0, n_rows))
    np.testing.assert_array_equal(every[: len(mass)], mass)
    np.testing.assert_allclose(every.sum(axis=0), passes.problem.weight)


def test_margins_tell_the_two_largest_pieces_apart():
    passes = passes_of(0)
    coef, lam, own, _ = random_point(passes, 0)
    local = passes.layout.local(coef, lam, own)
    at = passes.point(local, lam, 1e-13)
    least, found = passes.margins(at, 4)
    np.testing.assert_array_equal(least, np.sort(found)[:4])
    problem, price = passes.problem, passes.problem.label_price()
    X = np.hstack([problem.X, np.ones((problem.n_rows, 1))])
    for n in range(problem.n_rows):
        pieces = [0.0]
        for k, (j, c) in enumerate(
            zip(passes.layout.winner, passes.layout.label, strict=True)
        ):
            assert j != c
            if np.isfinite(price[n, c]):
                value = 1 + X[n] @ passes.layout.lift @ local[k] - lam * price[n, c]
                pieces.append(value)
        largest = sorted(pieces)[-2:]
        assert found[n] == pytest.approx(largest[1] - largest[0])
