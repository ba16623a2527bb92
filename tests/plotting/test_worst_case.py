"""Decision regions with the adversary drawn in."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from wdrsvm import RobustLinearSVC, RobustSVC, WassersteinBall
from wdrsvm.plotting import WorstCaseDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

X, codes = make_blobs(60, centers=[(-2, -1), (2, -1), (0, 2)], random_state=0)
y = np.array(["ash", "birch", "cedar"])[codes]
FAST = {"grid_resolution": 30}


def drawn(display, label):
    """Places of the markers under a name of the legend."""
    (found,) = (each for each in display.ax_.collections if each.get_label() == label)
    return np.asarray(found.get_offsets())


def arrows(display):
    """Where each arrow begins and ends."""
    return [(text.xyann, text.xy) for text in display.ax_.texts]


def test_points_and_flips_are_those_of_the_worst_case():
    model = RobustLinearSVC(0.1, 1.0).fit(X, y)
    display = WorstCaseDisplay.from_estimator(model, X, y, **FAST)
    worst = model.worst_case_distribution(X, y, tail_mass=1.0)
    flipped = (worst.kind == "flipped") & (worst.y == "birch")
    assert flipped.any()
    assert drawn(display, "ash") == pytest.approx(X[y == "ash"])
    assert drawn(display, "flipped to birch") == pytest.approx(X[worst.source[flipped]])


@pytest.mark.parametrize("rows", [y != "cedar", y != ""])
def test_regions_are_the_predictions(rows):
    model = RobustLinearSVC().fit(X[rows], y[rows])
    display = WorstCaseDisplay.from_estimator(model, X[rows], y[rows], **FAST)
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    winners = display.classes[display.scores.argmax(axis=2)].ravel()
    assert (winners == model.predict(grid)).all()


def test_moves_in_a_box_end_where_the_worst_case_has_them():
    box = (X.min(axis=0), X.max(axis=0))
    model = RobustLinearSVC(0.3, np.inf, norm="l1", support=box).fit(X, y)
    display = WorstCaseDisplay.from_estimator(model, X, y, **FAST)
    worst = display.worst
    moved = worst.kind == "moved"
    assert moved.sum() > 1
    ends = np.array([end for _, end in arrows(display)])
    assert ends == pytest.approx(worst.X[moved])


def test_a_move_that_leaves_the_picture_is_cut_at_its_edge():
    model = LogisticRegression().fit(X, y)
    ball = WassersteinBall(0.5, np.inf)
    display = WorstCaseDisplay.from_estimator(model, X, y, ball, **FAST)
    ((begin, end),) = arrows(display)
    (atom,) = np.flatnonzero(display.worst.kind == "moved")
    way, drawn_way = display.worst.X[atom] - begin, np.subtract(end, begin)
    assert 0 < np.linalg.norm(drawn_way) < np.linalg.norm(way)
    assert way[0] * drawn_way[1] == pytest.approx(way[1] * drawn_way[0])
    assert display.xx0.min() <= end[0] <= display.xx0.max()
    assert display.xx1.min() <= end[1] <= display.xx1.max()


def test_a_pipeline_is_drawn_where_its_last_step_sees_the_points():
    pipeline = make_pipeline(StandardScaler(), RobustLinearSVC()).fit(X, y)
    display = WorstCaseDisplay.from_estimator(pipeline, X, y, **FAST)
    assert display.X == pytest.approx(pipeline[0].transform(X))


def test_kernels_have_flips_but_no_arrows():
    model = RobustSVC(0.1, 0.5).fit(X, y)
    display = WorstCaseDisplay.from_estimator(model, X, y, **FAST)
    assert (display.worst.kind == "flipped").any()
    assert arrows(display) == []
    assert display.ax_.get_xlabel() == "x0"


def test_two_classes_and_no_adversary():
    two = y != "cedar"
    model = LinearSVC().fit(X[two], y[two])
    display = WorstCaseDisplay.from_estimator(model, X[two], y[two], s=5, **FAST)
    assert display.worst is None
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [
        "ash",
        "birch",
    ]
    assert display.ax_.collections[-1].get_sizes() == [5]


def test_the_adversary_can_be_left_out():
    model = RobustLinearSVC(0.1, 1.0).fit(X, y)
    display = WorstCaseDisplay.from_estimator(model, X, y, worst_case=False, **FAST)
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names == ["ash", "birch", "cedar"]
    assert "flipped to" in display.plot().ax_.get_legend().get_texts()[3].get_text()


def test_it_follows_the_style_of_its_axes_and_changes_no_setting():
    model = RobustLinearSVC(0.1, 1.0).fit(X, y)
    before = dict(matplotlib.rcParams)
    with matplotlib.pyplot.style.context("dark_background"):
        _, ax = matplotlib.pyplot.subplots()
        inside = dict(matplotlib.rcParams)
        assert WorstCaseDisplay.from_estimator(model, X, y, ax=ax, **FAST).ax_ is ax
        assert dict(matplotlib.rcParams) == inside
    assert dict(matplotlib.rcParams) == before


def test_only_planes_can_be_drawn():
    three = np.column_stack([X, X[:, 0]])
    model = RobustLinearSVC().fit(three, y)
    with pytest.raises(ValueError, match="X must have 2 features"):
        WorstCaseDisplay.from_estimator(model, three, y)
