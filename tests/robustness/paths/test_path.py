"""Paths: every point is optimal, and the plane has the shape that it must have."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from wdrsvm import (
    RobustLinearSVC,
    RobustOneVsRestSVC,
    RobustSVC,
    WassersteinBall,
    one_vs_rest_path,
    radius_max,
    robust_path,
    worst_case_risk,
)
from wdrsvm.problem import Certificate, RobustProblem
from wdrsvm.robustness.paths import path as path_module
from wdrsvm.robustness.paths import plane
from wdrsvm.solvers import SolverResult, SolverSettings, SolverStatus, solve
from wdrsvm.solvers.interior_point.chain import InteriorChain

from ..cases import CODES, FEATURES, WEIGHT, FixedScores, twelve_rows

TOL = 1e-6


def blobs(seed=0, n_rows=60, n_features=4, n_classes=3, sep=1.0):
    X, y = make_classification(
        n_rows,
        n_features,
        n_informative=n_features,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=sep,
        random_state=seed,
    )
    return X, y


def assert_optimal(path, X, y, *, norm="l2", fit_intercept=True, weight=None, trust=None):
    """Objectives recomputed from the classifiers, and within the gap of cold solves."""
    codes = np.searchsorted(path.classes, y)
    mass = np.ones(len(y)) if weight is None else weight
    for i, radius in enumerate(path.radii):
        for j, cost in enumerate(path.label_costs):
            ball = WassersteinBall(radius, cost, norm)
            problem = RobustProblem.of(
                X, codes, mass / mass.sum(), ball, len(path.classes), fit_intercept, trust
            )
            risk = problem.risk(path.coef[i, j], path.intercept[i, j]).value
            assert path.objective[i, j] == pytest.approx(risk, rel=1e-9, abs=1e-12)
            cold = solve(problem, settings=SolverSettings(tol=1e-8)).certificate
            allowed = 1.01 * TOL * max(risk, 1e-2)
            assert risk - path.dual_bound[i, j] <= allowed
            assert path.dual_bound[i, j] <= cold.objective + 1e-10
            assert cold.objective - 1e-8 <= risk <= cold.objective + allowed


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("seed", [0, 1])
def test_each_point_is_a_cold_fit_within_the_gap(norm, seed):
    rng = np.random.default_rng(seed)
    X, y = blobs(seed)
    radii = 10 ** rng.uniform(-4, 0.5, size=6)
    costs = [*rng.uniform(0.05, 3.0, size=3), np.inf]
    fit_intercept = bool(seed)
    path = robust_path(X, y, radii, costs, norm=norm, fit_intercept=fit_intercept)
    assert_optimal(path, X, y, norm=norm, fit_intercept=fit_intercept)


def test_weights_trust_and_zero_prices():
    rng = np.random.default_rng(3)
    X, y = blobs(3)
    weight, trust = rng.integers(1, 4, 60).astype(float), rng.choice([0.5, 1, np.inf], 60)
    weights = {"sample_weight": weight, "label_trust": trust}
    path = robust_path(X, y, [0.0, 0.02, 0.3], [0.0, 0.7, 1.5], **weights)
    assert_optimal(path, X, y, weight=weight, trust=trust)


def test_labels_of_no_trust_do_not_carry_over_to_infinite_prices():
    X, y = blobs(4)
    trust = np.where(np.arange(60) < 10, 0.0, 1.0)
    path = robust_path(X, y, [0.0, 0.05, 1.0], [1.0, np.inf], label_trust=trust)
    assert_optimal(path, X, y, trust=trust)


def test_matrices_among_the_label_costs():
    X, y = blobs(5)
    matrix = np.array([[0, 1, np.inf], [0.5, 0, 1], [2, 1, 0]])
    path = robust_path(X, y, [0.01, 0.1, 1.0], [1.0, matrix, 2 * matrix])
    assert_optimal(path, X, y)


def test_bounded_balls_have_paths_too():
    X, y = blobs(6, n_rows=30, n_features=2)
    box = (X.min(axis=0), X.max(axis=0))
    path = robust_path(X, y, [0.05, 0.2], [1.0], norm="l1", support=box)
    for i, radius in enumerate(path.radii):
        cold = RobustLinearSVC(radius, 1.0, norm="l1", support=box).fit(X, y)
        assert path.objective[i, 0] == pytest.approx(cold.objective_, abs=3e-6)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_kernel_paths_are_cold_fits_within_the_gap(kernel):
    X, y = blobs(7, n_rows=40)
    if kernel == "precomputed":
        X = X @ X.T
    path = robust_path(X, y, [0.01, 0.05, 0.3], [0.5, np.inf], kernel=kernel)
    for i, j in np.ndindex(path.objective.shape):
        cold = RobustSVC(path.radii[i], path.label_costs[j], kernel=kernel)
        if path.radii[i] < 0.3:
            cold.fit(X, y)
            allowed = 2 * TOL * max(cold.objective_, 1e-2)
            assert abs(path.objective[i, j] - cold.objective_) <= allowed
    assert path.coef.shape == (3, 2, 3, 40)


def test_scores_of_a_kernel_path_are_those_of_its_coefficients():
    X, y = blobs(7, n_rows=40)
    path = robust_path(X, y, [0.01], [np.inf], kernel="rbf", gamma=0.3)
    cold = RobustSVC(0.01, np.inf, gamma=0.3).fit(X, y)
    gram = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    scores = path.decision_function(gram)[0, 0]
    assert (scores.argmax(axis=1) == cold.decision_function(X).argmax(axis=1)).mean() > 0.95


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_the_plane_is_monotone_and_concave(norm):
    """Non-decreasing and concave in the radius, non-increasing in the label cost."""
    X, y = blobs(8)
    radii, costs = np.linspace(0.0, 1.5, 16), [0.2, 0.5, 1.0, 2.0, np.inf]
    path = robust_path(X, y, radii, costs, norm=norm)
    value, gap = path.objective, 2 * TOL
    assert (np.diff(value, axis=0) >= -gap).all()
    assert (np.diff(value, axis=1) <= gap).all()
    assert (np.diff(value, 2, axis=0) <= 2 * gap).all()
    assert (np.diff(path.lam[value[:, 0] < 1 - gap], axis=0) <= 1e-2).all()


def test_default_radii_descend_from_radius_max():
    X, y = blobs(9)
    path = robust_path(X, y, radii=4, label_costs=[0.5, 1.0])
    top = radius_max(X, y, label_cost=1.0, tol=1e-3)
    assert path.radii == pytest.approx(top * np.array([1, 0.1, 0.01, 0.001]))
    assert path.objective[0, 1] >= 0.998
    assert path.objective[1, 1] < 0.99


def test_order_of_the_grid_does_not_matter():
    X, y = blobs(10)
    radii, costs = np.array([0.3, 0.01, 0.1]), [np.inf, 0.5, 1.0]
    path = robust_path(X, y, radii, costs)
    other = robust_path(X, y, radii[::-1], costs[::-1])
    assert path.objective == pytest.approx(other.objective[::-1, ::-1], abs=2 * TOL)


def test_jobs_share_the_label_costs():
    X, y = blobs(11)
    radii, costs = [0.1, 0.01], [0.5, 1.0, np.inf]
    alone, together = (robust_path(X, y, radii, costs, n_jobs=n) for n in (None, 2))
    assert together.objective == pytest.approx(alone.objective, abs=2 * TOL)
    assert_optimal(together, X, y)


def test_most_of_a_large_grid_is_not_solved(monkeypatch):
    """Below the first kink and above radius_max the neighbours know."""
    solved = []
    original = plane._Plane._solve
    monkeypatch.setattr(
        plane._Plane, "_solve", lambda *args: solved.append(1) or original(*args)
    )
    X, y = blobs(12, n_rows=40, sep=2.5)
    robust_path(X, y, np.logspace(-6, 1, 15), np.linspace(0.1, 1, 5), norm="l1")
    assert len(solved) < 0.6 * 75


def test_one_vs_rest_is_a_machine_a_class():
    X, y = blobs(13)
    path = one_vs_rest_path(X, y, [0.05, 0.02], [0.5, np.inf], norm="l1")
    assert path.objective.shape == (2, 2, 3)
    for i, j in np.ndindex(2, 2):
        machine = RobustOneVsRestSVC(path.radii[i], path.label_costs[j], norm="l1")
        cold = machine.fit(X, y)
        assert path.objective[i, j] == pytest.approx(cold.objective_, abs=2 * TOL)
    agreeing = path.predict(X)[1, 1] == cold.predict(X)
    assert agreeing.mean() > 0.95


def test_two_classes_and_names():
    X, y = blobs(14, n_classes=2)
    names = np.array(["no", "yes"])[y]
    path = robust_path(X, names, [0.01], [1.0])
    assert path.coef.shape == (1, 1, 2, 4)
    assert (path.predict(X)[0, 0] == names).mean() > 0.8


def test_a_path_that_does_not_converge_says_so(monkeypatch):
    original = InteriorChain.solve

    def stalled(*args):
        found = original(*args)
        return found._replace(result=replace(found.result, status=SolverStatus.STALLED))

    monkeypatch.setattr(InteriorChain, "solve", stalled)
    X, y = blobs(15)
    with pytest.warns(ConvergenceWarning, match="points of the path stopped"):
        robust_path(X, y, [0.1], [1.0])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"radii": 0}, "radii must be numbers or an integer >= 1, got 0"),
        ({"radii": [-1.0]}, "radii must be finite and >= 0"),
        ({"radii": "many"}, "radii must be numbers or an integer"),
        ({"radii": []}, "radii must be numbers or an integer"),
        ({"label_costs": []}, "label_costs must hold one label cost at least"),
        ({"label_costs": [-1.0]}, "label_cost must be >= 0"),
        ({"kernel": "rbf", "norm": "l1"}, "norm must be 'l2'"),
        ({"kernel": "precomputed"}, "X must be square"),
    ],
)
def test_errors_name_the_argument(given, message):
    X, y = blobs()
    with pytest.raises(ValueError, match=message):
        robust_path(X, y, **({"radii": [0.1], "label_costs": [1.0]} | given))


def test_one_vs_rest_refuses_matrices():
    X, y = blobs()
    with pytest.raises(ValueError, match="label_costs must be numbers"):
        one_vs_rest_path(X, y, [0.1], [np.zeros((3, 3))])


TOY_X = np.array([[0.0, 1.0], [2.0, 0.5], [1.0, 3.0], [0.5, 0.5]])
TOY_Y = np.array([0, 1, 1, 2])
WEIGHTS = {
    "class_weight": {0: 1.0, 1: 2.0, 2: 1.0},
    "sample_weight": [1.0, 1.0, 3.0, 1.0],
    "label_trust": [1.0, 2.0, np.inf, 1.0],
}


class Collected(tuple):
    """What a path is collected from."""

    objective = None


def asked_of_path(monkeypatch, *grid, **options):
    """What a path would have solved, and how; its parts replaced by ones that remember."""
    asked = SimpleNamespace(lifted=None)
    original = path_module.Grid.of

    def made(problem, radii, label_costs):
        asked.grid = (radii, label_costs)
        return original(problem, [0.1], label_costs)

    def in_parallel(n_jobs, solve, problem, grid):
        asked.n_jobs, asked.problem, asked.radii = n_jobs, problem, grid.radii
        asked.solve = solve.keywords
        return "found"

    def lift(kernel, rows, n_samples, **parameters):
        asked.lifted = (kernel, n_samples, parameters)
        on_samples = lambda path, n: ("lifted", path, n)  # noqa: E731
        return SimpleNamespace(rows=replace(rows, X=rows.X[:, :1]), on_samples=on_samples)

    monkeypatch.setattr(path_module, "Grid", SimpleNamespace(of=made))
    monkeypatch.setattr(path_module, "in_parallel", in_parallel)
    monkeypatch.setattr(path_module, "lift", lift)
    monkeypatch.setattr(path_module, "collected", lambda *args: Collected(args))
    monkeypatch.setattr(path_module, "constant_risks", lambda *_: None)
    monkeypatch.setattr(path_module, "is_as_good_as_constant", lambda *_: None)
    monkeypatch.setattr(path_module, "replace", lambda path, constant: path)
    asked.path = robust_path(TOY_X, TOY_Y, *grid, **options)
    return asked


def test_a_paths_defaults_are_written_down(monkeypatch):
    asked = asked_of_path(monkeypatch)
    assert asked.grid == (10, (2.0, np.inf))
    assert asked.solve == {"solver": "auto", "tol": 1e-6, "of_kernel": False}
    assert asked.n_jobs is asked.lifted is None
    ball = asked.problem.ball
    assert (ball.radius, ball.label_cost, ball.norm) == (0.0, np.inf, "l2")
    assert ball.feature_cost is ball.support is ball.categorical is None
    assert asked.problem.fit_intercept
    assert asked.problem.label_trust is None
    assert asked.problem.n_classes == 3
    np.testing.assert_allclose(asked.problem.weight, 0.25)
    grid, found, classes = asked.path
    assert found == "found"
    assert classes.tolist() == [0, 1, 2]
    assert grid.radii is asked.radii


def test_a_path_hands_on_all_that_it_is_given(monkeypatch):
    shape = {"norm": "l1", "feature_cost": [1.0, 2.0], "support": (-9.0, 9.0)}
    how = {"solver": "newton", "tol": 1e-2}
    asked = asked_of_path(
        monkeypatch, 3, [1.0], fit_intercept=False, n_jobs=2, **shape, **how, **WEIGHTS
    )
    assert asked.grid == (3, [1.0])
    assert asked.solve == {**how, "of_kernel": False}
    assert asked.n_jobs == 2
    ball = asked.problem.ball
    assert ball.norm == "l1"
    assert ball.feature_cost.tolist() == [1.0, 2.0]
    assert ball.support == (-9.0, 9.0)
    assert not asked.problem.fit_intercept
    assert sorted(asked.problem.label_trust) == [1.0, 1.0, 2.0, np.inf]
    np.testing.assert_allclose(sorted(asked.problem.weight), [0.1, 0.1, 0.2, 0.6])
    groups = asked_of_path(monkeypatch, categorical=[([0, 1], 3.0)]).problem.ball
    assert groups.categorical[0].cost == 3.0


def test_a_kernel_path_is_solved_on_the_kernels_features(monkeypatch):
    asked = asked_of_path(monkeypatch, kernel="rbf")
    known = {"gamma": "scale", "degree": 3, "coef0": 1.0, "kernel_params": None}
    assert asked.lifted == ("rbf", 4, known)
    assert asked.solve["of_kernel"]
    assert asked.problem.n_features == 1
    assert asked.path[0] == "lifted"
    assert asked.path[2] == 4
    given = {"gamma": 0.5, "degree": 2, "coef0": 3.0, "kernel_params": {"a": 1}}
    assert asked_of_path(monkeypatch, kernel=min, **given).lifted == (min, 4, given)
    with pytest.raises(ValueError, match="norm must be 'l2'"):
        robust_path(TOY_X, TOY_Y, kernel="rbf", norm="l1")


def told_machines(monkeypatch):
    """Machines whose numbers tell which one they are; what was asked of each."""
    asked = []

    def solved(problem, grid, **how):
        asked.append((problem, how))
        share = float(problem.weight @ problem.y)
        coef = share * np.array([[-1.0, -2.0], [3.0, 4.0]])
        intercept = share * np.array([-5.0, 7.0])
        return {
            (i, j): SolverResult(
                coef * (1 + i),
                intercept * (1 + j),
                Certificate(share + i, share + j, share - i - j),
                None,
                SolverStatus.CONVERGED,
                0,
                "told",
            )
            for i, j in np.ndindex(len(grid.radii), len(grid.label_costs))
        }

    monkeypatch.setattr(path_module, "solved", solved)
    return asked


def test_machines_stand_side_by_side(monkeypatch):
    asked = told_machines(monkeypatch)
    path = one_vs_rest_path(TOY_X, np.array(["a", "b", "b", "c"]), [0.2, 0.1], [1.0, 2.0])
    share = np.array([0.25, 0.5, 0.25])
    i, j = np.indices((2, 2))[..., None]
    np.testing.assert_allclose(path.coef[..., 0], 4 * share * (1 + i) + 0 * j)
    np.testing.assert_allclose(path.coef[..., 1], 6 * share * (1 + i) + 0 * j)
    np.testing.assert_allclose(path.intercept, 12 * share * (1 + j) + 0 * i)
    np.testing.assert_allclose(path.objective, share + i + 0 * j)
    np.testing.assert_allclose(path.dual_bound, share + j + 0 * i)
    np.testing.assert_allclose(path.lam, share - i - j)
    assert path.classes.tolist() == ["a", "b", "c"]
    assert path.radii.tolist() == [0.2, 0.1]
    assert path.label_costs == [1.0, 2.0]
    for problem, how in asked:
        assert how == {"solver": "auto", "tol": 1e-6, "of_kernel": False}
        ball = problem.ball
        assert (ball.radius, ball.label_cost, ball.norm) == (0.0, np.inf, "l2")
        assert ball.feature_cost is None
        assert (problem.n_classes, problem.fit_intercept) == (2, True)
        assert problem.y.dtype == np.intp


def test_machines_are_given_all_that_is_given(monkeypatch):
    asked, jobs = told_machines(monkeypatch), []
    original = path_module.Parallel
    monkeypatch.setattr(
        path_module,
        "Parallel",
        lambda **options: jobs.append(options) or original(**options),
    )
    how = {"solver": "newton", "tol": 1e-2}
    shape = {"norm": "l1", "feature_cost": [1.0, 2.0]}
    one_vs_rest_path(
        TOY_X, TOY_Y, [0.1], 1.0, fit_intercept=False, **shape, **how, **WEIGHTS
    )
    assert len(asked) == 3
    assert jobs == [{"n_jobs": None}]
    one_vs_rest_path(TOY_X, TOY_Y, [0.1], 1.0, n_jobs=1)
    assert jobs[1:] == [{"n_jobs": 1}]
    for problem, given in asked[:3]:
        assert given == {**how, "of_kernel": False}
        assert problem.ball.norm == "l1"
        assert problem.ball.feature_cost.tolist() == [1.0, 2.0]
        assert not problem.fit_intercept
        assert sorted(problem.label_trust) == [1.0, 1.0, 2.0, np.inf]
        np.testing.assert_allclose(sorted(problem.weight), [0.1, 0.1, 0.2, 0.6])


def test_machines_share_the_grid_that_reaches_farthest(monkeypatch):
    told_machines(monkeypatch)
    asked = []
    original, tops = path_module.Grid, iter([1.0, 3.0, 2.0])

    def made(problem, radii, label_costs):
        asked.append((radii, label_costs))
        return original(np.array([next(tops)]), label_costs)

    monkeypatch.setattr(path_module, "Grid", SimpleNamespace(of=made))
    path = one_vs_rest_path(TOY_X, TOY_Y)
    assert path.radii.tolist() == [3.0]
    assert asked == [(10, [2.0, np.inf])] * 3


@pytest.fixture(scope="module")
def path():
    radii = np.geomspace(0.5, 0.02, 12)
    return robust_path(
        FEATURES, CODES, radii, [0.3, 0.6, np.inf], tol=1e-3, sample_weight=WEIGHT
    )


def test_every_point_of_a_path_has_its_own_risk_and_its_own_gap(path):
    for i, radius in enumerate(path.radii):
        for j, cost in enumerate(path.label_costs):
            model = FixedScores(path.coef[i, j], path.intercept[i, j])
            ball = WassersteinBall(radius, cost)
            risk = worst_case_risk(model, FEATURES, CODES, ball, sample_weight=WEIGHT)
            assert path.objective[i, j] == pytest.approx(risk, rel=1e-9)
            gap = path.objective[i, j] - path.dual_bound[i, j]
            assert 0 <= gap <= 1e-3 * max(risk, 1e-2) * (1 + 1e-9)


def test_bounds_of_a_path_are_below_the_optimum(path):
    for i, j in [(0, 0), (4, 1), (8, 2), (11, 0)]:
        ball = WassersteinBall(path.radii[i], path.label_costs[j])
        best = solve(twelve_rows(ball), settings=SolverSettings(tol=1e-7)).certificate
        assert path.dual_bound[i, j] <= best.objective + 1e-12
        assert path.objective[i, j] >= best.dual_bound - 1e-12


def test_trusted_labels_are_never_flipped(path):
    given = {"sample_weight": WEIGHT}
    assert path.flipped_labels(FEATURES, CODES, **given)[:, :2].any()
    trust = np.full(12, np.inf)
    assert not path.flipped_labels(FEATURES, CODES, label_trust=trust, **given).any()
    some = path.flipped_labels(
        FEATURES, CODES, label_trust=np.r_[np.inf, np.ones(11)], **given
    )
    assert (some <= path.flipped_labels(FEATURES, CODES, **given) + 1e-9).all()
