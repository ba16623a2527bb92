"""The built documentation: links, and in a browser axe and nothing cut off at two widths.

``make docs`` builds it.  The pages of the reference come from one template: every eighth is
looked at.
"""

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

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
// The page of the search has no article.
const column = (document.querySelector("article") ?? root).getBoundingClientRect();
const boxes = "article :is(pre, table, img, mjx-container), .prev-next-area p";
for (const box of document.querySelectorAll(boxes)) {
  const place = box.getBoundingClientRect();
  let around = box;
  while (!around.matches("article, footer") && !scrolls(around))
    around = around.parentElement;
  if (place.right > column.right + 1 && around.matches("article, footer"))
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


class Anchors(HTMLParser):
    """The links of a page, and the names that links to it may use."""

    def __init__(self, page):
        super().__init__()
        self.links, self.names = set(), {"", "top"}
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.names |= {given[key] for key in ("id", "name") if given.get(key)}
        self.links |= {given[key] for key in ("href", "src") if given.get(key)}


anchors_of = cache(Anchors)


def broken_links(page):
    """Links to files that are not there, or to places that their pages do not have."""
    broken = []
    for link in anchors_of(page).links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        is_page = target.suffix == ".html" and target.is_file()
        if not target.is_file() or (
            is_page and unquote(parts.fragment) not in anchors_of(target).names
        ):
            broken.append(link)
    return sorted(broken)


@pytest.mark.parametrize("page", OWN, ids=str)
def test_links_within_the_documentation_lead_somewhere(page):
    assert broken_links((BUILT / page).resolve()) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        "<p id='here'><a href='#here'>1</a><a href='#there'>2</a><a href='no.html'>3</a>"
        "<a href='page.html#here'>4</a><a href='https://example.org/no'>5</a>"
    )
    assert broken_links(page) == ["#there", "no.html"]


@pytest.fixture
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


@pytest.mark.usefixtures("own_window")
@pytest.mark.parametrize("page", PAGES, ids=str)
def test_nothing_is_cut_off(browser, page):
    for width in (LAPTOP, TELEPHONE):
        assert opened(browser, BUILT / page, width).execute_script(CUT_OFF) == [], width


@pytest.mark.usefixtures("own_window")
@pytest.mark.parametrize("page", PAGES, ids=str)
def test_code_and_formulas_fit_a_laptop(browser, page):
    assert opened(browser, BUILT / page, LAPTOP).execute_script(SCROLLED) == []


@pytest.mark.usefixtures("own_window")
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
