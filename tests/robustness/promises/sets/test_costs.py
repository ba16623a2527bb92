"""What it costs to take a label out of its set, against programs over movements."""

import numpy as np
import pytest
from scipy.optimize import linprog

from wdrsvm import WassersteinBall
from wdrsvm.robustness.promises.sets.costs import (
    SetCosts,
    judged_scores,
    nearest_labels,
    sets_of,
)
from wdrsvm.robustness.promises.worst_case import judged_classifier

from ...cases import FixedScores, random_case


def costs_of(classifier, X, y, ball, label_trust=None):
    return SetCosts(
        judged_classifier(classifier, X, y, ball, "crammer-singer", None, label_trust)
    )


def cheapest_movement(slope, gap, x, ball):
    """min ||cost t|| with slope.t >= gap inside the box, as a linear program."""
    n = len(slope)
    cost, (low, high) = ball.feature_costs(n), ball.box(n)
    free = np.isfinite(cost)
    if gap <= 0:
        return 0.0
    up, down = np.where(free, high - x, 0.0), np.where(free, x - low, 0.0)
    bounds = [*zip(np.zeros(n), up, strict=True), *zip(np.zeros(n), down, strict=True)]
    price = np.tile(np.where(free, cost, 0.0), 2)
    reach, size = np.append(-slope, slope), [(0.0, None)]
    if ball.norm == "l1":
        found = linprog(price, reach[None], [-gap], bounds=bounds)
    else:
        rows = np.hstack([np.diag(price), -np.ones((2 * n, 1))])
        rows = np.vstack([np.append(reach, 0.0), rows])
        goal = np.append(np.zeros(2 * n), 1.0)
        found = linprog(goal, rows, np.append(-gap, np.zeros(2 * n)), bounds=bounds + size)
    return found.fun if found.status == 0 else np.inf


def explicit_costs(case, ball, trust, q):
    """The definition: every label, every rival, the program for the movement."""
    coef, classes = case.classifier.coef_, range(len(case.classifier.coef_))
    matrix = ball.label_cost_matrix(len(coef))
    found = []
    for x, y, t in zip(case.X, case.y, trust, strict=True):
        z = coef @ x + case.classifier.intercept_
        best = np.inf
        for c in classes:
            price = 0.0 if c == y else matrix[y, c] * t if matrix[y, c] < np.inf else np.inf
            price = np.inf if np.isnan(price) else price
            for j in set(classes) - {c}:
                gap = z[c] - z[j] + q
                if np.isfinite(price):
                    move = cheapest_movement(coef[j] - coef[c], gap, x, ball)
                    best = min(best, price + move)
        found.append(best)
    return np.array(found)


@pytest.mark.parametrize("norm", ["l1", "linf"])
@pytest.mark.parametrize("seed", range(4))
def test_costs_are_those_of_programs_over_explicit_movements(seed, norm):
    case = random_case(seed)
    ball = WassersteinBall(0.1, case.ball.label_cost, norm, case.ball.feature_cost)
    trust = case.options["label_trust"]
    costs = costs_of(case.classifier, case.X, case.y, ball, trust)
    for q in (0.0, 0.4, 2.0):
        found = costs(np.full(len(case.classifier.coef_), q))
        np.testing.assert_allclose(found, explicit_costs(case, ball, trust, q), atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_walls_make_it_dearer(seed):
    case = random_case(seed)
    ball = WassersteinBall(0.1, 0.7, "l1", support=(case.X.min() - 0.2, case.X.max() + 0.2))
    trust = np.ones(len(case.y))
    found = costs_of(case.classifier, case.X, case.y, ball)(
        np.full(len(case.classifier.coef_), 0.5)
    )
    np.testing.assert_allclose(found, explicit_costs(case, ball, trust, 0.5), atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_at_threshold_zero_they_are_those_of_errors(seed):
    case = random_case(seed)
    trust = case.options["label_trust"]
    costs = costs_of(case.classifier, case.X, case.y, case.ball, trust)
    wrong = costs.wrong(case.X, case.y, trust)
    np.testing.assert_allclose(costs(np.zeros(len(case.classifier.coef_))), wrong)


def test_a_flip_and_a_movement_can_be_cheaper_than_either():
    """Label 2 is cheap and nearly out of the set; neither 0 nor 2 is out yet."""
    classifier = FixedScores(np.array([[4.0], [0.0], [-4.0]]), np.zeros(3))
    costs = costs_of(classifier, np.array([[1.0]]), [0], WassersteinBall(1.0, 0.5, "l2"))
    q = 8.4
    moving_alone = (4.0 + 4.0 + q) / 8
    assert costs(np.full(3, q)) == pytest.approx(0.5 + (q - 8.0) / 8)
    assert costs(np.full(3, q)) < moving_alone
    assert not costs.lost(np.full(3, q)).any()


def test_l2_movements_are_enough_and_no_shorter_one_is():
    rng = np.random.default_rng(0)
    classifier = FixedScores(rng.normal(size=(3, 2)), rng.normal(size=3))
    X, y = rng.normal(size=(6, 2)), np.array([0, 1, 2, 0, 1, 2])
    q = np.full(3, 0.8)
    cost = costs_of(classifier, X, y, WassersteinBall(0.1))(q)
    angle = np.linspace(0, 2 * np.pi, 20_000)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    for x, label, c in zip(X, y, cost, strict=True):
        beyond = sets_of(judged_scores(classifier, x + (c + 1e-6) * circle), q)
        within = sets_of(judged_scores(classifier, x + 0.999 * c * circle), q)
        assert not beyond[:, label].all()
        assert c == 0 or within[:, label].all()


def test_an_infinite_threshold_loses_nothing():
    case = random_case(1)
    costs = costs_of(case.classifier, case.X, case.y, WassersteinBall(0.1, 0.0))
    assert np.isinf(costs(np.full(len(case.classifier.coef_), np.inf))).all()


def test_free_labels_count_where_nothing_moves():
    classifier = FixedScores(np.array([[1.0], [0.0], [-1.0]]), np.zeros(3))
    X, y = np.array([[1.0], [3.0]]), np.array([0, 0])
    trusted = costs_of(classifier, X, y, WassersteinBall(0.0))
    np.testing.assert_array_equal(trusted.free_gaps, [0.0, 0.0])
    free = costs_of(classifier, X, y, WassersteinBall(0.0, 1.0), np.array([0.0, 1.0]))
    np.testing.assert_array_equal(free.free_gaps, [2.0, 0.0])
    np.testing.assert_array_equal(free.lost(np.full(3, 1.9)), [True, False])
    np.testing.assert_array_equal(free.lost(np.full(3, 2.0)), [False, False])


def test_the_nearest_label_is_least_below_the_largest_on_average():
    one = np.array([[3.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    other = np.array([[0.0, 2.0, 1.5], [0.0, 5.0, 4.5]])
    assert nearest_labels([one, other]).tolist() == [1, 2]
    assert nearest_labels([one]).tolist() == [0, 2]
