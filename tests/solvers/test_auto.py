"""Names become solvers, and a wrong name becomes one clear sentence."""

import importlib
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from wdrsvm.problem import LOSSES, Multipliers, RobustProblem, WassersteinBall
from wdrsvm.solvers import (
    SOLVERS,
    SolverSettings,
    SolverStatus,
    Start,
    auto,
    choose,
    solve,
)
from wdrsvm.solvers.auto import RULE
from wdrsvm.solvers.registry import Declared

from .cases import rows_in_line

solve_module = importlib.import_module("wdrsvm.solvers.solve")


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_auto_goes_first_order_when_the_dense_system_is_too_large(norm):
    n_features = RULE.max_dense_unknowns // 3
    narrow = rows_in_line(n_features - 1, n_rows=1100, norm=norm)
    assert choose(narrow, 1e-6) == "interior-point"
    wide = rows_in_line(n_features, n_rows=1100, norm=norm)
    assert choose(wide, 1e-6) == "first-order"


def test_auto_goes_first_order_earlier_with_as_many_features_as_rows():
    n_features = RULE.max_wide_unknowns // 3
    assert choose(rows_in_line(n_features - 1, n_rows=200), 1e-6) == "interior-point"
    assert choose(rows_in_line(n_features, n_rows=200), 1e-6) == "first-order"
    assert choose(rows_in_line(n_features, n_rows=200, norm="l1"), 1e-6) == "interior-point"
    assert choose(rows_in_line(n_features, n_rows=500), 1e-6) == "interior-point"
    assert choose(rows_in_line(n_features, n_rows=500), 1e-6, True) == "first-order"


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "n_features", "chosen"),
    [
        (400, 200, 10, "interior-point"),
        (400, 200, 50, "first-order"),
        (601, 200, 10, "first-order"),
        (400, 50, 40, "first-order"),
    ],
)
def test_auto_goes_inside_with_more_classes_than_features_and_few_rows(
    n_rows, n_classes, n_features, chosen
):
    X, y = np.zeros((n_rows, n_features)), np.arange(n_rows) % n_classes
    ball, weight = WassersteinBall(0.1), np.full(n_rows, 1 / n_rows)
    assert choose(RobustProblem.of(X, y, weight, ball, n_classes), 1e-6) == chosen


def clusters(spread, radius):
    rng = np.random.default_rng(0)
    y = np.arange(600) % 10
    X = spread * rng.normal(size=(10, 30))[y] + rng.normal(size=(600, 30))
    return RobustProblem.of(X, y, np.full(600, 1 / 600), WassersteinBall(radius), 10)


def test_a_loose_tolerance_is_reached_by_a_few_epochs():
    problem = clusters(spread=1.0, radius=0.05)
    assert choose(problem, 1e-2) == "interior-point"
    quick = solve(problem, settings=SolverSettings(tol=1e-2))
    assert quick.solver == "first-order"
    assert quick.status is SolverStatus.CONVERGED
    assert solve(problem, settings=SolverSettings(tol=1e-4)).solver == "interior-point"


def of_ones(n_rows, n_features, n_classes):
    X, y = np.ones((n_rows, n_features)), np.arange(n_rows) % n_classes
    ball, weight = WassersteinBall(0.1), np.full(n_rows, 1 / n_rows)
    return RobustProblem.of(X, y, weight, ball, n_classes)


@pytest.mark.parametrize(
    ("n_classes", "chosen", "tol", "expected"),
    [
        (20, "newton", 1e-3, True),
        (20, "newton", 9e-4, False),
        (6, "interior-point", 1e-3, True),
        (6, "interior-point", 9e-4, False),
        (5, "interior-point", 1e-3, False),  # 34 epochs would take as long
        (20, "first-order", 1e-3, False),
    ],
)
def test_where_a_few_epochs_are_tried(n_classes, chosen, tol, expected):
    trials = auto.quick_trials(of_ones(600, 29, n_classes), tol, chosen)
    assert len(trials) == expected
    assert all(trial.gives_up for trial in trials)


@pytest.mark.parametrize(
    ("chosen", "n_rows", "n_features", "n_classes", "n_epochs"),
    [
        ("interior-point", 1000, 20, 6, 0),
        ("interior-point", 600, 29, 10, 139),
        ("interior-point", 1500, 90, 15, 2322),
        ("newton", 9000, 16, 10, 67),  # 5100 rows of curvature, of 170 unknowns
        ("newton", 40_000, 9, 7, 24),
        ("newton", 100_000, 20, 6, 0),  # an epoch costs more than a step
        ("newton", 3000, 8, 3, 0),
        ("newton", 6000, 40, 15, 100),
    ],
)
def test_epochs_that_are_tried_follow_the_work(
    chosen, n_rows, n_features, n_classes, n_epochs
):
    problem = of_ones(n_rows, n_features, n_classes)
    trials = auto.quick_trials(problem, 1e-3, chosen)
    assert sum(trial.n_epochs for trial in trials) == n_epochs


@pytest.mark.parametrize(("n_rows", "n_epochs"), [(3000, 33), (9000, 100)])
def test_more_epochs_are_tried_on_tables_with_long_tails(n_rows, n_epochs):
    sizes = {3000: (8, 3), 9000: (16, 10)}
    problem = of_ones(n_rows, *sizes[n_rows])
    X = np.random.default_rng(0).normal(size=problem.X.shape)
    short = auto.quick_trials(problem.with_rows(X=X), 1e-3, "newton")
    X[7] *= 30
    # Tails are measured from the mean, which may be far from zero.
    (tried,) = auto.quick_trials(problem.with_rows(X=1e3 + X), 1e-3, "newton")
    assert tried.n_epochs == n_epochs > sum(trial.n_epochs for trial in short)


def test_epochs_are_tried_on_rows_of_their_memory_only(monkeypatch, tmp_path):
    """Before "newton", which works on sparse rows and on large memory maps as they are."""
    problem = of_ones(9000, 16, 10)
    rows = problem.with_rows(X=sparse.csr_array(problem.X))
    assert auto.quick_trials(rows, 1e-3, "newton") == ()
    np.save(tmp_path / "rows.npy", problem.X)
    mapped = problem.with_rows(X=np.load(tmp_path / "rows.npy", mmap_mode="r"))
    assert auto.quick_trials(mapped, 1e-3, "newton")
    monkeypatch.setattr(auto, "RULE", replace(RULE, max_copied_entries=9000))
    assert auto.quick_trials(problem, 1e-3, "newton")
    # Estimators hand on a view that is an array like any other.
    view = problem.with_rows(X=np.asarray(mapped.X))
    for each in (mapped, view):
        assert auto.quick_trials(each, 1e-3, "newton") == ()


@pytest.fixture
def starts(monkeypatch):
    """Which solvers ran, and whether each had a start."""
    seen = []
    run = solve_module._run

    def noted(name, problem, settings, start):
        seen.append((name, start is not None))
        return run(name, problem, settings, start)

    monkeypatch.setattr(solve_module, "_run", noted)
    return seen


def a_hard_table():
    kind = {"n_informative": 12, "n_redundant": 0, "n_classes": 10, "random_state": 0}
    X, y = make_classification(2000, 12, n_clusters_per_class=1, **kind)
    ball, weight = WassersteinBall(0.01), np.full(2000, 1 / 2000)
    return RobustProblem.of(X, y.astype(np.intp), weight, ball, 10)


@pytest.mark.parametrize(("near_start", "begins_near"), [(1.0, True), (0.0, False)])
def test_newton_starts_where_a_trial_came_near(
    monkeypatch, starts, near_start, begins_near
):
    monkeypatch.setattr(solve_module, "RULE", replace(auto.RULE, near_start=near_start))
    found = solve(a_hard_table(), settings=SolverSettings(tol=1e-3))
    assert starts == [("first-order", False), ("newton", begins_near)]
    assert found.status is SolverStatus.CONVERGED


def test_a_classifier_without_multipliers_is_left_to_newton(starts):
    problem, settings = a_hard_table(), SolverSettings(tol=1e-3)
    found = solve(problem, settings=settings)
    starts.clear()
    again = Start(found.coef, found.intercept, found.certificate.lam)
    solve(problem, settings=settings, start=again)
    solve(problem, settings=settings, start=again._replace(multipliers=masses(problem)))
    assert starts[:2] == [("newton", True), ("first-order", True)]


def masses(problem):
    """All mass on the labels, as epochs begin with."""
    alpha = np.diag(np.ones(problem.n_classes))[problem.y] * problem.weight[:, None]
    return Multipliers(alpha, np.zeros_like(alpha), np.zeros_like(alpha), None)


@pytest.mark.parametrize(
    ("n_features", "chosen", "tol", "expected"),
    [
        (29, "interior-point", 1e-3, True),
        (28, "interior-point", 1e-3, False),
        (29, "interior-point", 9e-4, False),
        (29, "newton", 1e-3, False),
    ],
)
def test_where_labels_that_can_be_flipped_are_tried(n_features, chosen, tol, expected):
    X, y = np.ones((600, n_features)), np.arange(600) % 20
    ball, weight = WassersteinBall(0.1, 2.0), np.full(600, 1 / 600)
    problem = RobustProblem.of(X, y, weight, ball, 20)
    assert bool(auto.quick_trials(problem, tol, chosen)) == expected


def unit_directions(radius):
    """Noise around the directions of 20 classes, all rows of unit length."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 20
    X = rng.standard_normal((20, 50))[y] + rng.standard_normal((400, 50))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    # At this cost flips pay, so that labels are not trusted for a trial.
    ball, weight = WassersteinBall(radius, 0.5), np.full(400, 1 / 400)
    return RobustProblem.of(X, y, weight, ball, 20)


def test_epochs_go_on_where_the_first_ones_promise_success():
    problem, settings = unit_directions(radius=1e-2), SolverSettings(tol=1e-3)
    assert choose(problem, settings.tol) == "interior-point"
    found = solve(problem, settings=settings)
    assert (found.solver, found.status) == ("first-order", SolverStatus.CONVERGED)
    assert found.n_iter > auto.RULE.trial_epochs


def test_epochs_end_soon_where_the_first_ones_promise_nothing(monkeypatch):
    epochs = []
    run = solve_module._run

    def counted(name, problem, settings, start):
        epochs.append((name, settings.max_iter))
        return run(name, problem, settings, start)

    monkeypatch.setattr(solve_module, "_run", counted)
    monkeypatch.setattr(auto, "RULE", replace(auto.RULE, trial_epochs=1))
    found = solve(unit_directions(radius=1e-2), settings=SolverSettings(tol=1e-3))
    assert epochs == [("first-order", 1), ("interior-point", None)]
    assert found.status is SolverStatus.CONVERGED


def test_a_loose_tolerance_out_of_reach_of_a_few_epochs_is_reached_all_the_same():
    found = solve(clusters(spread=0.3, radius=1e-3), settings=SolverSettings(tol=1e-3))
    assert found.solver == "interior-point"
    assert found.status is SolverStatus.CONVERGED


def test_auto_counts_at_most_the_rows_with_the_l2_norm():
    assert choose(rows_in_line(10_000), 1e-6) == "interior-point"


def test_where_all_methods_fail_the_best_answer_is_kept(monkeypatch):
    """Also that of a trial, whose gap may be the least."""
    run, gaps = solve_module._run, {"first-order": [1.0, 3.0], "newton": [2.0]}

    def failing(name, problem, settings, start):
        found = run("interior-point", problem, SolverSettings(tol=1e-6), None)
        bound = found.certificate.objective - gaps[name].pop(0)
        missed = found.certificate._replace(dual_bound=bound)
        is_trial = settings.max_iter is not None
        status = SolverStatus.MAX_ITER if is_trial else SolverStatus.STALLED
        return replace(found, certificate=missed, status=status, solver=name)

    monkeypatch.setattr(solve_module, "_run", failing)
    found = solve(a_hard_table(), settings=SolverSettings(tol=1e-3))
    assert gaps == {"first-order": [], "newton": []}
    assert found.certificate.gap == pytest.approx(1.0)
    # A user who gave no limit is not told to raise it.
    assert found.status is SolverStatus.STALLED


class TestRescue:
    """A first-order run that "auto" chose and that fails is completed by another."""

    problem = rows_in_line()

    @pytest.fixture(autouse=True)
    def first_order_fails(self, monkeypatch):
        def stalled(problem, settings, start):
            found = SOLVERS["interior-point"].address.load()(problem, settings)
            return replace(found, status=SolverStatus.STALLED, solver="first-order")

        class Failing(NamedTuple):
            def load(self):
                return stalled

        monkeypatch.setattr(auto, "RULE", replace(RULE, max_dense_unknowns=0))
        monkeypatch.setitem(SOLVERS, "first-order", Declared(Failing()))

    def test_it_is_completed(self):
        result = solve(self.problem)
        assert result.solver == "interior-point"
        assert result.status is SolverStatus.CONVERGED

    def test_not_if_it_was_asked_for_by_name(self):
        assert solve(self.problem, "first-order").status is SolverStatus.STALLED

    def test_not_within_a_limit_of_iterations(self):
        result = solve(self.problem, settings=SolverSettings(max_iter=50))
        assert result.status is SolverStatus.STALLED

    def test_not_beyond_what_a_dense_system_can_do(self, monkeypatch):
        rule = replace(RULE, max_dense_unknowns=0, max_rescued_unknowns=5)
        monkeypatch.setattr(auto, "RULE", rule)
        assert solve(self.problem).status is SolverStatus.STALLED


def test_auto_smooths_where_rows_are_many():
    assert choose(rows_in_line(n_rows=RULE.min_newton_rows), 1e-6) == "interior-point"
    assert choose(rows_in_line(n_rows=RULE.min_newton_rows + 1), 1e-6) == "newton"


@pytest.mark.parametrize(
    ("n_rows", "tol", "expected"),
    [(90, 1e-6, "interior-point"), (90, 1e-3, "newton"), (40, 1e-3, "interior-point")],
)
def test_smooth_losses_in_a_box_leave_the_interior_point_sooner_for_a_coarse_gap(
    n_rows, tol, expected
):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    ball = WassersteinBall(0.1, support=(-9.0, 9.0))
    weight = np.full(n_rows, 1 / n_rows)
    problem = RobustProblem.of(X, np.arange(n_rows) % 2, weight, ball, 2)
    smooth = replace(problem, loss=LOSSES["logistic"])
    assert choose(smooth, tol) == expected
    assert choose(problem, tol) == "interior-point"


def test_epochs_take_over_from_a_newton_that_failed():
    """Also with few unknowns, but not at small tolerances, which epochs reach late."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 3)), np.arange(600) % 3
    weight = np.full(600, 1 / 600)
    problem = RobustProblem.of(X, y, weight, WassersteinBall(0.1), 3)
    assert auto.takes_over(problem, "newton", 1e-3) == "first-order"
    assert auto.takes_over(problem, "newton", 1e-6) is None
    assert auto.takes_over(problem, "interior-point", 1e-3) is None
