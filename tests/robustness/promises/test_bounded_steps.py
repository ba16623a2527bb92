"""Errors inside a box and with categorical features, against brute force."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from wdrsvm import WassersteinBall, worst_case_error
from wdrsvm.problem import RobustProblem
from wdrsvm.robustness.promises import bounded_steps
from wdrsvm.robustness.promises.bounded_steps import BoundedSteps
from wdrsvm.robustness.promises.errors.wrong_costs import WrongCosts, leads_of

from .error_cases import NORMS, Fixed

DUAL_ORDER = {"l1": np.inf, "l2": 2, "linf": 1}


def categorical_case(seed, n_groups=2, norm="l2", walls=False):
    """Two numeric columns, then one-hot columns of three categories a group."""
    rng = np.random.default_rng(seed)
    n_rows, n_classes = 12, 3
    category = rng.integers(0, 3, (n_rows, n_groups))
    one_hot = np.hstack([np.eye(3)[category[:, g]] for g in range(n_groups)])
    X = np.hstack([rng.normal(size=(n_rows, 2)), one_hot])
    coef = rng.normal(size=(n_classes, X.shape[1]))
    intercept = rng.normal(size=n_classes)
    y = (X @ coef.T + intercept).argmax(axis=1)
    costs = rng.exponential(size=n_groups) + 0.05
    groups = [(2 + 3 * g + np.arange(3), costs[g]) for g in range(n_groups)]
    low, high = np.full(X.shape[1], -np.inf), np.full(X.shape[1], np.inf)
    if walls:
        low[:2], high[:2] = X[:, :2].min(axis=0), X[:, :2].max(axis=0)
    ball = WassersteinBall(0.1, norm=norm, support=(low, high), categorical=groups)
    return Fixed(coef, intercept), X, y, ball


def cheapest_by_hand(case, n):
    """All categories of all groups, then the dual norm of the numeric part."""
    (model, X, y, ball) = case
    groups = ball.groups(X.shape[1])
    best = np.inf
    for j in range(len(model.coef_)):
        slope = model.coef_[j] - model.coef_[y[n]]
        if j == y[n]:
            continue
        for chosen in itertools.product(range(3), repeat=len(groups)):
            moved, paid = X[n].copy(), 0.0
            for group, k in zip(groups, chosen, strict=True):
                paid += 0.0 if X[n, group.columns[k]] else group.cost
                moved[group.columns] = np.eye(3)[k]
            gap = -(moved @ slope + model.intercept_[j] - model.intercept_[y[n]])
            rate = np.linalg.norm(slope[:2], DUAL_ORDER[ball.norm])
            best = min(best, paid + max(gap, 0.0) / rate)
    return best


def costs_of(case):
    model, X, y, ball = case
    return WrongCosts(model.coef_, model.intercept_, ball)(X, y, None)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("seed", range(6))
def test_switches_of_categories_are_counted_exactly(norm, seed):
    case = categorical_case(seed, norm=norm)
    expected = [cheapest_by_hand(case, n) for n in range(12)]
    np.testing.assert_allclose(costs_of(case), expected, rtol=1e-9)


@pytest.mark.parametrize("norm", NORMS)
def test_of_many_categorical_features_the_cost_is_a_lower_bound(norm, monkeypatch):
    for seed in range(6):
        case = categorical_case(seed, n_groups=3, norm=norm)
        exact = costs_of(case)
        with monkeypatch.context() as patch:
            patch.setattr(bounded_steps, "MAX_SWITCHES", 2)
            bound = costs_of(case)
            model, X, y, ball = case
            groups = ball.groups(X.shape[1])
            for n in range(12):
                ratios = []
                for j in set(range(3)) - {y[n]}:
                    slope = model.coef_[j] - model.coef_[y[n]]
                    gap = -(X[n] @ slope + model.intercept_[j] - model.intercept_[y[n]])
                    rates = [np.linalg.norm(slope[:2], DUAL_ORDER[norm])]
                    rates += [
                        (slope[g.columns].max() - slope[g.columns] @ X[n, g.columns])
                        / g.cost
                        for g in groups
                    ]
                    ratios.append(gap / max(rates))
                assert bound[n] == pytest.approx(min(ratios))
        assert (bound <= exact + 1e-12).all()
        assert (bound < exact - 1e-6).any()


def test_a_switch_of_infinite_cost_never_happens():
    model, X, y, ball = categorical_case(0)
    groups = [(group.columns, np.inf) for group in ball.groups(X.shape[1])]
    fixed = WassersteinBall(0.1, categorical=groups)
    price = np.array([1.0, 1.0, *[np.inf] * 6])
    expected = worst_case_error(model, X, y, WassersteinBall(0.1, feature_cost=price))
    assert worst_case_error(model, X, y, fixed) == pytest.approx(expected)


@pytest.mark.parametrize("norm", ["l1", "linf"])
@pytest.mark.parametrize("seed", range(10))
def test_a_box_limits_movement_exactly(norm, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((10, 4))
    price = rng.exponential(size=4) + 0.2
    model = Fixed(rng.normal(size=(3, 4)), rng.normal(size=3) * 0.3)
    y = model.scores(X).argmax(axis=1)
    ball = WassersteinBall(0.1, norm=norm, feature_cost=price, support=(0.0, 1.0))
    found = costs_of((model, X, y, ball))
    for n in range(10):
        ways = [
            way_by_program(norm, model, X[n], y[n], j, price) for j in range(3) if j != y[n]
        ]
        assert found[n] == pytest.approx(min(ways), rel=1e-7, abs=1e-9)


def way_by_program(norm, model, x, own, rival, price):
    """Variables: the step, its absolute size in each feature, and the largest of them."""
    slope = model.coef_[rival] - model.coef_[own]
    gap = -(x @ slope + model.intercept_[rival] - model.intercept_[own])
    unit, none = np.diag(price), np.zeros((4, 1))
    rows = [
        np.hstack([unit, -np.eye(4), none]),
        np.hstack([-unit, -np.eye(4), none]),
        np.hstack([np.zeros((4, 4)), np.eye(4), -np.ones((4, 1))]),
        np.hstack([-slope, np.zeros(5)])[None],
    ]
    bounds = [*zip(-x, 1 - x, strict=True), *[(0, None)] * 5]
    objective = np.r_[np.zeros(4), np.ones(4), 0] if norm == "l1" else np.eye(9)[-1]
    solved = linprog(objective, np.vstack(rows), [*np.zeros(12), -gap], bounds=bounds)
    return solved.fun if solved.status == 0 else np.inf


def mixed_way_by_program(case, n):
    """All categories of all groups, then the cheapest l1 step of the numbers."""
    model, X, y, ball = case
    groups, (low, high) = ball.groups(X.shape[1]), ball.box(X.shape[1])
    best = np.inf
    for j in np.delete(np.arange(len(model.coef_)), y[n]):
        slope = model.coef_[j] - model.coef_[y[n]]
        for chosen in itertools.product(range(3), repeat=len(groups)):
            moved, paid = X[n].copy(), 0.0
            for group, k in zip(groups, chosen, strict=True):
                paid += 0.0 if X[n, group.columns[k]] else group.cost
                moved[group.columns] = np.eye(3)[k]
            gap = -(moved @ slope + model.intercept_[j] - model.intercept_[y[n]])
            # Steps up and down, each with its own end.
            ends = [*(high - X[n])[:2], *(X[n] - low)[:2]]
            gain = np.r_[slope[:2], -slope[:2]]
            program = linprog(
                np.ones(4), -gain[None], [-gap], bounds=[(0, e) for e in ends]
            )
            if program.status == 0:
                best = min(best, paid + program.fun)
    return best


@pytest.mark.parametrize("seed", range(6))
def test_walls_and_switches_together_are_counted_exactly(seed):
    case = categorical_case(seed, norm="l1", walls=True)
    expected = [mixed_way_by_program(case, n) for n in range(12)]
    np.testing.assert_allclose(costs_of(case), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("norm", NORMS)
def test_a_box_without_walls_in_reach_changes_nothing(norm):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 4))
    model = Fixed(rng.normal(size=(3, 4)), np.zeros(3))
    y = model.scores(X).argmax(axis=1)
    wide = WassersteinBall(0.2, norm=norm, support=(-1e4, 1e4))
    expected = worst_case_error(model, X, y, WassersteinBall(0.2, norm=norm))
    assert worst_case_error(model, X, y, wide) == pytest.approx(expected)
    half = {"l1": 0.7, "l2": 0.7, "linf": 0.2}[norm]
    tight = WassersteinBall(half, norm=norm, support=(X.min(axis=0), X.max(axis=0)))
    free = worst_case_error(model, X, y, WassersteinBall(half, norm=norm))
    assert worst_case_error(model, X, y, tight) < free


def test_walls_that_nothing_can_pass_make_a_row_safe():
    model = Fixed(np.array([[1.0], [-1.0]]), np.array([0.0, 0.0]))
    X, y = np.array([[1.0], [2.0]]), np.array([0, 0])
    ball = WassersteinBall(99.0, support=(0.5, 3.0))
    assert worst_case_error(model, X, y, ball) == 0
    ball = WassersteinBall(99.0, support=(0.0, 3.0))
    assert worst_case_error(model, X, y, ball) == 1


def test_rows_outside_the_box_and_columns_that_are_not_one_hot_are_refused():
    model, X, y, ball = categorical_case(0)
    with pytest.raises(ValueError, match="support must contain the data"):
        worst_case_error(model, X, y, WassersteinBall(0.1, support=(-0.1, 0.1)))
    with pytest.raises(ValueError, match="one-hot"):
        worst_case_error(model, X * 2, y, ball)


@pytest.mark.parametrize("norm", NORMS)
def test_steps_lead_where_their_cost_says(norm):
    model, X, y, ball = categorical_case(1, norm=norm, walls=True)
    problem = RobustProblem.of(X, y, np.full(12, 1 / 12), ball, 3)
    leads = leads_of(X, y, model.coef_, model.intercept_)
    steps, rows = BoundedSteps(problem), np.arange(12)
    reached = np.isfinite(steps.costs(model.coef_, leads))
    moved = X + steps.steps(model.coef_, leads, rows)
    after = leads_of(moved, y, model.coef_, model.intercept_).min(axis=0)
    np.testing.assert_allclose(after[reached], np.minimum(after[reached], 0), atol=1e-9)
    assert reached.sum() > 6


@pytest.mark.parametrize(("n_groups", "is_exact"), [(0, True), (6, True), (7, False)])
def test_six_categorical_features_may_switch(n_groups, is_exact):
    columns = [([2 * k, 2 * k + 1], 1.0) for k in range(n_groups)]
    ball = WassersteinBall(0.1, categorical=columns, support=(0.0, 1.0))
    X = np.tile([1.0, 0.0], (2, 7))
    problem = RobustProblem.of(X, np.arange(2), np.full(2, 0.5), ball, 2)
    assert bounded_steps.BoundedSteps(problem).is_exact is is_exact


@pytest.mark.parametrize("norm", NORMS)
def test_the_least_cost_is_the_gap_over_the_best_gain(norm):
    """Of a movement whose end is far away, or of a switch."""
    price, slope = np.array([0.5, 4.0]), np.array([1.0, -2.0, 3.0, -1.0])
    shape = {"categorical": [([2, 3], 0.25)], "support": ([-9, -9, 0, 0], [9, 9, 1, 1])}
    X = np.array([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    ball = WassersteinBall(0.1, norm=norm, feature_cost=[*price, 1.0, 1.0], **shape)
    problem = RobustProblem.of(X, np.array([0, 1, 0]), np.full(3, 1 / 3), ball, 2)
    found = BoundedSteps(problem)._least_costs(slope, np.array([2, 2, -1]), np.arange(3))
    moving = np.linalg.norm(slope[:2] / price, DUAL_ORDER[norm])
    # The first row switches from the fourth column to the third, and gains 4.
    np.testing.assert_allclose(found, [2 / max(moving, 4 / 0.25), 2 / moving, 0.0])
