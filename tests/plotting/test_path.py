"""Displays of searches and paths."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from wdrsvm import RobustLinearSVCCV, WassersteinBall, robust_path, worst_case_distribution
from wdrsvm.plotting import PathDisplay, SearchDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

X, y = load_iris(return_X_y=True)
X = scale(X)
RADII, COSTS = [0.2, 0.01, 0.05], [0.5, np.inf]


@pytest.fixture(scope="module")
def search():
    return RobustLinearSVCCV(RADII, COSTS, cv=3).fit(X, y)


@pytest.fixture(scope="module")
def path():
    return robust_path(X, y, RADII, COSTS)


def test_lines_are_the_mean_scores_by_radius(search):
    display = SearchDisplay.from_search(search)
    means = search.cv_results_["mean_test_score"].reshape(2, 3)
    for line, mean in zip(display.ax_.lines, means, strict=False):
        assert line.get_xdata() == pytest.approx([0.01, 0.05, 0.2])
        assert line.get_ydata() == pytest.approx(mean[[1, 2, 0]])
    *bands, crosses = display.ax_.collections
    assert len(bands) == 2
    (constant,) = np.flatnonzero(search.cv_results_["constant"])
    assert np.asarray(crosses.get_offsets()) == pytest.approx(
        np.array([[RADII[constant], means[0, 0]]])
    )
    assert "promises no more than a constant" in display.ax_.get_legend_handles_labels()[1]
    errors = search.cv_results_["std_test_score"][:3] / np.sqrt(3)
    top = bands[0].get_paths()[0].vertices[:, 1].max()
    assert top == pytest.approx((means[0] + errors).max())


def test_the_heat_map_marks_the_choice(search):
    display = SearchDisplay.from_search(search, kind="heatmap")
    (star,) = display.ax_.lines
    column = sorted(RADII).index(search.radius_)
    assert star.get_xdata() == [column]
    assert star.get_ydata() == [COSTS.index(search.label_cost_)]


@pytest.mark.parametrize("kind", ["heatmap", "surface"])
def test_points_that_promise_nothing_are_crossed_out(search, kind):
    ax = SearchDisplay.from_search(search, kind=kind).ax_
    marked = SearchDisplay.from_search(search, kind=kind).ax_
    names = [marked.get_title(), *ax.get_legend_handles_labels()[1]]
    assert any("promises no more than a constant" in name for name in names)


def test_a_path_marks_them_too(path):
    assert path.constant.tolist() == [[True, False], [False, False], [False, False]]
    (crosses,) = PathDisplay(path).plot_objective().ax_.collections
    expected = np.array([[RADII[0], path.objective[0, 0]]])
    assert np.asarray(crosses.get_offsets()) == pytest.approx(expected)


def test_all_pictures_of_a_path_mark_them(path):
    flips = PathDisplay(path).plot_flipped_labels(X, y).ax_
    changed = path.flipped_labels(X, y)[0, 0]
    (crosses,) = flips.collections
    assert np.asarray(crosses.get_offsets()) == pytest.approx(
        np.array([[RADII[0], changed]])
    )
    drawn = PathDisplay(path).plot_coefficients(1).ax_
    (crosses,) = drawn.collections
    expected = [[RADII[0], value] for value in path.coef[0, 0, 1]]
    assert np.asarray(crosses.get_offsets()) == pytest.approx(np.array(expected))
    assert drawn.get_title().startswith("class 1, label cost 0.5\ncrossed out: ")
    assert not PathDisplay(path).plot_coefficients(1, cost_index=1).ax_.collections


def test_arguments_go_to_what_is_drawn(search, path):
    lines = SearchDisplay.from_search(search, lw=3).ax_.lines
    assert [line.get_linewidth() for line in lines[:2]] == [3, 3]
    (image,) = SearchDisplay.from_search(search, kind="heatmap", cmap="magma").ax_.images
    assert image.get_cmap().name == "magma"
    assert PathDisplay(path).plot_objective(c="red").ax_.lines[1].get_color() == "red"


def test_lines_differ_in_more_than_colour(search, path):
    for ax in (
        SearchDisplay.from_search(search).ax_,
        PathDisplay(path).plot_objective().ax_,
    ):
        first, second = ax.lines[:2]
        assert first.get_linestyle() != second.get_linestyle()
        assert first.get_marker() != second.get_marker()


def test_the_surface_needs_three_dimensions(search):
    display = SearchDisplay.from_search(search, kind="surface")
    assert display.ax_.name == "3d"


def test_unknown_kinds_are_an_error(search):
    with pytest.raises(ValueError, match="kind must be one of"):
        SearchDisplay.from_search(search, kind="pie")


def test_coefficients_by_radius(path):
    display = PathDisplay(path).plot_coefficients(2, cost_index=1)
    for feature, line in enumerate(display.ax_.lines):
        assert line.get_ydata() == pytest.approx(path.coef[[1, 2, 0], 1, 2, feature])


def test_objectives_and_flips_have_a_line_a_label_cost(path):
    display = PathDisplay(path).plot_objective()
    assert len(display.ax_.lines) == 2
    display.plot_flipped_labels(X, y)
    flipped = path.flipped_labels(X, y)
    assert display.ax_.lines[0].get_ydata() == pytest.approx(flipped[[1, 2, 0], 0])


def test_flipped_labels_are_those_of_the_worst_case(path):
    """Counted in the explicit worst-case distribution; none where labels are trusted."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(X, y)
    model.coef_, model.intercept_ = path.coef[2, 0], path.intercept[2, 0]
    worst = worst_case_distribution(model, X, y, WassersteinBall(0.05, 0.5))
    changed = worst.weight[worst.y != y[worst.source]].sum() * len(y)
    flipped = path.flipped_labels(X, y)
    assert flipped[2, 0] == pytest.approx(changed, abs=0.02)
    assert (flipped[:, 1] == 0).all()


def test_it_draws_on_the_axes_it_is_given(path):
    _, ax = matplotlib.pyplot.subplots()
    assert PathDisplay(path).plot_objective(ax=ax).ax_ is ax
