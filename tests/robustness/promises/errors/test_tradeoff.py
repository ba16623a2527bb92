"""Plain against worst-case errors of several models."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from wdrsvm import (
    RobustLinearSVC,
    WassersteinBall,
    robust_path,
    tradeoff,
    worst_case_error,
)
from wdrsvm.robustness.promises.errors.tradeoff import pareto_front

X, y = load_iris(return_X_y=True)
BALL = WassersteinBall(0.1, 0.8, "l1")
WEIGHT = 1.0 + np.arange(150) % 2
TRUST = np.where(y == 0, 0.0, 1.0)


@pytest.fixture(scope="module")
def models():
    return {C: LogisticRegression(C=C, max_iter=5000).fit(X, y) for C in (0.001, 1, 10)}


def test_both_errors_of_named_models(models):
    given = {"sample_weight": WEIGHT, "label_trust": TRUST}
    found = tradeoff(models, X, y, BALL, **given)
    assert found.names == ["0.001", "1", "10"]
    for k, model in enumerate(models.values()):
        plain = np.average(model.predict(X) != y, weights=WEIGHT)
        assert found.error[k] == pytest.approx(plain)
        expected = worst_case_error(model, X, y, BALL, **given)
        assert found.worst_case_error[k] == pytest.approx(expected)
    listed = tradeoff(list(models.values()), X, y, BALL, **given)
    assert listed.names[0] == "0: LogisticRegression"
    np.testing.assert_array_equal(listed.worst_case_error, found.worst_case_error)


def test_points_of_a_path_are_models():
    costs = [1.0, np.inf, 1.0 - np.eye(3)]
    path = robust_path(X, y, radii=[0.02, 0.2], label_costs=costs, norm="l1")
    found = tradeoff(path, X, y, BALL)
    assert found.names[:2] == ["radius 0.02, label cost 1", "radius 0.02, label cost inf"]
    assert found.names[2] == "radius 0.02, label cost matrix 2"
    alone = RobustLinearSVC(radius=0.2, label_cost=np.inf, norm="l1").fit(X, y)
    expected = worst_case_error(alone, X, y, BALL)
    assert found.worst_case_error[4] == pytest.approx(expected, abs=1e-3)
    close = robust_path(X, y, radii=[0.02, 0.020000001], label_costs=[1.0])
    one, other = tradeoff(close, X, y, BALL).names
    assert other == f"{one}'"


def test_the_front_is_what_nothing_beats():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 6, (2, 40)) / 6
    front = pareto_front(first, second)
    pairs = np.column_stack([first, second])
    beaten = [
        any((other <= pair).all() and (other < pair).any() for other in pairs)
        for pair in pairs
    ]
    assert not any(beaten[k] for k in front)
    unbeaten = {
        tuple(pair) for pair, is_beaten in zip(pairs, beaten, strict=True) if not is_beaten
    }
    assert {tuple(pairs[k]) for k in front} == unbeaten
    assert len(front) == len(unbeaten)
    assert (np.diff(first[front]) > 0).all()


def test_the_table(models):
    pytest.importorskip("pandas")
    found = tradeoff(models, X, y, BALL)
    table = found.to_frame()
    assert list(table.columns) == ["name", "error", "worst_case_error", "on_front"]
    assert table.index[table["on_front"]].tolist() == sorted(found.front)


def test_refusals():
    with pytest.raises(TypeError, match="models must be a RobustPath"):
        tradeoff(LogisticRegression().fit(X[:, :1], y), X, y, BALL)
    with pytest.raises(ValueError, match="models must not be empty"):
        tradeoff({}, X, y, BALL)


def test_a_pair_must_beat_all_before_it():
    first, second = np.array([0.3, 0.1, 0.2, 0.0]), np.array([0.0, 0.1, 0.2, 0.3])
    assert pareto_front(first, second).tolist() == [3, 1, 0]
