"""The pages in a real browser: no error on its console, every figure drawn."""

import sys
from pathlib import Path

import pytest

from wdrsvm import demo
from wdrsvm.experiments import EXPERIMENTS, collect
from wdrsvm.report.experiments import write_experiment_page

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from made_up import fill

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")

PHONE, DESKTOP = (390, 844), (1200, 900)
FIGURES_DRAWN = """
return Array.from(document.images).map(i => i.complete && i.naturalWidth > 0)
"""
WIDER_THAN_SCREEN = """
return document.documentElement.scrollWidth > document.documentElement.clientWidth
"""


def assert_looks_right(browser, page, figures, tmp_path):
    for size in (PHONE, DESKTOP):
        browser.set_window_size(*size)
        browser.get(page.resolve().as_uri())
        assert browser.get_log("browser") == []
        drawn = browser.execute_script(FIGURES_DRAWN)
        assert drawn == [True] * figures
        assert not browser.execute_script(WIDER_THAN_SCREEN)
        assert browser.save_screenshot(str(tmp_path / f"{size[0]}.png"))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_page_of_an_experiment(browser, name, tmp_path):
    experiment = fill(name, tmp_path)
    page = write_experiment_page(collect(experiment, out=tmp_path, repetitions=2))
    figures = len(list(page.parent.glob("*.svg")))
    assert_looks_right(browser, page, figures, tmp_path)


def test_the_page_of_the_demo(browser, tmp_path, capsys):
    page = tmp_path / "demo.html"
    demo.main(page)
    assert capsys.readouterr().out.strip().endswith(str(page))
    assert_looks_right(browser, page, 1, tmp_path)


def test_the_page_of_a_model(browser, iris_page, tmp_path):
    assert_looks_right(browser, iris_page, 3, tmp_path)
    headings = [each.text for each in browser.find_elements("css selector", "h2")]
    assert headings[:3] == ["In short", "Error rates", "Score against radius"]


def test_the_page_with_sliders(browser, explored, tmp_path):
    assert_looks_right(browser, explored[0], 0, tmp_path)


def test_an_error_on_the_console_is_seen(browser, tmp_path):
    from selenium.webdriver.support.ui import WebDriverWait

    page = tmp_path / "broken.html"
    page.write_text("<!doctype html><script>throw Error('broken')</script>")
    browser.get(page.as_uri())
    # The console of a busy machine may lag behind the page.
    found = WebDriverWait(browser, 30).until(lambda driver: driver.get_log("browser"))
    assert "broken" in str(found)
