"""Curves of certified radii."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wdrsvm import RobustLinearSVC, certified_radius
from wdrsvm.plotting import CertifiedRadiusDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

X, y = load_iris(return_X_y=True)


def share_at(display, radius):
    """The height of the drawn steps: a share holds up to and including its radius."""
    place = np.searchsorted(display.line_.get_xdata(), radius, side="left")
    return display.line_.get_ydata()[place]


@pytest.fixture(scope="module")
def pipeline():
    return make_pipeline(StandardScaler(), RobustLinearSVC()).fit(X, y)


def test_the_curve_is_the_share_of_right_rows_within_their_radius(pipeline):
    display = CertifiedRadiusDisplay.from_estimator(pipeline, X, y, norm="l1")
    radii, right = certified_radius(pipeline, X, "l1"), pipeline.predict(X) == y
    assert display.share[0] == pytest.approx(pipeline.score(X, y))
    for radius in (0.1, *np.sort(radii)[[5, 70, 149]]):
        assert share_at(display, radius) == pytest.approx(
            np.mean(right & (radii >= radius))
        )
    assert display.share[-1] == 0
    assert display.name == "RobustLinearSVC"
    assert display.ax_.get_ylabel() == "share of rows certified and right"


def test_without_labels_every_row_counts(pipeline):
    display = CertifiedRadiusDisplay.from_estimator(pipeline, X)
    assert display.share[0] == 1
    assert display.ax_.get_ylabel() == "share of rows certified"


def test_rows_that_nothing_moves_over_stay_to_the_end():
    display = CertifiedRadiusDisplay.from_predictions([0.0, 1.0, np.inf, 1.0])
    assert display.radius == pytest.approx([0, 1, 1.05])
    assert display.share == pytest.approx([1, 0.75, 0.25])
    only = CertifiedRadiusDisplay.from_predictions([np.inf, np.inf])
    assert only.share == pytest.approx([1, 1])


def test_weights_are_shares():
    display = CertifiedRadiusDisplay.from_predictions([1.0, 2.0], sample_weight=[3.0, 1.0])
    assert display.share == pytest.approx([1, 1, 0.25, 0])


def test_several_models_share_an_axis_and_differ_without_colour(pipeline):
    plain = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    _, ax = matplotlib.pyplot.subplots()
    for model in (pipeline, plain):
        CertifiedRadiusDisplay.from_estimator(model, X, y, ax=ax)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["RobustLinearSVC", "LogisticRegression"]
    assert ax.lines[0].get_linestyle() != ax.lines[1].get_linestyle()


def test_arguments_go_to_the_line_and_settings_stay():
    before = dict(matplotlib.rcParams)
    display = CertifiedRadiusDisplay.from_predictions([1.0], name="one", c="red", lw=4)
    assert (display.line_.get_color(), display.line_.get_linewidth()) == ("red", 4)
    again = display.plot(name="other")
    assert again.ax_.get_legend().get_texts()[0].get_text() == "other"
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, -1.0],), "radii must be numbers >= 0"),
        (([np.nan],), "radii must be numbers >= 0"),
        (([1.0], [0]), "y_true and y_pred must be given together"),
        (([1.0], [0, 1], [0, 1]), "inconsistent numbers of samples"),
    ],
)
def test_what_makes_no_curve_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        CertifiedRadiusDisplay.from_predictions(*arguments)
