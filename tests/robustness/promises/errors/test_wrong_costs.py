"""What errors cost, row by row."""

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.robustness.promises.errors.wrong_costs import WrongCosts, leads_of

COEF = np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]])
NO_INTERCEPT = np.zeros(3)


def test_leads_are_over_each_class_and_infinite_over_the_own():
    leads = leads_of(np.array([[2.0, 0.0]]), np.array([0]), COEF, np.array([0.0, 1.0, 2.0]))
    np.testing.assert_array_equal(leads, [[np.inf], [3.0], [-2.0]])


def test_a_rival_that_moves_alike_is_never_or_already_there():
    costs = WrongCosts(COEF, np.array([0.5, 0.0, 0.0]), WassersteinBall(0.1))
    X = np.array([[2.0, 0.0]] * 2)
    np.testing.assert_allclose(costs(X, np.array([0, 2]), None), [4.5 / 2, 0.0])
    tied = WrongCosts(COEF, NO_INTERCEPT, WassersteinBall(0.1))
    np.testing.assert_allclose(tied(X, np.array([0, 2]), None), [0.0, 0.0])
    same = WrongCosts(np.zeros((2, 1)), np.array([0.0, 1.0]), WassersteinBall(0.1))
    found = same(np.ones((2, 1)), np.array([0, 1]), None)
    np.testing.assert_array_equal(found, [0.0, np.inf])


def test_features_that_cannot_move_do_not_count():
    coef, cost = np.array([[1.0, 5.0], [0.0, 0.0]]), np.array([2.0, np.inf])
    ball = WassersteinBall(0.1, feature_cost=cost)
    found = WrongCosts(coef, np.zeros(2), ball)(np.array([[1.0, 1.0]]), np.array([0]), None)
    assert found == pytest.approx(6.0 / (1.0 / 2.0))


def test_labels_cost_what_trust_makes_of_them():
    matrix = np.array([[0.0, 0.5, 0.2], [np.inf, 0.0, 3.0], [0.0, 1.0, 0.0]])
    costs = WrongCosts(np.eye(3), NO_INTERCEPT, WassersteinBall(0.1, matrix))
    X, y = np.eye(3) * 100, np.arange(3)
    np.testing.assert_allclose(costs(X, y, None), [0.2, 3.0, 0.0])
    trust = np.array([2.0, 0.0, np.inf])
    np.testing.assert_allclose(costs(X, y, trust), [0.4, 0.0, 100 / np.sqrt(2)])


def test_a_wrong_row_costs_nothing():
    costs = WrongCosts(np.eye(2), np.zeros(2), WassersteinBall(0.1, 9.0))
    assert costs(np.array([[0.0, 3.0]]), np.array([0]), None) == 0
