"""Masses of the rows that are not at rest."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem, dual_bound
from wdrsvm.problem.certificate.tilts import EQUALITY_ROUNDING
from wdrsvm.solvers import solve
from wdrsvm.solvers.first_order import feasible_multipliers
from wdrsvm.solvers.first_order.feasible_multipliers import feasible
from wdrsvm.solvers.first_order.moving_masses import Entries, balanced
from wdrsvm.solvers.first_order.places_of_rows.masses import moving_rows
from wdrsvm.solvers.first_order.settings import FIRST_ORDER
from wdrsvm.solvers.first_order.state import Ascent
from wdrsvm.solvers.result import SolverSettings, SolverStatus


def masses(n_rows=60, n_classes=5, seed=0):
    """Masses on two or three classes, in sum the weights, and labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    weight = rng.uniform(0.5, 1.5, n_rows)
    weight /= weight.sum()
    alpha = rng.uniform(0.0, 1.0, (n_rows, n_classes))
    alpha[rng.uniform(size=alpha.shape) < 0.5] = 0.0
    alpha[np.arange(n_rows), y] += 1.0
    alpha *= (weight / alpha.sum(axis=1))[:, None]
    return alpha, weight, y


def trained(n_epochs=8, fit_intercept=True):
    """The state after some epochs on rows of which many come to rest."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 6
    X = 3 * np.eye(6)[y] @ rng.normal(size=(6, 8)) + rng.normal(size=(300, 8))
    ball, weight = WassersteinBall(0.05), np.full(300, 1 / 300)
    problem = RobustProblem.of(X, y, weight, ball, 6, fit_intercept=fit_intercept)
    ascent = Ascent(problem, None, 0)
    for _ in range(n_epochs):
        ascent.sweep()
        ascent.recentre()
    return ascent


def test_moving_rows_have_mass_off_their_label():
    y = np.array([0, 1, 1])
    alpha = np.array([[1.0, 0.0], [0.5, 0.5], [1.0, 0.0]])
    assert moving_rows(alpha, y).tolist() == [1, 2]


def test_balanced_masses_have_the_sums_of_the_labels():
    alpha, weight, y = masses()
    found = balanced(alpha, weight, y)
    np.testing.assert_allclose(found.sum(axis=1), weight, rtol=1e-12)
    labels = np.bincount(y, weight)
    assert np.abs(found.sum(axis=0) - labels).max() <= EQUALITY_ROUNDING
    assert found.min() >= 0
    assert not found[alpha == 0].any()
    # They were out of balance, and no more than that was changed.
    lack = np.abs(alpha.sum(axis=0) - labels).sum()
    assert lack > 1e-3
    assert np.abs(found - alpha).sum() <= 10 * lack


def test_rows_without_weight_have_no_mass():
    alpha, weight, y = masses()
    idle = np.arange(0, 60, 7)
    weight[idle] = 0.0
    found = balanced(alpha, weight, y)
    assert not found[idle].any()
    others = weight > 0
    np.testing.assert_array_equal(
        found[others], balanced(alpha[others], weight[others], y[others])
    )


@pytest.mark.parametrize("share", [1.0, 0.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_rows_at_rest_change_no_bound(monkeypatch, fit_intercept, share):
    """The moving rows alone have the sums of all rows, and all multipliers come back."""
    ascent = trained(fit_intercept=fit_intercept)
    told = ascent.problem, ascent.layout, ascent.duals
    slow = feasible(*told)
    assert slow.moving is None
    of_any_size = replace(FIRST_ORDER, least_moving_entries=0, max_moving_share=share)
    monkeypatch.setattr(feasible_multipliers, "FIRST_ORDER", of_any_size)
    quick = feasible(*told)
    assert quick.moving is not None
    # Many moving rows are not copied: the rows at rest stay among them.
    assert len(quick.moving) == 300 if share == 0 else len(quick.moving) < 300
    assert quick.value == pytest.approx(slow.value, rel=1e-6)
    np.testing.assert_allclose(quick.gradient, slow.gradient, atol=1e-6)
    masses = quick.multipliers(None).alpha
    np.testing.assert_allclose(masses.sum(axis=1), ascent.problem.weight, rtol=1e-9)
    np.testing.assert_allclose(masses, slow.multipliers(None).alpha, atol=1e-6)


def test_the_whole_method_with_moving_rows_alone(monkeypatch):
    """The bounds are proven anew from the multipliers that come back."""
    of_any_size = replace(FIRST_ORDER, least_moving_entries=0)
    monkeypatch.setattr(feasible_multipliers, "FIRST_ORDER", of_any_size)
    problem = trained(n_epochs=0).problem
    found = solve(problem, "first-order", SolverSettings(tol=1e-4))
    exact = solve(problem, "interior-point", SolverSettings(tol=1e-8))
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.dual_bound <= exact.certificate.objective
    assert exact.certificate.dual_bound <= found.certificate.objective
    proven = dual_bound(problem, found.multipliers)
    assert proven == pytest.approx(found.certificate.dual_bound, rel=1e-3)


def test_a_row_whose_mass_is_clipped_does_not_change():
    alpha = np.array([[0.0, 0.3, 0.2], [0.5, 0.0, 0.0]])
    entries = Entries.of(alpha, np.array([0.5, 0.5]), np.array([0, 1]))
    clipped = entries._restored(entries.mass * np.array([0.0, 0.0, 2.0]))
    np.testing.assert_allclose(clipped.table(as_sparse=False), alpha)
