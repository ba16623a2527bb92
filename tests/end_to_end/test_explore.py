"""The page with sliders in a real browser: what it shows is what the library says."""

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from wdrsvm import WassersteinBall, worst_case_distribution, worst_case_risk
from wdrsvm.problem import LOSSES

webdriver = pytest.importorskip("selenium.webdriver")
Keys = webdriver.Keys


class Fitted(ClassifierMixin, BaseEstimator):
    """A classifier from the numbers on the page."""

    def __init__(self, model, classes):
        self.coef_, self.intercept_ = np.array(model["M"]), np.array(model["b"])
        self.classes_ = np.array(classes)

    def fit(self):
        """For what takes it for an estimator."""

    def scores(self, X):
        return X @ self.coef_.T + self.intercept_


@pytest.fixture
def page(browser, explored):
    path, X, y = explored
    browser.set_window_size(1200, 900)
    browser.get(path.as_uri())
    script = "return document.getElementById('explore-data').textContent"
    data = json.loads(browser.execute_script(script))
    rows = ((X - X.mean()) / X.std(ddof=0)).to_numpy()
    np.testing.assert_allclose(data["X"], rows, rtol=1e-7, atol=1e-8)
    return browser, data, rows, y.to_numpy().astype(str)


def text(browser, name):
    return browser.find_element("id", name).text


def regions(browser):
    found = browser.find_elements("css selector", "#plane .region")
    return [each.get_attribute("points") for each in found]


def press(browser, slider, key):
    browser.find_element("id", slider).send_keys(key)


def assert_shown(page, r, k):
    """All numbers, recomputed from (M, b) by the library."""
    browser, data, X, y = page
    model = data["models"][r][k]
    cost = np.inf if data["labelCosts"][k] is None else data["labelCosts"][k]
    ball = WassersteinBall(data["radii"][r], cost)
    classifier = Fitted(model, data["classes"])
    scores = classifier.scores(X)
    right = np.mean(classifier.classes_[scores.argmax(axis=1)] == y)
    codes = np.searchsorted(classifier.classes_, y)
    losses = LOSSES["crammer-singer"].of_labels(scores)[np.arange(len(y)), codes]
    risk = worst_case_risk(classifier, X, y, ball)
    worst = worst_case_distribution(classifier, X, y, ball, tail_mass=0.01)
    shown = {name: float(text(browser, name)) for name in ("certified", "training")}
    assert shown["certified"] == pytest.approx(risk, abs=2e-4)
    assert shown["training"] == pytest.approx(losses.mean(), abs=1e-4)
    wrong = float(text(browser, "wrong").rstrip(" %"))
    assert wrong == pytest.approx(100 * (1 - right), abs=0.06)
    for name, kind in (("flipped", "flipped"), ("moved", "moved")):
        mass = worst.weight[worst.kind == kind].sum()
        assert float(text(browser, name).rstrip(" %")) == pytest.approx(
            100 * mass, abs=0.06
        )
    assert float(text(browser, "spent")) <= data["radii"][r] * (1 + 1e-2)
    assert text(browser, "certified") in text(browser, "status")
    value = browser.find_element("id", "radius").get_attribute("aria-valuetext")
    assert float(value) == pytest.approx(data["radii"][r], rel=1e-2)


def test_arrow_keys_move_through_all_classifiers(page):
    browser, data, *_ = page
    press(browser, "radius", Keys.HOME)
    press(browser, "label-cost", Keys.HOME)
    seen = set()
    for k in range(len(data["labelCosts"])):
        press(browser, "radius", Keys.HOME)
        for r in range(len(data["radii"])):
            assert_shown(page, r, k)
            seen.add((text(browser, "status"), *regions(browser)))
            press(browser, "radius", Keys.ARROW_RIGHT)
        press(browser, "label-cost", Keys.ARROW_RIGHT)
    assert len(seen) == len(data["radii"]) * len(data["labelCosts"])
    assert browser.get_log("browser") == []


def test_dragging_a_slider_changes_the_boundary(page):
    browser, *_ = page
    slider = browser.find_element("id", "radius")
    press(browser, "label-cost", Keys.END)
    press(browser, "radius", Keys.HOME)
    before = regions(browser), text(browser, "certified")
    webdriver.ActionChains(browser).click_and_hold(slider).move_by_offset(
        100, 0
    ).release().perform()
    after = regions(browser), text(browser, "certified")
    assert before[0] != after[0]
    assert float(before[1]) < float(after[1])


def test_the_worst_case_is_drawn_and_can_be_hidden(page):
    browser, data, *_ = page
    press(browser, "label-cost", Keys.HOME)
    press(browser, "radius", Keys.HOME)
    press(browser, "radius", Keys.ARROW_RIGHT * 3)
    model = data["models"][3][0]
    drawn = len(browser.find_elements("css selector", "#plane .flip"))
    assert drawn == len(model["flips"]) + len(model["moves"]) > 0
    rows = browser.find_elements("css selector", "#flips tr")
    assert sum(int(row.find_element("css selector", "td").text) for row in rows) == len(
        model["flips"]
    )
    press(browser, "worst", Keys.SPACE)
    assert not browser.find_elements("css selector", "#plane .flip")


def test_regions_are_where_a_class_is_predicted(page):
    """The middle of every polygon belongs to its class; each class's share is its own."""
    browser, data, *_ = page
    press(browser, "label-cost", Keys.END)
    press(browser, "radius", Keys.HOME)
    classifier = Fitted(data["models"][0][-1], data["classes"])
    drawn = browser.find_elements("css selector", "#plane .region")
    assert len(drawn) == len(data["classes"])
    low, high = np.array(data["window"])
    for polygon in drawn:
        code = int(polygon.get_attribute("class")[1])
        corners = [pair.split(",") for pair in polygon.get_attribute("points").split()]
        x, y = np.array(corners, dtype=float).mean(axis=0)
        place = (np.array([x - 66, 424 - y]) / [564, 414]) * (high - low) + low
        assert classifier.scores(place[None]).argmax() == code


def test_keyboard_reaches_every_control(page):
    browser, *_ = page
    browser.execute_script("document.body.focus()")
    reached = []
    for _ in range(4):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        reached.append(browser.switch_to.active_element.get_attribute("id"))
    assert reached[:3] == ["radius", "label-cost", "worst"]
