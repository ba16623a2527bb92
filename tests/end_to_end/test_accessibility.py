"""Every page that the project writes, judged by axe in light and in dark."""

import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

from wdrsvm import demo
from wdrsvm.cli.main import main
from wdrsvm.experiments import EXPERIMENTS, collect
from wdrsvm.report import Page, Section, Table
from wdrsvm.report.experiments import simulation, write_experiment_page

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from made_up import fill

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")
axe = pytest.importorskip("selenium_axe_python")

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
# What must have been looked at: rules that find nothing to judge prove nothing.
JUDGED = {"color-contrast", "document-title", "html-has-lang", "page-has-heading-one"}


def violations(browser, page, scheme):
    browser.set_window_size(1200, 900)
    preferred = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [preferred]})
    browser.get(page.resolve().as_uri())
    judge = axe.Axe(browser)
    judge.inject()
    found = judge.run(options=RULES)
    return found["violations"], {rule["id"] for rule in found["passes"]}


def assert_accessible(browser, page, *judged):
    for scheme in ("light", "dark"):
        broken, passed = violations(browser, page, scheme)
        told = [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in broken]
        assert told == [], scheme
        assert passed >= JUDGED | set(judged)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_pages_of_experiments(browser, name, tmp_path, monkeypatch):
    monkeypatch.setattr(simulation, "CLASSES", (4,))
    monkeypatch.setattr(simulation, "FEATURES", (3, 5))
    experiment = fill(name, tmp_path)
    page = write_experiment_page(collect(experiment, out=tmp_path, repetitions=2))
    assert_accessible(browser, page, "image-alt")


def test_the_page_of_the_demo(browser, tmp_path, capsys):
    demo.main(tmp_path / "demo.html")
    assert_accessible(browser, tmp_path / "demo.html", "image-alt")


def test_the_page_of_a_model(browser, iris_page):
    assert_accessible(browser, iris_page, "image-alt")


def test_the_page_of_an_audit(browser, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load_iris(as_frame=True).frame.to_csv("iris.csv", index=False)
    assert main(["audit", "iris.csv", "--target", "target", "--out", "audit.html"]) == 0
    assert_accessible(browser, tmp_path / "audit.html")


def test_the_page_with_sliders(browser, explored):
    assert_accessible(browser, explored[0], "label")


def test_a_page_that_few_can_read_is_found(browser, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(
        "<!doctype html><title>t</title><h3 style='color:#ccc'>pale</h3><input type=range>"
    )
    found = {rule["id"] for rule in violations(browser, page, "light")[0]}
    assert found >= {"color-contrast", "label", "html-has-lang", "page-has-heading-one"}


def test_a_wide_table_scrolls_by_keyboard(browser, tmp_path):
    table = Table("Wide", [f"c{i}" for i in range(60)], [list(range(60))])
    page = Page("Wide", "A table.", [Section("Table", [table])]).write(tmp_path / "w.html")
    browser.get(page.as_uri())
    region = browser.find_element("css selector", ".scroll")
    region.send_keys("\ue014" * 5)
    browser.execute_async_script("requestAnimationFrame(arguments[0])")
    assert browser.execute_script("return document.activeElement === arguments[0]", region)
