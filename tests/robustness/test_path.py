"""Paths: every point is optimal, and the plane has the shape that it must have."""

from dataclasses import replace

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
)
from wdrsvm.problem import RobustProblem
from wdrsvm.robustness import plane
from wdrsvm.solvers import SolverSettings, SolverStatus, solve
from wdrsvm.solvers.interior_chain import InteriorChain

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
            problem = RobustProblem(
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
        ({"radii": 0}, "radii must be radii or an integer >= 1, got 0"),
        ({"radii": [-1.0]}, "radii must be finite and >= 0"),
        ({"radii": "many"}, "radii must be radii or an integer"),
        ({"radii": []}, "radii must be radii or an integer"),
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
