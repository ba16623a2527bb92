"""Displays of searches."""

import numpy as np
import pytest

from wdrsvm.plotting import PathDisplay, SearchDisplay

from .cases import COSTS, RADII

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")


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


def test_arguments_go_to_what_is_drawn(search, path):
    lines = SearchDisplay.from_search(search, lw=3).ax_.lines
    assert [line.get_linewidth() for line in lines[:2]] == [3, 3]
    (image,) = SearchDisplay.from_search(search, kind="heatmap", cmap="magma").ax_.images
    assert image.get_cmap().name == "magma"
    assert PathDisplay(path).plot_objective(c="red").ax_.lines[1].get_color() == "red"


def test_the_surface_needs_three_dimensions(search):
    display = SearchDisplay.from_search(search, kind="surface")
    assert display.ax_.name == "3d"


def test_unknown_kinds_are_an_error(search):
    with pytest.raises(ValueError, match="kind must be one of"):
        SearchDisplay.from_search(search, kind="pie")
