"""Displays of paths."""

import numpy as np
import pytest

from wdrsvm import WassersteinBall, worst_case_distribution
from wdrsvm.plotting import PathDisplay

from .cases import RADII, X, y

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")


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
