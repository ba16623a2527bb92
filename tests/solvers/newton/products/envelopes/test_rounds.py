"""Training with envelopes against other methods, by certificates alone."""

import numpy as np
import pytest

from wdrsvm.problem import Loss, certify
from wdrsvm.solvers import SolverSettings, SolverStatus, Start, choose, solve
from wdrsvm.solvers.newton.products.envelopes import rounds
from wdrsvm.solvers.newton.products.envelopes.rounds import envelope_newton
from wdrsvm.solvers.newton.products.envelopes.settings import ENVELOPES
from wdrsvm.solvers.newton.products.loop import product_newton
from wdrsvm.solvers.newton.smooth_loss import label_newton

from ..test_loop import blobs, bound_holds

NORMS = ["l1"]


def agree(one, other):
    """Whether each bound is below the other objective."""
    first, second = one.certificate, other.certificate
    below = first.dual_bound <= second.objective and second.dual_bound <= first.objective
    return below and bound_holds(one) and bound_holds(other)


@pytest.mark.parametrize("n_classes", [3, 20, 50])
@pytest.mark.parametrize(("norm", "tol"), [("l1", 1e-2), ("l1", 1e-3), ("l1", 1e-5)])
def test_it_certifies_what_newton_finds(norm, n_classes, tol):
    problem = blobs(ball={"norm": norm}, n_classes=n_classes)
    found = envelope_newton(problem, SolverSettings(tol=tol))
    other = label_newton(problem, SolverSettings(tol=1e-7))
    assert found.status is SolverStatus.CONVERGED
    assert agree(found, other)
    value = problem.risk(found.coef, found.intercept).value
    assert value == pytest.approx(found.certificate.objective, rel=1e-12)


@pytest.mark.parametrize("n_classes", [3, 20, 50])
@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-5])
def test_it_may_know_which_coefficients_are_held(monkeypatch, n_classes, tol):
    monkeypatch.setattr(rounds, "knows_entries", lambda problem, n_columns: True)
    test_it_certifies_what_newton_finds("l1", n_classes, tol)


@pytest.mark.usefixtures("both_searches")
@pytest.mark.parametrize(
    "options",
    [
        {"fit_intercept": False},
        {"loss": Loss(temperature=0.3, margin=1.0)},
        {"feature_cost": np.linspace(0.5, 2.0, 8)},
        {"n_rows": 40, "n_features": 60, "n_classes": 5},
        {"n_classes": 2},
        {"n_rows": 100, "n_features": 30, "n_classes": 50},
    ],
    ids=str,
)
@pytest.mark.parametrize("norm", NORMS)
def test_every_kind_of_problem_it_knows(norm, options):
    options = dict(options)
    cost = options.pop("feature_cost", None)
    ball = {"norm": norm} | ({} if cost is None else {"feature_cost": cost})
    problem = blobs(ball=ball, **options)
    found = envelope_newton(problem, SolverSettings(tol=1e-3))
    other = solve(problem, "first-order", SolverSettings(tol=1e-3))
    assert found.status is SolverStatus.CONVERGED
    assert agree(found, other)


@pytest.mark.parametrize("radius", [1e-3, 0.01, 0.3, 1.0, 30.0])
@pytest.mark.parametrize("norm", NORMS)
def test_radii_of_all_sizes(norm, radius):
    problem = blobs(ball={"radius": radius, "norm": norm})
    found = envelope_newton(problem, SolverSettings(tol=1e-3))
    assert found.status is SolverStatus.CONVERGED
    assert bound_holds(found)


@pytest.mark.parametrize("norm", NORMS)
def test_others_can_recompute_the_bound(norm):
    problem = blobs(ball={"norm": norm})
    found = envelope_newton(problem, SolverSettings(tol=1e-3))
    again = certify(problem, found.coef, found.intercept, found.multipliers)
    assert again.dual_bound == pytest.approx(found.certificate.dual_bound, rel=1e-9)


@pytest.mark.parametrize("norm", NORMS)
def test_auto_takes_it_where_unknowns_are_more_than_rows(norm):
    problem = blobs(ball={"norm": norm}, n_rows=100, n_features=30)
    assert choose(problem, 1e-3) == "newton"
    found = solve(problem, "auto", SolverSettings(tol=1e-3))
    assert found.solver == "newton"
    same = envelope_newton(problem, SolverSettings(tol=1e-3))
    np.testing.assert_array_equal(found.coef, same.coef)


@pytest.mark.parametrize("norm", NORMS)
def test_a_neighbours_classifier_serves_as_start(norm):
    problem = blobs(ball={"norm": norm})
    near = envelope_newton(problem.with_radius(0.055), SolverSettings(tol=1e-4))
    start = Start(near.coef, near.intercept, near.certificate.lam)
    warm = envelope_newton(problem, SolverSettings(tol=1e-4), start)
    assert warm.status is SolverStatus.CONVERGED
    assert bound_holds(warm)


@pytest.mark.parametrize("norm", NORMS)
def test_the_limit_of_steps_holds_and_what_is_returned_is_certified(norm):
    problem = blobs(ball={"norm": norm})
    found = envelope_newton(problem, SolverSettings(tol=1e-6, max_iter=3))
    assert found.n_iter == 3
    assert found.status is SolverStatus.MAX_ITER
    assert bound_holds(found)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_features_that_are_all_zero_leave_a_constant_classifier(norm, fit_intercept):
    problem = blobs(ball={"norm": norm}, n_classes=6, fit_intercept=fit_intercept)
    problem = problem.with_rows(X=np.zeros_like(problem.X))
    found = envelope_newton(problem, SolverSettings(tol=1e-4))
    assert found.status is SolverStatus.CONVERGED
    np.testing.assert_allclose(found.coef, 0.0, atol=1e-9)


@pytest.mark.parametrize("norm", NORMS)
def test_threads_change_nothing(norm, monkeypatch):
    problem = blobs(6000, ball={"norm": norm})
    first = envelope_newton(problem, SolverSettings(tol=1e-2))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    second = envelope_newton(problem, SolverSettings(tol=1e-2))
    np.testing.assert_array_equal(first.coef, second.coef)


def test_rows_that_can_be_told_apart_take_fewer_steps_than_with_the_power_mean():
    """With more unknowns than rows most coefficients are at the bound of the l1 norm."""
    problem = blobs(ball={"norm": "l1"}, n_rows=200, n_features=60)
    limit = SolverSettings(tol=1e-3, max_iter=150)
    assert envelope_newton(problem, limit).status is SolverStatus.CONVERGED
    assert product_newton(problem, limit).status is not SolverStatus.CONVERGED


class Watched(rounds.EnvelopeRounds):
    """Rounds that keep the steps at which a certificate was considered: the smoothed risk,
    the true ones of repaired and of clipped coefficients, and how many were asked for."""

    seen: list

    def _consider(self):
        descent = self.descent
        clipped, n = descent.coef.copy(), descent.n_touchable
        bound = descent.smoothed.level / 2
        clipped[:, :n] = np.clip(clipped[:, :n], -bound, bound)
        pair = (descent.repaired(1e-3), clipped)
        scaling = self.design.scaling
        risks = [self.problem.risk(*scaling.original(coef)).value for coef in pair]
        self.seen.append((descent.n_iter, descent.smooth_risk, *risks, self.n_asked))
        super()._consider()


def watched(problem, monkeypatch):
    monkeypatch.setattr(Watched, "seen", [], raising=False)
    found = product_newton(problem, SolverSettings(tol=1e-3), rounds=Watched)
    return found, Watched.seen


def test_every_step_may_lead_to_a_certificate_once_there_are_multipliers(monkeypatch):
    found, seen = watched(blobs(ball={"norm": "l1"}, n_classes=20), monkeypatch)
    first = seen[0][0]
    assert 1 < first < found.n_iter // 2
    assert [n_iter for n_iter, *_ in seen] == list(range(first, found.n_iter + 1))


def test_after_failed_certificates_the_steps_have_to_settle(monkeypatch):
    """Estimates that mislead may do so at every step; certificates are dear."""
    monkeypatch.setattr(
        Watched, "_foreseen_bound", lambda self, fit: self.descent.smooth_risk
    )
    found, seen = watched(blobs(ball={"norm": "l1"}, n_classes=20), monkeypatch)
    most = ENVELOPES.most_misled
    failed = next(n_iter for n_iter, *_, n_asked in seen if n_asked >= most) - 1
    later = [n_iter for n_iter, *_ in seen if n_iter > failed]
    assert len(later) < 0.8 * (found.n_iter - failed)


def test_the_nearest_coefficients_cost_less_than_clipped_ones(monkeypatch):
    _, seen = watched(blobs(ball={"norm": "l1"}, n_classes=20), monkeypatch)
    _, smooth, nearest, clipped, _ = np.array(seen[-8:]).T
    assert (nearest - smooth).mean() < 0.5 * (clipped - smooth).mean()
