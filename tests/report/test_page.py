"""Pages stand alone, and say everything twice: for the eye and for the ear."""

import re
import sys
from html.parser import HTMLParser

import pytest

from wdrsvm.report import (
    Bullets,
    Facts,
    Figure,
    Flags,
    Page,
    Section,
    Summary,
    Table,
    Text,
    Verdict,
)
from wdrsvm.report.figures import new_figure, saved_figure
from wdrsvm.report.page import templates

VOID = {"meta", "link", "img", "br"}


class Outline(HTMLParser):
    """Tags in order; every one is closed where it should be."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags = [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def named(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def small_page():
    parts = [
        Verdict("a < b", good=True),
        Text("<script>alert(1)</script>"),
        Bullets(["one & two"]),
        Facts({"n": 3, "share": 0.123456}),
        Table("A table", ["name", "x"], [["row", 1.23456], ["other", None]]),
        Figure(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "A figure", 'says "hello"'),
    ]
    return Page("Title", "Lead.", [Section("First", parts)])


def test_a_page_is_one_well_formed_document_without_scripts():
    html = small_page().html()
    outline = Outline(html)
    assert html.startswith("<!doctype html>")
    assert outline.named("html") == [{"lang": "en"}]
    assert outline.named("script") == []
    assert "&lt;script&gt;" in html


def test_nothing_is_asked_of_the_network():
    html = small_page().html()
    addresses = re.findall(r'(?:src|href)="([^"]*)"', html) + re.findall(r"url\(", html)
    assert addresses
    assert all(address.startswith("data:") for address in addresses)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy.startswith("default-src 'none'")


def test_tables_and_figures_speak():
    outline = Outline(small_page().html())
    (image,) = outline.named("img")
    assert image["alt"] == 'says "hello"'
    (region,) = [each for each in outline.named("div") if each.get("role") == "region"]
    assert region["aria-label"] == "A table"
    scopes = [each["scope"] for each in outline.named("th")]
    assert scopes == ["col", "col", "row", "row"]


def test_numbers_are_short_and_missing_ones_a_dash():
    html = small_page().html()
    assert ">1.235<" in html
    assert ">0.1235<" in html
    assert '<td class="number">-</td>' in html


@pytest.mark.parametrize(
    ("good", "word"), [(True, "Holds."), (False, "Does not hold."), (None, "Result.")]
)
def test_a_verdict_does_not_rely_on_colour(good, word):
    assert word in Verdict("text", good).html()


def test_the_style_knows_phones_paper_and_the_dark():
    html = small_page().html()
    for query in ("max-width", "print", "prefers-color-scheme: dark"):
        assert re.search(rf"@media [^{{]*{query}", html)
    assert "width=device-width" in html


def test_a_page_is_written_with_its_folders(tmp_path):
    path = small_page().write(tmp_path / "deep" / "page.html")
    assert path.read_text(encoding="utf-8") == small_page().html()


def test_a_figure_is_saved_twice_and_the_same_every_time(tmp_path):
    pytest.importorskip("matplotlib")
    drawn = []
    for name in ("a", "b"):
        figure, ax = new_figure()
        ax.plot([0, 1], [0, 1])
        drawn.append(saved_figure(figure, tmp_path / name, "caption", "alt"))
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a.svg").read_bytes() == drawn[0].svg == drawn[1].svg


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"wdrsvm\[plot\]"):
        new_figure()


def test_without_jinja_the_error_says_what_to_install(monkeypatch):
    templates.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"Jinja2: pip install .wdrsvm\[report\]"):
        small_page().html()


@pytest.mark.parametrize(
    "part",
    [
        Text("<b>"),
        Bullets(["<b>"]),
        Verdict("<b>"),
        Facts({"<b>": "<b>"}),
        Table("<b>", ["<b>"], [["<b>", "<b>"]]),
        Figure(b"", "<b>", '<b>"<b>'),
        Section("<b>", [Text("<b>")]),
        Page("<b>", "<b>", [Section("<b>", [])]),
    ],
)
def test_whatever_is_said_is_text(part):
    html = part.html()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html


def test_boxes_and_flags_keep_options_and_per_cents_whole():
    flag = Flags({"<Few>": "Try 5 % (loss='ramp', --merge-rare, radii=) < 3."}).html()
    assert "5&nbsp;% (<code>loss=&#39;ramp&#39;</code>, <code>--merge-rare</code>" in flag
    assert "<code>radii=</code>) &lt; 3." in flag
    assert "&lt;Few&gt;" in flag
    box = Summary("a < b", {"<n>": "1 %"}, good=False).html()
    assert '<div class="summary bad"><p><strong>a &lt; b</strong></p>' in box
    assert "<dt>&lt;n&gt;</dt><dd>1&nbsp;%</dd>" in box


def test_names_of_columns_stand_above_their_numbers():
    html = Table("t", ["name", "n", "text"], [["a", 1, "x"]]).html()
    assert '<th scope="col">name</th><th scope="col" class="number">n</th>' in html
    assert '<th scope="col">text</th>' in html
    assert '<th scope="col">n</th>' in Table("t", ["name", "n"], []).html()
