"""The ball refuses numbers that mean nothing, and says which."""

import numpy as np
import pytest

from wdrsvm import WassersteinBall


@pytest.mark.parametrize("radius", [-0.1, np.nan, np.inf])
def test_radius_must_be_finite_and_nonnegative(radius):
    with pytest.raises(ValueError, match="radius must be a finite number >= 0"):
        WassersteinBall(radius)


@pytest.mark.parametrize("radius", ["0.1", None, True, [0.1]])
def test_radius_must_be_a_number(radius):
    with pytest.raises(TypeError, match="radius must be a number"):
        WassersteinBall(radius)


@pytest.mark.parametrize("radius", [0, 1, 0.5, np.float32(0.5), np.int64(2)])
def test_radius_becomes_a_float(radius):
    assert type(WassersteinBall(radius).radius) is float


@pytest.mark.parametrize("cost", [-1.0, np.nan, [[0.0, -1.0], [1.0, 0.0]]])
def test_label_cost_must_be_nonnegative(cost):
    with pytest.raises(ValueError, match="label_cost must be >= 0"):
        WassersteinBall(0.1, cost)


@pytest.mark.parametrize("cost", [[1.0, 2.0], np.zeros((2, 3)), np.zeros((2, 2, 2))])
def test_label_cost_must_be_square(cost):
    with pytest.raises(ValueError, match="label_cost must be a number or a square matrix"):
        WassersteinBall(0.1, cost)


def test_label_cost_must_have_a_zero_diagonal():
    with pytest.raises(ValueError, match="label_cost must have a zero diagonal"):
        WassersteinBall(0.1, np.ones((2, 2)))


def test_label_cost_must_be_numeric():
    with pytest.raises(TypeError, match="label_cost must be numeric"):
        WassersteinBall(0.1, "cheap")


def test_label_cost_matrix_must_fit_the_classes():
    ball = WassersteinBall(0.1, 1.0 - np.eye(2))
    with pytest.raises(ValueError, match=r"label_cost has shape .* there are 3 classes"):
        ball.label_cost_matrix(3)


def test_scalar_label_cost_has_a_zero_diagonal():
    matrix = WassersteinBall(0.1, np.inf).label_cost_matrix(3)
    np.testing.assert_array_equal(np.diag(matrix), 0.0)
    assert np.isinf(matrix[~np.eye(3, dtype=bool)]).all()


@pytest.mark.parametrize("norm", ["l3", "L2", None, 2, ["l2"]])
def test_norm_must_be_known(norm):
    with pytest.raises(ValueError, match="norm must be one of 'l1', 'l2', 'linf'"):
        WassersteinBall(0.1, norm=norm)


@pytest.mark.parametrize("cost", [[1.0, 0.0], [1.0, -1.0], [1.0, np.nan]])
def test_feature_cost_must_be_positive(cost):
    with pytest.raises(ValueError, match="feature_cost must be > 0"):
        WassersteinBall(0.1, feature_cost=cost)


def test_feature_cost_must_have_one_dimension():
    with pytest.raises(ValueError, match="feature_cost must have one entry a feature"):
        WassersteinBall(0.1, feature_cost=np.ones((2, 2)))


def test_feature_cost_must_fit_the_features():
    ball = WassersteinBall(0.1, feature_cost=[1.0, np.inf])
    with pytest.raises(ValueError, match=r"feature_cost has shape .* X has 3 features"):
        ball.feature_costs(3)


def test_feature_cost_is_one_by_default():
    np.testing.assert_array_equal(WassersteinBall(0.1).feature_costs(2), [1.0, 1.0])


@pytest.mark.parametrize(
    ("support", "error", "message"),
    [
        (3.0, TypeError, r"support must be a pair \(low, high\)"),
        (("a", 1.0), TypeError, "support must be numeric"),
        ((1.0, 0.0), ValueError, "low <= high"),
        ((np.nan, 0.0), ValueError, "low <= high"),
        ((np.inf, np.inf), ValueError, "support must not be empty"),
        ((np.zeros((2, 2)), 1.0), ValueError, "numbers or one entry a feature"),
    ],
)
def test_a_support_that_is_no_box(support, error, message):
    with pytest.raises(error, match=message):
        WassersteinBall(0.1, support=support)


def test_a_box_has_an_end_for_every_feature():
    low, high = WassersteinBall(0.1, support=(0.0, [1.0, np.inf])).box(2)
    assert low.tolist() == [0.0, 0.0]
    assert high.tolist() == [1.0, np.inf]
    with pytest.raises(ValueError, match="but X has 3 features"):
        WassersteinBall(0.1, support=(0.0, [1.0, np.inf])).box(3)


def test_only_finite_ends_and_categories_bound():
    assert not WassersteinBall(0.1).is_bounded
    assert not WassersteinBall(0.1, support=(-np.inf, np.inf)).is_bounded
    assert WassersteinBall(0.1, support=(-np.inf, [np.inf, 1.0])).is_bounded
    assert WassersteinBall(0.1, categorical=[([0, 1], 1.0)]).is_bounded
    assert not WassersteinBall(0.1, support=(0, 1)).unbounded().is_bounded


@pytest.mark.parametrize(
    ("categorical", "error", "message"),
    [
        ([[0, 1], [2]], ValueError, "must name two columns or more by their numbers"),
        ([3], TypeError, r"must hold pairs \(columns, cost\)"),
        ([([0], 1.0)], ValueError, "must name two columns or more by their numbers"),
        ([([0, -1], 1.0)], ValueError, "must name two columns or more by their numbers"),
        ([(["a", "b"], 1.0)], ValueError, "must name two columns or more"),
        ([([0, 1], 0.0)], ValueError, "must have costs > 0"),
        ([([0, 1], np.nan)], ValueError, "must have costs > 0"),
        ([([0, 1], 1.0), ([1, 2], 1.0)], ValueError, "names column 1 twice"),
    ],
)
def test_bad_categories(categorical, error, message):
    with pytest.raises(error, match=message):
        WassersteinBall(0.1, categorical=categorical)


def test_categories_of_columns_that_do_not_exist():
    with pytest.raises(ValueError, match="names column 5, but X has 3 features"):
        WassersteinBall(0.1, categorical=[([1, 5], 1.0)]).groups(3)


def test_the_ball_keeps_its_own_numbers():
    cost = np.array([[0.0, 1.0], [2.0, 0.0]])
    ball = WassersteinBall(0.1, cost)
    cost[0, 1] = 5.0
    assert ball.label_cost_matrix(2)[0, 1] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        ball.label_cost_matrix(2)[0, 1] = 5.0


def test_the_ball_cannot_be_changed():
    with pytest.raises(AttributeError):
        WassersteinBall(0.1).radius = 0.2


@pytest.mark.parametrize("radius", [10**400, 1e200])
def test_a_radius_beyond_all_sizes_is_refused(radius):
    with pytest.raises(ValueError, match="radius must be"):
        WassersteinBall(radius)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"label_cost": 1e-300}, "label_cost must be between"),
        ({"feature_cost": [1.0, 1e300]}, "feature_cost must be between"),
        ({"support": (-1e300, 1.0)}, "support must have ends of at most"),
        ({"categorical": 3}, "categorical must be a sequence of pairs"),
        ({"categorical": [3]}, "categorical must hold pairs"),
        ({"categorical": [([0, 1], 1.0), ([1, 2], 1.0)]}, "names column 1 twice"),
    ],
)
def test_odd_shapes_are_refused_by_name(arguments, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        WassersteinBall(0.1, **arguments)
