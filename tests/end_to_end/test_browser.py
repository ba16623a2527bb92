"""The pages in a real browser: no error on its console, every figure drawn."""

import shutil
import sys
from pathlib import Path

import pytest

from wdrsvm import demo
from wdrsvm.experiments import collect
from wdrsvm.report.experiments import write_experiment_page

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from made_up import fill

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")
webdriver = pytest.importorskip("selenium.webdriver")

needs_browser = pytest.mark.skipif(
    not (shutil.which("chromium") and shutil.which("chromedriver")),
    reason="no chromium and chromedriver: make browser installs them on Debian",
)
PHONE, DESKTOP = (390, 844), (1200, 900)
FIGURES_DRAWN = """
return Array.from(document.images).map(i => i.complete && i.naturalWidth > 0)
"""
WIDER_THAN_SCREEN = """
return document.documentElement.scrollWidth > document.documentElement.clientWidth
"""


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    # The sandbox needs rights that containers lack; the pages are our own.
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


def assert_looks_right(browser, page, figures, tmp_path):
    for size in (PHONE, DESKTOP):
        browser.set_window_size(*size)
        browser.get(page.resolve().as_uri())
        assert browser.get_log("browser") == []
        drawn = browser.execute_script(FIGURES_DRAWN)
        assert drawn == [True] * figures
        assert not browser.execute_script(WIDER_THAN_SCREEN)
        assert browser.save_screenshot(str(tmp_path / f"{size[0]}.png"))


@needs_browser
@pytest.mark.parametrize("name", ["real-data", "subgradient"])
def test_a_page_of_an_experiment(browser, name, tmp_path):
    experiment = fill(name, tmp_path)
    page = write_experiment_page(collect(experiment, out=tmp_path, repetitions=2))
    figures = len(list(page.parent.glob("*.svg")))
    assert_looks_right(browser, page, figures, tmp_path)


@needs_browser
def test_the_page_of_the_demo(browser, tmp_path, capsys):
    page = tmp_path / "demo.html"
    demo.main(page)
    assert capsys.readouterr().out.strip().endswith(str(page))
    assert_looks_right(browser, page, 1, tmp_path)


@needs_browser
def test_an_error_on_the_console_is_seen(browser, tmp_path):
    page = tmp_path / "broken.html"
    page.write_text("<!doctype html><script>throw Error('broken')</script>")
    browser.get(page.as_uri())
    assert "broken" in str(browser.get_log("browser"))
