"""Pictures of sets of labels."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier

from wdrsvm import RobustConformalClassifier, WassersteinBall
from wdrsvm.plotting import CoverageDisplay, SetSizeDisplay

mpl.use("agg")


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def sets(iris):
    ball = WassersteinBall(0.05)
    return RobustConformalClassifier(RidgeClassifier(), 0.9, ball, random_state=0).fit(
        *iris
    )


def test_bars_are_the_shares_of_sizes_and_are_told_apart_without_colour(sets, iris):
    plain = RobustConformalClassifier(
        RidgeClassifier(), 0.9, WassersteinBall(0.0), random_state=0
    ).fit(*iris)
    display = SetSizeDisplay.from_estimators({"robust": sets, "plain": plain}, iris[0])
    sizes = sets.predict_set(iris[0]).sum(axis=1)
    heights = [bar.get_height() for bar in display.bars_[0]]
    np.testing.assert_allclose(heights, [(sizes == k).mean() for k in (1, 2, 3)])
    hatches = [bars[0].get_hatch() for bars in display.bars_]
    assert len(set(hatches)) == 2
    first = display.ax_.get_legend().get_texts()[0].get_text()
    assert first == f"robust: {sizes.mean():.2f} on average"
    alone = SetSizeDisplay.from_estimators(sets, iris[0], ax=display.ax_)
    assert alone.ax_ is display.ax_
    assert alone.ax_.get_legend().get_texts()[-1].get_text() == (
        f"{sizes.mean():.2f} on average"
    )


def test_dots_diamonds_and_the_promise(sets, iris):
    X, y = iris
    display = CoverageDisplay.from_estimator(sets, X, y)
    held = sets.predict_set(X)[np.arange(150), y]
    expected = [held.mean(), *(held[y == k].mean() for k in range(3))]
    np.testing.assert_allclose(display.dots_.get_xdata(), expected)
    within = sets.worst_case_coverage(X, y, by_class=True)
    np.testing.assert_allclose(
        display.diamonds_.get_xdata(), [sets.worst_case_coverage(X, y), *within]
    )
    assert display.line_.get_xdata()[0] == pytest.approx(0.9)
    assert display.dots_.get_marker() != display.diamonds_.get_marker()
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts[-1] == "promised for all rows together: 90 %"
    ticks = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert ticks == ["all rows", "class 0", "class 1", "class 2"]


def test_what_is_not_known_is_not_drawn(iris):
    X, y = iris
    ball = WassersteinBall(0.02, 2.0)
    flipping = RobustConformalClassifier(RidgeClassifier(), 0.8, ball, random_state=0)
    display = CoverageDisplay.from_estimator(flipping.fit(X, y), X, y)
    assert np.isnan(display.worst).tolist() == [False, True, True, True]
    several = RobustConformalClassifier(
        RidgeClassifier(), 0.8, WassersteinBall(0.0), by_class=True, cv=2, random_state=0
    ).fit(X, y)
    display = CoverageDisplay.from_estimator(several, X, y)
    assert np.isnan(display.worst).all()
    assert display.by_class
    two = CoverageDisplay.from_estimator(several, X[:100], y[:100])
    assert two.names == ["all rows", "class 0", "class 1"]
