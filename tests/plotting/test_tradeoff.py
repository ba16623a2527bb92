"""Pictures of plain against worst-case errors."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from wdrsvm import Tradeoff, WassersteinBall, robust_path, tradeoff
from wdrsvm.plotting import TradeoffDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

X, y = load_iris(return_X_y=True)
BALL = WassersteinBall(0.1)


def test_points_front_and_names():
    errors, worst = np.array([0.1, 0.2, 0.3, 0.2]), np.array([0.5, 0.4, 0.6, 0.7])
    found = Tradeoff(["a", "b", "c", "d"], errors, worst, np.array([0, 1]), BALL)
    display = TradeoffDisplay(found).plot()
    np.testing.assert_array_equal(display.front_.get_xydata(), [[0.1, 0.5], [0.2, 0.4]])
    np.testing.assert_array_equal(display.points_.get_xydata(), [[0.3, 0.6], [0.2, 0.7]])
    assert [text.get_text() for text in display.ax_.texts] == ["a", "b"]
    assert display.points_.get_markerfacecolor() == "none"
    assert display.front_.get_markerfacecolor() != "none"
    bare = TradeoffDisplay(found).plot(with_names=False, c="red")
    assert len(bare.ax_.texts) == 0
    assert bare.front_.get_color() == "red"
    assert display.ax_.get_xlabel() == "error"


def test_names_stay_inside_the_picture():
    errors, worst = np.array([0.1, 0.15, 0.2]), np.array([0.5, 0.45, 0.4])
    names = ["a rather long name", "another long name", "a name at the right end"]
    found = Tradeoff(names, errors, worst, np.arange(3), BALL)
    ax = TradeoffDisplay(found).plot().ax_
    ax.figure.canvas.draw()
    frame = ax.get_window_extent()
    for text in ax.texts:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1
        assert frame.y0 <= box.y0 < box.y1 <= frame.y1
    legend = ax.get_legend()
    assert legend.get_window_extent().y0 >= frame.y1
    assert [text.get_text() for text in legend.get_texts()] == ["worth choosing from"]


def test_models_are_judged_on_the_way():
    path = robust_path(X, y, radii=[0.02, 0.2], label_costs=[np.inf])
    weight = 1.0 + np.arange(150) % 2
    _, ax = matplotlib.pyplot.subplots()
    display = TradeoffDisplay.from_models(path, X, y, BALL, ax=ax, sample_weight=weight)
    expected = tradeoff(path, X, y, BALL, sample_weight=weight)
    np.testing.assert_array_equal(display.tradeoff.error, expected.error)
    assert display.ax_ is ax
    assert display.ax_.get_ylabel() == "worst-case error at radius 0.1"
