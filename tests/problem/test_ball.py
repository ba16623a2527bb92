"""The ball refuses numbers that mean nothing, and says which."""

import re

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem.ball import as_float, check_cost_size


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
    with pytest.raises(ValueError, match="feature_cost must have one entry per feature"):
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
        ((np.zeros((2, 2)), 1.0), ValueError, "numbers or have one entry per feature"),
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
        ("yes", TypeError, "must be a sequence of pairs .* got 'yes'"),
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


def test_feature_costs_become_floats():
    cost = WassersteinBall(0.1, feature_cost=[1, 2]).feature_cost
    assert isinstance(cost, np.ndarray)
    assert cost.dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        cost[0] = 5.0


def test_a_category_one_column_too_far_is_named():
    ball = WassersteinBall(0.1, categorical=[([0, 3], 1.0)])
    assert len(ball.groups(4)) == 1
    with pytest.raises(ValueError, match="names column 3, but X has 3 features"):
        ball.groups(3)


def test_integers_larger_than_any_float_are_infinite():
    assert [as_float(n) for n in (3, 10**400, -(10**400))] == [3.0, np.inf, -np.inf]


def test_the_least_and_the_largest_size_are_allowed():
    for size in (1e-60, 1.0, 1e60):
        check_cost_size(np.array([0.0, size, np.inf]), "it")
        assert WassersteinBall(size).radius == size
        WassersteinBall(0.1, support=(-size, size))
        WassersteinBall(0.1, categorical=[([0, 1], size)])


def test_every_argument_is_named_where_it_is_refused():
    """All in one place, with the first words of the sentence."""
    for arguments, sentence in (
        ({"label_cost": "dear"}, "label_cost must be numeric, got 'dear'"),
        ({"feature_cost": ["dear"]}, r"feature_cost must be numeric, got \['dear'\]"),
        ({"support": (0.0, "far")}, "support must be numeric, got 'far'"),
        ({"label_cost": -1e-9}, "label_cost must be >= 0"),
        ({"label_cost": [[0.0, np.nan], [1.0, 0.0]]}, "label_cost must be >= 0"),
        ({"label_cost": 1e61}, "label_cost must be between"),
        ({"label_cost": np.zeros((3, 2))}, "label_cost must be a number or a square"),
        ({"label_cost": np.zeros((2, 2, 2))}, "label_cost must be a number or a square"),
        ({"label_cost": np.zeros(2)}, "label_cost must be a number or a square"),
        ({"label_cost": np.diag([0.0, 1.0])}, "label_cost must have a zero diagonal"),
        ({"feature_cost": [1.0, 0.0]}, "feature_cost must be > 0"),
        ({"feature_cost": [1.0, np.nan]}, "feature_cost must be > 0"),
        ({"feature_cost": [1e61]}, "feature_cost must be between"),
        ({"feature_cost": 1.0}, "feature_cost must have one entry per feature"),
        ({"support": ([0.0, 2.0], 1.0)}, "support must have low <= high"),
        ({"categorical": [([0, 1],)]}, r"categorical must hold pairs \(columns, cost\)"),
        ({"categorical": [([0, 1], "dear")]}, "categorical must hold pairs"),
        ({"categorical": [([0, 1], 0.0)]}, "categorical must have costs > 0"),
        ({"categorical": [([0, 1], 1.0), ([3, 1], 1.0)]}, "names column 1 twice"),
    ):
        with pytest.raises((TypeError, ValueError), match=f"^(categorical )?{sentence}"):
            WassersteinBall(0.1, **arguments)
    for radius in (-1e-9, np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match=r"^radius must be a finite number >= 0"):
            WassersteinBall(radius)
    for radius in ("0.1", None, True, np.True_, [0.1]):
        with pytest.raises(TypeError, match=r"^radius must be a number"):
            WassersteinBall(radius)


def test_the_number_that_is_too_large_or_too_small_is_named():
    for odd in (0.99e-60, 1.01e60):
        named = re.escape(f"got {odd!r}")
        with pytest.raises(ValueError, match=f"it must be between .* {named}"):
            check_cost_size(np.array([1.0, odd, 2.0]), "it")
        with pytest.raises(ValueError, match=f"categorical's cost must be .* {named}"):
            WassersteinBall(0.1, categorical=[([0, 1], odd)])


def test_ends_of_a_box_that_are_too_far_are_refused_on_either_side():
    for support in ((-1.01e60, 0.0), (0.0, 1.01e60)):
        with pytest.raises(ValueError, match="ends of at most 1e\\+60 in size"):
            WassersteinBall(0.1, support=support)
    with pytest.raises(ValueError, match="radius must be at most 1e\\+60"):
        WassersteinBall(1.01e60)


def test_a_support_has_two_ends_that_are_no_tables():
    table = np.zeros((2, 2))
    for support in ([0.0, 1.0, 2.0], [0.0], (0.0, table + 1), (table, 1.0)):
        with pytest.raises((TypeError, ValueError), match="support must"):
            WassersteinBall(0.1, support=support)
    for support in ((-np.inf, -np.inf), (np.inf, np.inf), ([0.0, np.inf], np.inf)):
        with pytest.raises(ValueError, match="support must not be empty"):
            WassersteinBall(0.1, support=support)


def test_a_box_may_be_a_point_and_a_list():
    low, high = WassersteinBall(0.1, support=[0.0, [0.0, 1.0]]).box(2)
    assert low.dtype == high.dtype == np.float64
    assert (low.tolist(), high.tolist()) == ([0.0, 0.0], [0.0, 1.0])
    low, high = WassersteinBall(0.1).box(2)
    assert (low.tolist(), high.tolist()) == ([-np.inf] * 2, [np.inf] * 2)


def test_a_box_names_the_shapes_of_ends_that_do_not_fit():
    ball = WassersteinBall(0.1, support=([0.0, 0.0], 1.0))
    with pytest.raises(ValueError, match=r"shapes \(2,\) and \(\), but X has 3 features"):
        ball.box(3)


def test_groups_have_whole_columns_and_their_costs():
    unsigned = np.array([4, 2], dtype=np.uint8)
    ball = WassersteinBall(0.1, categorical=[([0, 1], 2), (unsigned, np.inf)])
    first, second = ball.groups(5)
    assert (first.columns.tolist(), first.cost) == ([0, 1], 2.0)
    assert (second.columns.tolist(), second.cost) == ([4, 2], np.inf)
    assert second.columns.dtype == np.intp
    assert WassersteinBall(0.1).groups(0) == []
    # No groups at all are no categories.
    assert WassersteinBall(0.1, categorical=[]).categorical is None
    assert not WassersteinBall(0.1, categorical=[]).is_bounded


def test_columns_are_a_list_of_whole_numbers():
    for columns in ([[0, 1], [2, 3]], [0.0, 1.0], [-1, 2], [3], 7):
        with pytest.raises(ValueError, match="must name two columns or more by their num"):
            WassersteinBall(0.1, categorical=[(columns, 1.0)])


def test_an_unbounded_ball_keeps_everything_else():
    ball = WassersteinBall(0.1, 2.0, "l1", [1.0, 2.0, 3.0], (0.0, 1.0), [([0, 1], 1.0)])
    free = ball.unbounded()
    assert (free.support, free.categorical) == (None, None)
    assert (free.radius, free.label_cost, free.norm) == (0.1, 2.0, "l1")
    assert free.feature_cost is not None


@pytest.mark.parametrize(("norm", "length"), [("l1", 2.0), ("l2", 2**0.5), ("linf", 1.0)])
def test_a_freed_ball_makes_no_switch_dearer(norm, length):
    """The switch of a category moves two columns by one."""
    ball = WassersteinBall(0.1, 2.0, norm, [9.0, 9.0, 3.0], (0.0, 1.0), [([0, 1], 0.5)])
    free = ball.freed(3)
    assert (free.support, free.categorical) == (None, None)
    np.testing.assert_allclose(free.feature_cost, [0.5 / length, 0.5 / length, 3.0])
    np.testing.assert_array_equal(ball.feature_cost, [9.0, 9.0, 3.0])
    assert free.freed(3) is free


@pytest.mark.parametrize(
    "bounds", [{"support": (0.0, 1.0)}, {"categorical": [([0, 1], 1.0)]}], ids=str
)
def test_a_box_or_categories_alone_are_taken_off(bounds):
    ball = WassersteinBall(0.1, **bounds)
    for free in (ball.unbounded(), ball.freed(3)):
        assert (free.support, free.categorical) == (None, None)


def test_a_number_is_the_cost_of_every_other_label():
    found = WassersteinBall(0.1, 2).label_cost_matrix(3)
    np.testing.assert_array_equal(found, 2.0 * (1 - np.eye(3)))
    given = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
    found = WassersteinBall(0.1, given).label_cost_matrix(3)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, given)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("radius", 1e61),
        ("label_cost", 1e-61),
        ("label_cost", 1e61),
        ("label_cost", [[0.0, 1e-300], [1.0, 0.0]]),
        ("feature_cost", [1.0, 1e-61]),
        ("feature_cost", [1e61, np.inf]),
        ("support", (-1e61, 1e61)),
        ("categorical", [([0, 1], 1e-61)]),
    ],
)
def test_parameters_whose_products_overflow_are_refused(name, value):
    with pytest.raises(ValueError, match=f"^{name}.*(1e-60|1e\\+60)"):
        WassersteinBall(**{"radius": 0.1} | {name: value})


@pytest.mark.parametrize("cost", [0.0, 1e-60, 1e60, np.inf])
def test_the_ends_themselves_are_allowed(cost):
    ball = WassersteinBall(1e60, cost, support=(-np.inf, 1e60))
    assert ball.label_cost_matrix(2)[0, 1] == cost
