"""Training with smoothed lengths against other methods, by certificates alone."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from wdrsvm.problem import Loss, certify
from wdrsvm.solvers import SolverSettings, SolverStatus, Start, choose, solve
from wdrsvm.solvers.newton.products.lengths import rounds
from wdrsvm.solvers.newton.products.lengths.rounds import length_newton
from wdrsvm.solvers.newton.products.lengths.settings import LENGTHS
from wdrsvm.solvers.newton.smooth_loss import label_newton

from ..envelopes.test_rounds import agree
from ..test_loop import blobs, bound_holds


def linf(ball=None, **options):
    return blobs(ball={"norm": "linf"} | (ball or {}), **options)


def use_model(monkeypatch):
    """Let small problems be solved as those whose passes take long."""
    monkeypatch.setattr(rounds, "knows_entries", lambda problem, n_columns: True)


@pytest.mark.parametrize("n_classes", [3, 20, 50])
@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-4, 1e-6])
def test_it_certifies_what_newton_finds_with_a_model(monkeypatch, n_classes, tol):
    use_model(monkeypatch)
    test_it_certifies_what_newton_finds(n_classes, tol)


@pytest.mark.parametrize("n_classes", [3, 20, 50])
@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-4])
def test_it_certifies_what_newton_finds(n_classes, tol):
    problem = linf(n_classes=n_classes)
    found = length_newton(problem, SolverSettings(tol=tol))
    other = label_newton(problem, SolverSettings(tol=1e-7))
    assert found.status is SolverStatus.CONVERGED
    assert agree(found, other)
    value = problem.risk(found.coef, found.intercept).value
    assert value == pytest.approx(found.certificate.objective, rel=1e-12)


KINDS = [
    {"fit_intercept": False},
    {"loss": Loss(temperature=0.3, margin=1.0)},
    {"ball": {"feature_cost": np.linspace(0.5, 2.0, 8)}},
    {"n_rows": 40, "n_features": 60, "n_classes": 5},
    {"n_classes": 2},
    {"n_rows": 100, "n_features": 30, "n_classes": 50},
]


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_every_kind_of_problem_with_a_model(monkeypatch, options):
    use_model(monkeypatch)
    test_every_kind_of_problem_it_knows(options, np.inf)


@pytest.mark.usefixtures("both_searches")
@pytest.mark.parametrize("label_cost", [np.inf, 3.0])
@pytest.mark.parametrize("options", KINDS, ids=str)
def test_every_kind_of_problem_it_knows(options, label_cost):
    options = dict(options)
    if label_cost < np.inf and "loss" in options:
        options["loss"] = Loss(temperature=0.3, margin=0.0)
    ball = options.pop("ball", {}) | {"label_cost": label_cost}
    problem = linf(ball, **options)
    found = length_newton(problem, SolverSettings(tol=1e-3))
    other = solve(problem, "first-order", SolverSettings(tol=1e-3))
    assert found.status is SolverStatus.CONVERGED
    assert agree(found, other)


RADII = [1e-3, 0.01, 0.3, 1.0, 30.0]


@pytest.mark.parametrize("radius", RADII)
def test_radii_of_all_sizes_with_a_model(monkeypatch, radius):
    use_model(monkeypatch)
    test_radii_of_all_sizes(radius, np.inf)


@pytest.mark.parametrize("label_cost", [np.inf, 2.0])
@pytest.mark.parametrize("radius", RADII)
def test_radii_of_all_sizes(radius, label_cost):
    problem = linf({"radius": radius, "label_cost": label_cost})
    found = length_newton(problem, SolverSettings(tol=1e-3))
    assert found.status is SolverStatus.CONVERGED
    assert bound_holds(found)


@pytest.mark.parametrize("label_cost", [0.5, 1.0, 5.0, 100.0])
def test_flips_of_all_costs(label_cost):
    problem = linf({"label_cost": label_cost, "radius": 0.02})
    trust = np.tile([1.0, 0.5, np.inf], 100)
    problem = problem.with_rows(label_trust=trust)
    found = length_newton(problem, SolverSettings(tol=1e-3))
    other = label_newton(problem, SolverSettings(tol=1e-5))
    assert found.status is SolverStatus.CONVERGED
    assert agree(found, other)


@pytest.mark.parametrize("label_cost", [np.inf, 3.0])
def test_others_can_recompute_the_bound(label_cost):
    problem = linf({"label_cost": label_cost})
    found = length_newton(problem, SolverSettings(tol=1e-3))
    again = certify(problem, found.coef, found.intercept, found.multipliers)
    assert again.dual_bound == pytest.approx(found.certificate.dual_bound, rel=1e-9)


@pytest.mark.parametrize("label_cost", [np.inf, 3.0])
def test_auto_takes_it_where_a_matrix_of_curvature_is_large(label_cost):
    problem = linf({"label_cost": label_cost}, n_rows=100, n_features=30)
    assert choose(problem, 1e-3) == "newton"
    found = solve(problem, "newton", SolverSettings(tol=1e-3))
    same = length_newton(problem, SolverSettings(tol=1e-3))
    np.testing.assert_array_equal(found.coef, same.coef)


def test_a_neighbours_classifier_serves_as_start():
    problem = linf()
    near = length_newton(problem.with_radius(0.055), SolverSettings(tol=1e-3))
    start = Start(near.coef, near.intercept, near.certificate.lam)
    warm = length_newton(problem, SolverSettings(tol=1e-3), start)
    cold = length_newton(problem, SolverSettings(tol=1e-3))
    assert warm.status is SolverStatus.CONVERGED
    assert bound_holds(warm)
    assert warm.n_iter < cold.n_iter


def test_the_limit_of_steps_holds_and_what_is_returned_is_certified():
    found = length_newton(linf(), SolverSettings(tol=1e-6, max_iter=3))
    assert found.n_iter == 3
    assert found.status is SolverStatus.MAX_ITER
    assert bound_holds(found)


def test_features_that_are_all_zero_leave_a_constant_classifier():
    problem = linf(n_classes=6)
    problem = problem.with_rows(X=np.zeros_like(problem.X))
    found = length_newton(problem, SolverSettings(tol=1e-4))
    assert found.status is SolverStatus.CONVERGED
    np.testing.assert_allclose(found.coef, 0.0, atol=1e-9)


def test_threads_change_nothing(monkeypatch):
    problem = linf(n_rows=6000)
    first = length_newton(problem, SolverSettings(tol=1e-2))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    second = length_newton(problem, SolverSettings(tol=1e-2))
    np.testing.assert_array_equal(first.coef, second.coef)


def test_a_flow_is_not_sought_while_much_of_the_gradient_is_left(monkeypatch):
    counts = {0.0: 0, LENGTHS.flow_hope: 0}
    plain = rounds.LengthDescent.flow
    for hope in counts:

        def counted(descent, tol, hope=hope):
            counts[hope] += 1
            return plain(descent, tol)

        monkeypatch.setattr(rounds, "LENGTHS", replace(LENGTHS, flow_hope=hope))
        monkeypatch.setattr(rounds.LengthDescent, "flow", counted)
        found = length_newton(linf(n_classes=50), SolverSettings(tol=1e-3))
        assert found.status is SolverStatus.CONVERGED
    assert 0 < counts[LENGTHS.flow_hope] < counts[0.0]


def test_a_result_keeps_no_large_flow(monkeypatch):
    problem = linf(n_classes=6)
    assert length_newton(problem, SolverSettings(tol=1e-2)).multipliers is not None
    monkeypatch.setattr(rounds, "LENGTHS", replace(LENGTHS, max_kept_flow=10))
    assert length_newton(problem, SolverSettings(tol=1e-2)).multipliers is None


@pytest.mark.parametrize("radius", [4.0, 8.0, 30.0])
def test_a_radius_that_pays_for_everything_leaves_zero_coefficients(radius):
    problem = linf({"radius": radius})
    found = length_newton(problem, SolverSettings(tol=1e-3, max_iter=20))
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.lam == 0
    assert not found.coef.any()


def test_shares_and_multipliers_rest_before_the_end(monkeypatch):
    use_model(monkeypatch)
    seen = []
    plain = rounds.LengthRounds._consider_balance

    def watched(self):
        seen.append((self.descent.is_resting, self.descent.diameter))
        plain(self)

    monkeypatch.setattr(rounds.LengthRounds, "_consider_balance", watched)
    found = length_newton(linf(n_classes=20), SolverSettings(tol=1e-3))
    assert found.status is SolverStatus.CONVERGED
    assert seen
    assert all(is_resting for is_resting, _ in seen)
    assert all(diameter is seen[0][1] for _, diameter in seen)


def test_a_rest_that_came_too_early_ends(monkeypatch):
    use_model(monkeypatch)
    monkeypatch.setattr(rounds.LengthRounds, "rest_share", 1e3)
    found = length_newton(linf(n_classes=20), SolverSettings(tol=1e-3))
    assert found.status is SolverStatus.CONVERGED
    assert bound_holds(found)


@pytest.mark.parametrize(
    ("is_resting", "to_learn", "promise", "may"),
    [
        (False, 0.01, 0.05, True),
        (False, 0.04, 0.05, False),
        (False, 0.01, 0.2, False),
        (True, 0.04, 0.2, True),
        (True, 0.2, 0.05, False),
    ],
)
def test_a_rest_begins_close_to_the_minimum_and_ends_when_much_is_missed(
    monkeypatch, is_resting, to_learn, promise, may
):
    """``to_learn`` and ``promise`` are shares of the gap wanted."""
    wanted = 1e-4
    descent = SimpleNamespace(
        is_resting=is_resting,
        to_learn=to_learn * wanted,
        promise=promise * wanted,
        n_failed=0,
    )
    monkeypatch.setattr(rounds.LengthRounds, "__init__", lambda self: None)
    monkeypatch.setattr(rounds.LengthRounds, "_wanted", wanted)
    found = rounds.LengthRounds()
    found.descent = descent
    assert found._may_rest is may
    descent.n_failed = 1
    assert not found._may_rest


def test_the_model_saves_passes(monkeypatch):
    problem = linf(n_classes=20)
    plain = length_newton(problem, SolverSettings(tol=1e-4))
    use_model(monkeypatch)
    assert length_newton(problem, SolverSettings(tol=1e-4)).n_iter < 0.7 * plain.n_iter


def test_a_rest_goes_on_by_minima_of_the_model(monkeypatch):
    use_model(monkeypatch)
    rests, plain = [], rounds.model_step

    def watched(descent, rest):
        rests.append(rest)
        return plain(descent, rest)

    monkeypatch.setattr(rounds, "model_step", watched)
    found = length_newton(linf(n_classes=20), SolverSettings(tol=1e-3))
    assert found.status is SolverStatus.CONVERGED
    assert any(rests)
    assert not rests[0]


def test_a_rest_goes_on_by_steps_where_minima_bring_no_balance(monkeypatch):
    use_model(monkeypatch)
    plain, rests = rounds.model_step, {}
    for share in (0.0, np.inf):
        monkeypatch.setattr(rounds, "LENGTHS", replace(LENGTHS, model_pays=share))
        rests[share] = 0

        def watched(descent, rest, share=share):
            rests[share] += rest
            return plain(descent, rest)

        monkeypatch.setattr(rounds, "model_step", watched)
        found = length_newton(linf(n_classes=20), SolverSettings(tol=1e-4))
        assert found.certificate.holds(1e-4)
    # The minima before the first look may have begun to rest.
    assert 0 < rests[0.0] < 2 * LENGTHS.model_rounds < rests[np.inf]
