"""Large problems: radius_max by class means, advice by a sample of rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from wdrsvm import WassersteinBall, radius_max
from wdrsvm.problem import LOSSES, RobustProblem
from wdrsvm.problem.class_means import class_means
from wdrsvm.robustness import radius_max_of
from wdrsvm.robustness.paths.constant_points import constant_risks, without_features
from wdrsvm.robustness.radius import radius_max as radius
from wdrsvm.robustness.radius.break_ties import sampled
from wdrsvm.robustness.radius.radius_max import limit_classifier
from wdrsvm.solvers import SolverSettings, solve

X, y = load_wine(return_X_y=True)
X = scale(X)
TRUST = np.where(np.arange(len(y)) % 3, 1.0, np.inf)
COST = np.linspace(0.5, 2.0, X.shape[1])


def problem_of(label_cost=2.0, norm="l2", X=X, **options):
    ball = WassersteinBall(0.0, label_cost, norm, options.pop("feature_cost", None))
    return RobustProblem.of(X, y, np.full(len(y), 1 / len(y)), ball, 3, **options)


CASES = [
    {},
    {"label_cost": np.inf},
    {"norm": "l1"},
    {"feature_cost": COST},
    {"label_trust": TRUST},
    {"label_trust": np.where(np.isinf(TRUST), np.inf, np.linspace(0.5, 1, len(y)))},
    {"loss": LOSSES["logistic"], "label_cost": np.inf},
    {"X": sparse.csr_array(X)},
]


@pytest.mark.parametrize("options", CASES)
def test_at_the_radius_of_the_means_nothing_beats_a_constant(options, monkeypatch):
    problem = problem_of(**options)
    exact = radius_max_of(problem, 1e-3)
    monkeypatch.setattr(radius, "MAX_ENTRIES", 0)
    bound = radius_max_of(problem, 1e-3)
    top = limit_classifier(problem).risk
    found = solve(problem.with_radius(bound), settings=SolverSettings(tol=1e-4))
    assert found.certificate.objective >= top * (1 - 2e-3)
    assert 0.95 * exact <= bound <= 3 * exact


def test_the_means_lie_in_as_few_columns_as_rows():
    means = class_means(problem_of(feature_cost=COST))
    assert means.X.shape == (3, 3)
    kept = np.stack([X[y == c].mean(axis=0) for c in range(3)]) * COST
    assert means.X @ means.X.T == pytest.approx(kept @ kept.T)


def test_large_data_are_not_solved(monkeypatch):
    rows = []
    monkeypatch.setattr(radius, "MAX_ENTRIES", X.size * 3)

    def watched(problem, *rest):
        rows.append(problem.n_rows)
        return solve(problem, *rest)

    monkeypatch.setattr(radius, "solve", watched)
    assert radius_max(X, y) > 0
    assert max(rows) == 3


def test_a_sample_is_a_distribution_of_some_rows():
    few = sampled(problem_of(), 3 * 14 * 100)
    assert few.n_rows == 100
    assert few.weight.sum() == pytest.approx(1.0)
    assert np.array_equal(few.X, sampled(problem_of(), 3 * 14 * 100).X)
    everything = problem_of()
    assert sampled(everything, 10**9) is everything


@pytest.mark.parametrize("trust", [None, TRUST])
def test_constant_risks_are_those_of_the_best_intercept(trust):
    problem = problem_of(label_trust=trust)
    (risks,) = constant_risks(problem, [0.2], [2.0, np.inf])
    for cost, risk in zip([2.0, np.inf], risks, strict=True):
        alone = problem_of(cost, X=np.zeros((len(y), 1)), label_trust=trust)
        found = solve(alone.with_radius(0.2), settings=SolverSettings(tol=1e-7))
        assert risk == pytest.approx(found.certificate.objective, rel=1e-4)
    assert without_features(problem).n_rows == (3 if trust is None else 6)


@pytest.mark.parametrize("options", [{}, {"lipschitz": "triangle", "fit_intercept": False}])
def test_means_are_rows_of_labels_that_are_verified_or_trusted_as_much_as_any(options):
    rows = np.array([[0.0], [2.0], [5.0], [-1.0], [1.0]])
    labels, weight = np.array([0, 0, 0, 1, 1]), np.array([0.1, 0.3, 0.2, 0.2, 0.2])
    trust = np.array([0.5, 0.25, np.inf, np.inf, np.inf])
    ball = WassersteinBall(0.1, 1.0)
    given = {"label_trust": trust, "loss": LOSSES["logistic"], **options}
    found = class_means(RobustProblem.of(rows, labels, weight, ball, 2, **given))
    assert found.y.tolist() == [0, 0, 1]
    np.testing.assert_allclose(found.X[:, 0], [1.5, 5.0, 0.0])
    np.testing.assert_allclose(found.weight, [0.4, 0.2, 0.4])
    assert found.label_trust.tolist() == [0.5, np.inf, np.inf]
    assert found.loss is LOSSES["logistic"]
    for name, value in options.items():
        assert getattr(found, name) == value
    given["label_trust"] = None
    plain = class_means(RobustProblem.of(rows, labels, weight, ball, 2, **given))
    assert plain.label_trust is None
    assert plain.n_classes == plain.n_rows == 2


def test_labels_that_are_all_verified_stay_verified():
    problem = problem_of(label_trust=np.full(len(y), np.inf))
    found = class_means(problem)
    assert found.n_rows == 3
    assert np.isinf(found.label_trust).all()
