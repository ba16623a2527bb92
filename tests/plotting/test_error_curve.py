"""Pictures of worst-case errors against the radius."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wdrsvm import RobustLinearSVC, WassersteinBall, error_curve
from wdrsvm.plotting import ErrorCurveDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

X, y = load_iris(return_X_y=True)
BALL = WassersteinBall(0.1)


@pytest.fixture(scope="module")
def plain():
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)


def names_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_the_line_is_the_curve(plain):
    display = ErrorCurveDisplay.from_estimator(plain, X, y, BALL, max_radius=0.5)
    curve = error_curve(plain, X, y, BALL)
    radii, errors = display.lines_[0].get_data()
    np.testing.assert_allclose(errors, curve.at(radii))
    assert (radii[0], radii[-1]) == (0, 0.5)
    assert names_of(display) == ["LogisticRegression"]
    assert display.ax_.get_xlim() == (0, 0.5)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == (
        "radius",
        "worst-case error",
    )


def test_a_level_is_marked_where_it_is_reached(plain):
    display = ErrorCurveDisplay.from_estimator(plain, X, y, BALL, level=0.3, name="one")
    radius = error_curve(plain, X, y, BALL).budget_for(0.3)
    assert display.marks_[0].get_xdata() == pytest.approx([radius])
    assert display.marks_[0].get_ydata() == [0.3]
    assert names_of(display) == [f"one: 30 % at {radius:.3g}"]
    near = ErrorCurveDisplay(display.curves).plot(level=0.3, max_radius=radius / 2)
    assert near.marks_ == []


def test_a_level_that_is_never_reached_says_so():
    model = LogisticRegression().fit(X[:, :1], y)
    ball = WassersteinBall(0.1, feature_cost=[np.inf])
    display = ErrorCurveDisplay.from_estimator(model, X[:, :1], y, ball, level=0.9)
    assert names_of(display) == ["LogisticRegression: never 90 %"]


def test_several_models_differ_without_colour(plain):
    models = {"a": plain, "b": LogisticRegression(max_iter=1000).fit(X, y)}
    display = ErrorCurveDisplay.from_estimators(models, X, y, BALL, confidence=0.9)
    assert names_of(display) == ["a", "b"]
    styles = {line.get_linestyle() for line in display.lines_}
    assert len(styles) == 2
    assert display.curves["a"].confidence == 0.9
    again = ErrorCurveDisplay.from_estimators([plain, plain], X, y, BALL, ax=display.ax_)
    assert list(again.curves) == ["LogisticRegression 0", "LogisticRegression 1"]
    drawn = {line.get_linestyle() for line in (*display.lines_, *again.lines_)}
    assert len(drawn) == 4


@pytest.mark.parametrize("promise", ["joint", "within"])
def test_classes_have_curves_of_one_promise(plain, promise):
    display = ErrorCurveDisplay.from_estimator(plain, X, y, BALL, by_class=promise)
    curves = getattr(error_curve(plain, X, y, BALL).by_class, promise)
    assert names_of(display) == ["class 0", "class 1", "class 2"]
    for line, curve in zip(display.lines_, curves.values(), strict=True):
        np.testing.assert_allclose(line.get_ydata(), curve.at(line.get_xdata()))


def test_many_breakpoints_are_thinned():
    rng = np.random.default_rng(0)
    many = rng.normal(size=(5000, 2))
    labels = (many[:, 0] > 0).astype(int)
    model = LogisticRegression().fit(many, labels)
    display = ErrorCurveDisplay.from_estimator(model, many, labels, BALL)
    assert len(display.lines_[0].get_xdata()) == 1000


def test_own_balls_arguments_and_refusals(plain):
    own = RobustLinearSVC(radius=0.2, label_cost=np.inf).fit(X, y)
    kwargs = {"c": "red", "lw": 4}
    display = ErrorCurveDisplay.from_estimator(own, X, y, line_kwargs=kwargs)
    assert (display.lines_[0].get_color(), display.lines_[0].get_linewidth()) == ("red", 4)
    assert display.curves["RobustLinearSVC"].radius == 0.2
    with pytest.raises(TypeError, match="ball must be given for Pipeline"):
        ErrorCurveDisplay.from_estimator(plain, X, y)
    with pytest.raises(ValueError, match="by_class must be None or one of 'joint'"):
        ErrorCurveDisplay.from_estimator(plain, X, y, BALL, by_class="both")
