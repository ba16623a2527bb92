"""The balance of forces between classes: the least of a quadratic with the true norm."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

from wdrsvm.problem.pair_weights import pair_distances
from wdrsvm.solvers.newton.products.curvature.preconditioner import ClassInverse
from wdrsvm.solvers.newton.products.repair import pair_forces
from wdrsvm.solvers.newton.products.repair.pair_forces import (
    ForceAscent,
    Momentum,
    _raised,
)
from wdrsvm.solvers.newton.products.settings import PRODUCTS

RADIUS, N_CLASSES, N_TOUCHABLE = 0.4, 5, 3


def quadratic(seed=0):
    """Curvatures (C, Q, Q) of each class, their inverse, a point and a gradient there."""
    rng = np.random.default_rng(seed)
    n_columns = N_TOUCHABLE + 1
    diagonal = rng.uniform(0.5, 3.0, (N_CLASSES, n_columns))
    parts = rng.normal(size=(N_CLASSES, 2, n_columns))
    stiffness = rng.uniform(0.1, 0.3, N_CLASSES)
    curvature = np.einsum("crq,crp->cqp", parts, parts)
    curvature += diagonal[:, :, None] * np.eye(n_columns)
    inverse = ClassInverse.of(1 / (diagonal + stiffness[:, None]), parts, stiffness)
    point, gradient = rng.normal(size=(2, N_CLASSES, n_columns))
    return curvature, inverse, point, 0.3 * gradient


def largest(coef):
    return pair_distances(coef[:, :N_TOUCHABLE]).max()


def model(curvature, point, gradient, coef):
    step = coef - point
    bent = np.einsum("cqp,cp->cq", curvature, step)
    return np.vdot(gradient + 0.5 * bent, step) + RADIUS * largest(coef)


def even_forces():
    return np.ones((N_CLASSES, N_CLASSES)) - np.eye(N_CLASSES)


@pytest.mark.parametrize("seed", range(4))
def test_it_finds_the_least_of_the_model_with_the_true_norm(seed):
    curvature, inverse, point, gradient = quadratic(seed)
    ascent = ForceAscent(inverse, point, gradient, N_TOUCHABLE, RADIUS)
    found = ascent.run(even_forces(), rtol=1e-6)
    # An epigraph of the norm: a general method for smooth constraints.
    pairs = np.triu_indices(N_CLASSES, 1)

    def slack(unknowns):
        coef = unknowns[:-1].reshape(point.shape)[:, :N_TOUCHABLE]
        return unknowns[-1] ** 2 - ((coef[pairs[0]] - coef[pairs[1]]) ** 2).sum(axis=1)

    def value(unknowns):
        coef = unknowns[:-1].reshape(point.shape)
        plain = model(curvature, point, gradient, coef) - RADIUS * largest(coef)
        return plain + RADIUS * unknowns[-1]

    start = np.append(point.ravel(), largest(point))
    constraints = {"type": "ineq", "fun": slack}
    options = {"maxiter": 500, "ftol": 1e-12}
    best = optimize.minimize(value, start, constraints=constraints, options=options)
    assert best.success
    least = model(curvature, point, gradient, found.coef)
    assert least == pytest.approx(best.fun, abs=5e-4 * RADIUS * best.x[-1])
    assert found.length == pytest.approx(best.x[-1], rel=1e-2)
    assert found.excess <= 5e-3


def test_nothing_given_is_changed():
    _, inverse, point, gradient = quadratic()
    forces = even_forces()
    for each in (point, gradient, forces):
        each.setflags(write=False)
    ForceAscent(inverse, point, gradient, N_TOUCHABLE, RADIUS).run(forces, rtol=1e-4)


def test_a_class_that_no_force_holds_does_not_run_away():
    """Without curvature its own, it is held by forces that begin at nearly nothing."""
    _, inverse, point, gradient = quadratic()
    soft = inverse.diagonal.copy()
    soft[0] = 1e4
    gradient[0] = 0.0
    inverse = ClassInverse.of(
        soft, inverse.parts * np.eye(5)[0, :, None, None], soft[:, 0] * 0
    )
    forces = even_forces()
    forces[0] = forces[:, 0] = 1e-6
    found = ForceAscent(inverse, point, gradient, N_TOUCHABLE, RADIUS).run(forces, 1e-4)
    assert np.isfinite(found.coef).all()
    assert largest(found.coef) <= 1.01 * largest(point)


def test_forces_that_follow_too_boldly_are_tamed(monkeypatch):
    n_classes, n_columns = 40, 30
    rng = np.random.default_rng(0)
    point, gradient = rng.normal(size=(2, n_classes, n_columns))
    diagonal, parts = np.full_like(point, 5.0), np.zeros((n_classes, 1, n_columns))
    inverse = ClassInverse.of(diagonal, parts, np.zeros(n_classes))
    wild = replace(PRODUCTS, boldness=8.0, force_steps=60)
    monkeypatch.setattr(pair_forces, "PRODUCTS", wild)
    ascent = ForceAscent(inverse, point, 0.02 * gradient, n_columns, RADIUS)
    forces = np.ones((n_classes, n_classes)) - np.eye(n_classes)
    assert ascent.run(forces, 1e-4).excess <= 1e-2


def test_forces_that_come_no_nearer_are_given_up(monkeypatch):
    _, inverse, point, gradient = quadratic()
    patient = replace(PRODUCTS, force_steps=1000)
    monkeypatch.setattr(pair_forces, "PRODUCTS", patient)
    ascent, answers = ForceAscent(inverse, point, gradient, N_TOUCHABLE, RADIUS), []
    answered = ForceAscent._answer

    def spied(*told):
        answers.append(answered(*told))
        return answers[-1]

    monkeypatch.setattr(ForceAscent, "_answer", spied)
    ascent.run(even_forces(), rtol=-1.0)
    assert len(answers) < 10 * PRODUCTS.force_patience


def test_a_large_radius_makes_all_classes_equal():
    _, inverse, point, gradient = quadratic()
    found = ForceAscent(inverse, point, gradient, N_TOUCHABLE, 1e3).run(even_forces(), 1e-4)
    assert np.isfinite(found.coef).all()
    assert largest(found.coef) < 0.2 * largest(point)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_classes_with_equal_coefficients(kind):
    _, inverse, point, gradient = quadratic()
    point[1], point[2] = point[0], point[0] * (1 + 1e-7)
    inverse = ClassInverse.of(
        inverse.diagonal.astype(kind), inverse.parts.astype(kind), inverse.stiffness
    )
    told = (part.astype(kind) for part in (point, gradient))
    ascent = ForceAscent(inverse, *told, N_TOUCHABLE, RADIUS)
    found = ascent.run(even_forces(), rtol=1e-3)
    assert np.isfinite(found.coef).all()
    assert found.excess < 0.02


def test_more_steps_find_a_lower_risk_and_say_what_it_is():
    curvature, inverse, point, gradient = quadratic(1)
    ascent = ForceAscent(inverse, point, gradient, N_TOUCHABLE, RADIUS)
    loose, tight = (ascent.run(even_forces(), rtol) for rtol in (1e-1, 1e-5))
    assert tight.risk <= loose.risk
    for found in (loose, tight):
        expected = model(curvature, point, gradient, found.coef)
        assert found.risk == pytest.approx(expected, rel=1e-9)
        longest = largest(found.coef) / found.length - 1
        assert found.excess == pytest.approx(longest, abs=1e-9)


def test_raised_forces_keep_their_total_and_follow_the_lengths():
    rng = np.random.default_rng(0)
    forces, lengths = (np.triu(rng.uniform(size=(6, 6)), 1) for _ in range(2))
    forces, lengths = forces + forces.T, lengths + lengths.T
    paces = np.full_like(forces, 0.7)
    level = float(np.vdot(forces, lengths) / forces.sum())
    raised = _raised(forces, paces, lengths, level)
    assert raised.sum() == pytest.approx(forces.sum(), rel=1e-6)
    assert (raised >= 0).all()
    assert not np.diag(raised).any()
    held = (raised > 0) & (forces > 0)
    change = (raised - forces)[held] - 0.7 * lengths[held]
    assert np.ptp(change) < 1e-12  # The same level for all.


def test_momentum_that_leads_astray_is_forgotten():
    forces = np.array([[0.0, 1.0], [1.0, 0.0]])
    paces = np.ones((2, 2))
    astray = Momentum(forces, 3 * forces, number=5.0).moved(2 * forces, paces)
    assert astray.number == Momentum(forces, forces).moved(forces, paces).number
    kept = Momentum(forces, forces, number=5.0).moved(2 * forces, paces)
    assert kept.number > 5.0
    assert kept.tried.sum() == pytest.approx(4.0)


def test_small_forces_are_not_lost_beside_long_lengths():
    forces, lengths = 1e-12 * even_forces(), 1e6 * even_forces()
    raised = _raised(forces, np.ones_like(forces), lengths, 1e6)
    np.testing.assert_allclose(raised, forces, rtol=1e-12)


def test_where_rounding_leaves_no_force_the_old_ones_stay():
    forces = even_forces()
    state = Momentum(forces, forces)
    assert state.moved(np.zeros_like(forces), np.ones_like(forces)) is state
