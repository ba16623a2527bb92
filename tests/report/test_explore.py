"""The page with sliders: what is on it, without a browser."""

import json
import re

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler

from wdrsvm import WassersteinBall, robust_path, worst_case_distribution
from wdrsvm.report import explore, explore_page
from wdrsvm.robustness.promises.worst_case import LinearScores

X, y = make_blobs(60, centers=3, cluster_std=2.0, random_state=0)
NAMES = np.array(["<b>", "</script>", "oak"])
COSTS = [np.inf, 0.5]


@pytest.fixture(scope="module")
def page():
    return explore_page(X * 3 + 1, NAMES[y], radii=[0.02, 0.3], label_costs=COSTS)


def told(html):
    return json.loads(re.search(r'id="explore-data">(.*?)</script>', html, re.S)[1])


def test_the_classifiers_are_those_of_the_path(page):
    data = told(page.html())
    # To the last digit: classifiers of nearly equal rows differ where many are optimal.
    rows = StandardScaler().fit_transform(X * 3 + 1)
    path = robust_path(rows, NAMES[y], [0.02, 0.3], [0.5, np.inf])
    assert data["labelCosts"] == [0.5, None]
    assert data["classes"] == sorted(NAMES)
    for r, k in np.ndindex(2, 2):
        model = data["models"][r][k]
        np.testing.assert_allclose(model["M"], path.coef[r, k], atol=1e-4)
        np.testing.assert_allclose(model["b"], path.intercept[r, k], atol=1e-4)
        assert model["objective"] == pytest.approx(path.objective[r, k])


def test_the_worst_case_is_within_the_budget_and_weighs_as_told(page):
    data = told(page.html())
    for r, k in np.ndindex(2, 2):
        model, radius = data["models"][r][k], data["radii"][r]
        cost = data["labelCosts"][k] or np.inf
        scores = LinearScores(*map(np.array, (model["M"], model["b"], range(3))))
        rows, codes = np.array(data["X"]), np.array(data["y"])
        ball = WassersteinBall(radius, cost)
        worst = worst_case_distribution(scores, rows, codes, ball, tail_mass=0.01)
        assert model["spent"] <= radius * (1 + 1e-8)
        assert model["attained"] <= model["objective"] + 1e-8
        share = sum(flip[2] for flip in model["flips"]) / len(codes)
        assert share == pytest.approx(worst.weight[worst.kind == "flipped"].sum(), abs=1e-6)
        assert (cost == np.inf) == (not model["flips"])


def test_names_cannot_end_the_script_and_only_it_may_run(page):
    html = page.html()
    assert html.count("</script>") == 2
    assert "<b>" not in html
    assert re.search(r"script-src 'sha256-[\w+/]{43}='", html)
    assert "script-src" not in type(page)("t", "l").html()


def test_axes_are_in_the_units_of_the_table(page):
    data = told(page.html())
    raw = np.array(data["X"]) * data["scale"] + data["centre"]
    np.testing.assert_allclose(raw, X * 3 + 1, rtol=1e-7)


def test_of_many_rows_some_are_shown_and_no_class_is_lost(monkeypatch):
    monkeypatch.setattr(explore, "MAX_ROWS", 20)
    labels = np.where(np.arange(60) < 2, "rare", "common")
    page = explore_page(X, labels, radii=[0.1], label_costs=[1.0])
    data = told(page.html())
    assert data["classes"] == ["common", "rare"]
    assert data["y"].count(1) == 2
    assert 20 <= len(data["y"]) <= 24
    assert "of 60" in page.html()


def test_names_come_from_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["width", "height"])
    page = explore_page(frame, y, radii=[0.1], label_costs=1.0)
    assert told(page.html())["names"] == ["width", "height"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"X": X[:, :1]}, "X must have two features"),
        ({"names": ["a"]}, "two names"),
        ({"X": X * [1, 0]}, "second feature must have more than one value"),
        ({"label_costs": [0.0]}, "label_costs must be numbers > 0"),
        ({"label_costs": [np.ones((3, 3))]}, "label_costs must be numbers > 0"),
        ({"radii": [0.0, 1.0]}, "radii must be > 0"),
        ({"norm": "l3"}, "norm"),
    ],
)
def test_what_cannot_be_shown_is_refused(options, sentence):
    given = {"X": X, "y": y, "radii": [0.1], "label_costs": [1.0]} | options
    with pytest.raises(ValueError, match=re.escape(sentence)):
        explore_page(given.pop("X"), given.pop("y"), **given)
