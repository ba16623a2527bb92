"""Estimates are near what a certificate says, and decide nothing but when it is asked."""

import numpy as np
import pytest

from wdrsvm.problem import RobustProblem, WassersteinBall
from wdrsvm.solvers import SolverSettings, SolverStatus
from wdrsvm.solvers.first_order.feasible_multipliers import feasible
from wdrsvm.solvers.first_order.loop import first_order
from wdrsvm.solvers.first_order.places_of_rows.foresight import (
    FallingGap,
    Remembered,
    estimated_bound,
    estimated_risk,
)
from wdrsvm.solvers.first_order.settings import FIRST_ORDER
from wdrsvm.solvers.first_order.state import Ascent
from wdrsvm.solvers.interior_point.loop import interior_point
from wdrsvm.solvers.result import Progress

from .test_places import a_problem, an_ascent, places_at

TOL = 1e-3


@pytest.mark.tiny
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_the_risk_is_estimated_to_single_precision(share):
    """Half of a point has a multiple that is better."""
    ascent = an_ascent(8)
    ascent.block.coef, ascent.free_centre = (
        share * table for table in (ascent.block.coef, ascent.free_centre)
    )
    point = ascent.layout.original(ascent.block.coef, ascent.free_centre)
    exact = ascent.problem.risk(*point).value
    found = estimated_risk(ascent.problem, places_at(ascent).loss, ascent.block.coef)
    assert found.risk == pytest.approx(exact, rel=1e-5)
    multiples = [s * part for s in np.linspace(1, 3, 400) for part in point]
    risks = [
        ascent.problem.risk(coef, shift).value
        for coef, shift in zip(multiples[::2], multiples[1::2], strict=True)
    ]
    assert found.least == pytest.approx(min(risks), rel=1e-3)
    assert share == 1 or found.least < 0.95 * found.risk


@pytest.mark.tiny
def test_without_an_intercept_the_bound_is_that_of_the_certificate():
    ascent = an_ascent(6, fit_intercept=False)
    made = feasible(ascent.problem, ascent.layout, ascent.duals)
    exact = made.bound(ascent.problem, ascent.block.polar(made.gradient))
    found = estimated_bound(ascent.problem, ascent.duals.alpha, ascent.block, 0.0)
    assert found.bound == pytest.approx(exact, rel=1e-6)
    assert found.value == pytest.approx(made.value, rel=1e-9)
    np.testing.assert_allclose(found.gradient, made.gradient, atol=1e-12)


def told(monkeypatch, share):
    """Estimates whose gap is this share of the objective; returns the epochs of looks."""
    looks, foresee = [], Ascent.foresee

    def estimate(ascent, tol):
        seen = foresee(ascent, tol)
        if seen is None:
            return None
        looks.append(seen.n_iter)
        return Progress(seen.n_iter, seen.objective, (1 - share) * seen.objective, 0.0)

    monkeypatch.setattr(Ascent, "foresee", estimate)
    return looks


@pytest.fixture
def certified(monkeypatch):
    """One entry for each certificate."""
    calls, certify = [], Ascent.certify

    def count(ascent, best, foreseen=False):
        calls.append(foreseen)
        certify(ascent, best, foreseen)

    monkeypatch.setattr(Ascent, "certify", count)
    return calls


def test_an_estimate_that_promises_too_much_proves_nothing(monkeypatch, certified):
    problem = a_problem()
    looks = told(monkeypatch, 0.0)
    found = first_order(problem, SolverSettings(tol=TOL))
    exact = interior_point(problem, SolverSettings(tol=1e-8)).certificate
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.holds(TOL)
    assert found.certificate.dual_bound <= exact.objective
    assert found.certificate.objective >= exact.dual_bound
    # The first certificate tells by how much estimates are wrong.
    assert len(looks) > len(certified) > 1


def test_what_an_estimate_was_too_good_by_fades(monkeypatch, certified):
    """Estimates that never change: one certificate must not be the last for long."""
    told(monkeypatch, 0.0)
    found = first_order(a_problem(), SolverSettings(tol=TOL, max_iter=400))
    assert found.certificate.holds(TOL)
    assert len(certified) > 1
    # Else the next one is asked for when places are given up, after 237 epochs.
    assert found.n_iter < 160


def test_an_estimate_that_promises_nothing_ends_with_a_certificate(monkeypatch, certified):
    looks = told(monkeypatch, 0.5)
    found = first_order(a_problem(), SolverSettings(tol=TOL, max_iter=40))
    assert looks[-1] == found.history[-1].n_iter == found.n_iter == 40
    assert len(certified) == 1
    assert found.certificate.dual_bound > 0
    # All looks are reported, with what is proven by then.
    assert len(found.history) == len(looks)
    assert all(record.dual_bound == -np.inf for record in found.history[:-1])
    assert found.history[-1].dual_bound == found.certificate.dual_bound


def test_a_trial_without_hope_ends_with_a_certificate(monkeypatch):
    told(monkeypatch, 0.9)
    settings = SolverSettings(tol=TOL, max_iter=50, gives_up=True)
    found = first_order(a_problem(), settings)
    assert found.n_iter == FIRST_ORDER.first_check
    assert found.certificate.dual_bound > 0


def test_most_looks_are_estimates(monkeypatch, certified):
    looks, foresee = [], Ascent.foresee
    monkeypatch.setattr(
        Ascent, "foresee", lambda ascent, tol: looks.append(1) or foresee(ascent, tol)
    )
    found = first_order(a_problem(), SolverSettings(tol=TOL))
    assert found.certificate.holds(TOL)
    assert len(looks) >= 2 * len(certified)


def test_there_is_no_estimate_where_labels_can_be_flipped():
    rng = np.random.default_rng(0)
    ball, weight = WassersteinBall(0.05, 1.0), np.full(30, 1 / 30)
    rows = rng.standard_normal((30, 4)), np.arange(30) % 3
    ascent = Ascent(RobustProblem.of(*rows, weight, ball, 3), None, 0)
    for _ in range(4):
        ascent.sweep()
        ascent.recentre()
    assert ascent.foresee(TOL) is None
    assert not ascent.recall()


@pytest.mark.tiny
def test_patience_ends_when_the_gap_does_not_fall():
    falling, n = FallingGap(), FIRST_ORDER.min_patience
    assert not any(falling.has_stopped(0.5**epoch, epoch) for epoch in range(3 * n))
    assert not falling.has_stopped(1.0, 4 * n)
    # It has fallen until 3 n: half of 6 n epochs went by in vain, then more.
    assert not falling.has_stopped(1.0, 6 * n - 2)
    assert falling.has_stopped(1.0, 6 * n)
    assert not FallingGap().has_stopped(np.inf, n)


def test_places_are_given_up_where_they_do_not_help(monkeypatch):
    """The fit goes on with all classes, and with certificates alone."""
    monkeypatch.setattr(FallingGap, "has_stopped", lambda falling, gap, epoch: epoch > 10)
    problem, looks, foresee = a_problem(), [], Ascent.foresee

    def noted(ascent, tol):
        looks.append(foresee(ascent, tol) is not None)
        return foresee(ascent, tol) if looks[-1] else None

    monkeypatch.setattr(Ascent, "foresee", noted)
    found = first_order(problem, SolverSettings(tol=1e-4))
    assert found.certificate.holds(1e-4)
    assert looks[0]
    assert not looks[-1]


@pytest.mark.tiny
def test_a_point_that_was_looked_at_is_remembered():
    ascent = an_ascent(5)
    block, price, alpha = ascent.block, ascent.price, ascent.duals.alpha
    kept = Remembered.of(block, ascent.free_centre, price, places_at(ascent))
    before = block.coef.copy(), block.pairs.copy(), alpha.copy(), price.lam
    ascent.sweep()
    ascent.recentre()
    # The table follows the epoch when it is asked for.
    assert not np.array_equal(ascent.duals.alpha, before[2])
    kept.restore(block, price, alpha)
    for now, then in zip((block.coef, block.pairs, alpha, price.lam), before, strict=True):
        np.testing.assert_array_equal(now, then)
