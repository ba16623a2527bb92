"""The built documentation in a browser: axe, and nothing cut off at two widths.

``make docs`` builds it.  The pages of the reference come from one template: every eighth is
looked at.
"""

from pathlib import Path

import pytest

from .test_accessibility import assert_accessible

BUILT = Path(__file__).parents[2] / "docs" / "_build" / "html"
OWN = [
    page.relative_to(BUILT)
    for page in sorted(BUILT.rglob("*.html"))
    if not {"_static", "_modules"} & set(page.parts)
]
REFERENCE = [page for page in OWN if page.parts[0] == "reference"]
PAGES = [page for page in OWN if page not in REFERENCE] + REFERENCE[::8]
LAPTOP, TELEPHONE = 1280, 390

# Boxes that leave the column of text, and have no bar to scroll them.
CUT_OFF = """
const found = [];
const root = document.documentElement;
if (root.scrollWidth > root.clientWidth + 1) found.push("the page");
const scrolls = (box) => /auto|scroll/.test(getComputedStyle(box).overflowX);
const column = document.querySelector("article").getBoundingClientRect();
const boxes = "article :is(pre, table, img, mjx-container)";
for (const box of document.querySelectorAll(boxes)) {
  const place = box.getBoundingClientRect();
  let around = box;
  while (around.tagName != "ARTICLE" && !scrolls(around)) around = around.parentElement;
  if (place.right > column.right + 1 && around.tagName == "ARTICLE")
    found.push(box.outerHTML.slice(0, 100));
}
return found;
"""
# Boxes of code and formulas that must be scrolled to be read.
SCROLLED = """
return [...document.querySelectorAll("article :is(pre, div.math, mjx-container)")]
  .filter((box) => box.scrollWidth > box.clientWidth + 2 && box.clientWidth)
  .filter((box) => /auto|scroll/.test(getComputedStyle(box).overflowX))
  .map((box) => box.outerHTML.slice(0, 100));
"""
READY = """
const done = arguments[0];
const typeset = window.MathJax && window.MathJax.startup;
(typeset ? window.MathJax.startup.promise : Promise.resolve()).then(() => done());
"""


@pytest.fixture(autouse=True)
def own_window(browser):
    yield
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def opened(browser, page, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.resolve().as_uri())
    browser.execute_async_script(READY)
    return browser


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_axe_finds_nothing(browser, page):
    assert_accessible(browser, BUILT / page)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_nothing_is_cut_off(browser, page):
    for width in (LAPTOP, TELEPHONE):
        assert opened(browser, BUILT / page, width).execute_script(CUT_OFF) == [], width


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_code_and_formulas_fit_a_laptop(browser, page):
    assert opened(browser, BUILT / page, LAPTOP).execute_script(SCROLLED) == []


def test_a_page_that_cuts_off_is_found(browser, tmp_path):
    page = tmp_path / "wide.html"
    page.write_text(
        "<!doctype html><article style='width:200px;overflow:hidden'>"
        "<pre style='width:900px'>long</pre>"
        "<pre style='width:100px;overflow-x:auto'>a line that is longer than this</pre>"
    )
    window = opened(browser, page, TELEPHONE)
    assert len(window.execute_script(CUT_OFF)) == 1
    assert len(window.execute_script(SCROLLED)) == 1
