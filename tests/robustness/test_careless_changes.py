"""Small things that a careless change would break and larger tests would not notice."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning

from wdrsvm import (
    WassersteinBall,
    audit_labels,
    bootstrap_radius,
    radius_max,
    robust_path,
    worst_case_risk,
)
from wdrsvm.problem import LOSSES, RobustProblem
from wdrsvm.robustness.labels.audit import _margin
from wdrsvm.robustness.paths.grids import RADIUS_RATIO, TOP_TOL, checked_radii, radii_below
from wdrsvm.robustness.radius.break_ties import LEAST_TOL, is_constant, nominal_classifier
from wdrsvm.robustness.radius.radius_max import LimitClassifier, radius_max_of
from wdrsvm.robustness.radius.rules import _bootstrap_counts, _grid_bound
from wdrsvm.solvers import SolverSettings, solve

rng = np.random.default_rng(0)
y = np.arange(12) % 3
X = rng.normal(size=(12, 2)) + 1.5 * np.eye(3)[y][:, :2]
WEIGHT = rng.uniform(0.5, 1.5, 12)


class Scores(BaseEstimator):
    """A fitted classifier with given scores."""

    def __init__(self, coef, intercept):
        self.coef_, self.intercept_, self.classes_ = coef, intercept, np.arange(3)

    def fit(self, X, y):
        return self


def problem_of(ball=None, **changes):
    ball = WassersteinBall(0.05, 2.0) if ball is None else ball
    return RobustProblem.of(X, y, WEIGHT / WEIGHT.sum(), ball, 3, **changes)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fit_intercept": False},
        {"label_trust": np.linspace(0.2, 1.0, 12)},
        {"loss": "logistic"},
        {"norm": "l1"},
        {"feature_cost": [1.0, 3.0]},
        {"support": (X.min(), X.max()), "norm": "l1"},
    ],
    ids=lambda options: "-".join(options) or "none",
)
def test_radius_max_looks_at_all_it_is_given(options):
    given = dict(options)
    shape = {"norm", "feature_cost", "support"} & set(given)
    ball = {key: given.pop(key) for key in shape}
    loss = LOSSES[given.pop("loss", "crammer-singer")]
    problem = problem_of(WassersteinBall(0.0, 0.7, **ball), loss=loss, **given)
    found = radius_max(X, y, label_cost=0.7, sample_weight=WEIGHT, **options)
    assert found == pytest.approx(radius_max_of(problem), rel=1e-3)
    if options:
        assert found != pytest.approx(radius_max(X, y, label_cost=0.7), rel=1e-3)


def test_lengths_must_agree():
    short = y[:-1]
    for ask in (radius_max, audit_labels, bootstrap_radius):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            ask(X, short)


def test_labels_in_a_column_are_taken_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        found = radius_max(X, y[:, None], label_cost=0.7)
    assert found == radius_max(X, y, label_cost=0.7)


@pytest.mark.parametrize("factor", [-1.0, np.inf, np.nan])
def test_class_weights_must_be_numbers(factor):
    with pytest.raises(ValueError, match="class_weight must be finite and >= 0"):
        radius_max(X, y, class_weight={0: factor, 1: 1.0, 2: 1.0})


def test_class_weights_below_one_are_weights():
    half = {0: 0.5, 1: 0.5, 2: 0.25}
    double = {0: 1.0, 1: 1.0, 2: 0.5}
    assert radius_max(X, y, class_weight=half) == radius_max(X, y, class_weight=double)


def test_radii_become_floats_or_a_sentence():
    given = checked_radii([1, 2])
    assert isinstance(given, np.ndarray)
    assert given.dtype == np.float64
    for wrong in (["much"], [[0.1]], [], 0, True, [-0.1], [np.inf]):
        with pytest.raises(ValueError, match="radii must be"):
            checked_radii(wrong)


def test_a_margin_is_the_distance_to_the_best_other_score():
    scores = np.array([[3.0, 1.0, 2.5], [0.0, 4.0, 1.0]])
    np.testing.assert_array_equal(_margin(scores, np.array([0, 2])), [0.5, -3.0])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_rows", [2, 3, 8])
def test_resamples_have_as_many_rows_and_leave_one_out(n_rows, seed):
    counts = _bootstrap_counts(n_rows, 6, seed)
    assert len(counts) == 6
    for drawn in counts:
        assert len(drawn) == n_rows
        assert drawn.sum() == n_rows
        assert (drawn == 0).any()


@pytest.mark.parametrize("n_features", [1, 2, 5])
@pytest.mark.parametrize("n_samples", [4, 100, 10**6])
def test_the_bound_of_grids_is_the_least_over_depths(n_features, n_samples):
    def term(j):
        return 2.0 ** (1 - j) * min(2, np.sqrt(3 * 2.0 ** (n_features * j) / n_samples))

    depths = [2.0**-k + sum(term(j) for j in range(1, k + 1)) for k in range(40)]
    assert _grid_bound(n_features, 3, n_samples) == pytest.approx(min(depths))


def test_the_nominal_classifier_has_no_adversary():
    problem = problem_of(WassersteinBall(0.5, 0.1))
    found = nominal_classifier(problem)
    calm = replace(problem, ball=WassersteinBall(0.0))
    best = solve(calm, settings=SolverSettings(tol=1e-6)).certificate
    risk = calm.risk(found.coef, found.intercept).value
    assert risk <= best.objective + 1e-3 * max(best.objective, 1e-2)


@pytest.mark.parametrize("tol", [1e-3, 1e-9])
def test_constant_is_what_is_proven_to_the_tolerance(tol):
    limit = LimitClassifier(np.zeros((3, 2)), np.zeros(3), 2.0)
    unit = max(tol, LEAST_TOL)
    assert is_constant(problem_of(), 2.0 * (1 - unit), limit, tol)
    assert not is_constant(problem_of(), 2.0 * (1 - 1.1 * unit), limit, tol)
    calm = problem_of(WassersteinBall(0.0, 2.0))
    assert not is_constant(calm, 2.0, limit, tol)


@pytest.fixture(scope="module")
def path():
    radii = np.geomspace(0.5, 0.02, 12)
    return robust_path(X, y, radii, [0.3, 0.6, np.inf], tol=1e-3, sample_weight=WEIGHT)


def test_every_point_of_a_path_has_its_own_risk_and_its_own_gap(path):
    for i, radius in enumerate(path.radii):
        for j, cost in enumerate(path.label_costs):
            model = Scores(path.coef[i, j], path.intercept[i, j])
            ball = WassersteinBall(radius, cost)
            risk = worst_case_risk(model, X, y, ball, sample_weight=WEIGHT)
            assert path.objective[i, j] == pytest.approx(risk, rel=1e-9)
            gap = path.objective[i, j] - path.dual_bound[i, j]
            assert 0 <= gap <= 1e-3 * max(risk, 1e-2) * (1 + 1e-9)


def test_bounds_of_a_path_are_below_the_optimum(path):
    for i, j in [(0, 0), (4, 1), (8, 2), (11, 0)]:
        ball = WassersteinBall(path.radii[i], path.label_costs[j])
        best = solve(problem_of(ball), settings=SolverSettings(tol=1e-7)).certificate
        assert path.dual_bound[i, j] <= best.objective + 1e-12
        assert path.objective[i, j] >= best.dual_bound - 1e-12


def test_trusted_labels_are_never_flipped(path):
    given = {"sample_weight": WEIGHT}
    assert path.flipped_labels(X, y, **given)[:, :2].any()
    trust = np.full(12, np.inf)
    assert not path.flipped_labels(X, y, label_trust=trust, **given).any()
    some = path.flipped_labels(X, y, label_trust=np.r_[np.inf, np.ones(11)], **given)
    assert (some <= path.flipped_labels(X, y, **given) + 1e-9).all()


def test_a_grid_begins_at_the_largest_radius_max_of_its_costs():
    problem = problem_of(WassersteinBall(0.0))
    matrix = 0.4 * (1 - np.eye(3))
    for costs in ([0.5, np.inf], [0.2, 0.9], [matrix, 0.1], [np.inf]):
        tops = [
            radius_max_of(replace(problem, ball=WassersteinBall(0.0, cost)), TOP_TOL)
            for cost in costs
        ]
        radii = radii_below(problem, 3, costs)
        assert radii[0] == pytest.approx(max(tops))
        assert radii[-1] == pytest.approx(RADIUS_RATIO * max(tops))
