"""Suspicious labels in a line of text and in a notebook."""

import re

import numpy as np
import pytest

from wdrsvm import LabelAudit

NAMES = np.array(["ash", "elm", "oak", "fir", "yew"])


def audit_of(n_suspects, n_rows=5):
    """Row k is suspected to be the tree after its own."""
    row = np.arange(n_rows)[::-1]
    given, suggested = NAMES[row % 5], NAMES[(row + 1) % 5]
    wrong = np.linspace(0.75, 0.25, n_rows)
    numbers = np.zeros(n_rows)
    return LabelAudit(
        row, given, suggested, numbers, numbers, numbers, wrong, n_suspects, 0.5, (0.4, 0.6)
    )


SUSPECTS = [
    "row 4 (yew, perhaps ash)",
    "row 3 (fir, perhaps yew)",
    "row 2 (oak, perhaps fir)",
]


@pytest.mark.parametrize(
    ("n_suspects", "named"),
    [(0, []), (1, SUSPECTS[:1]), (3, SUSPECTS), (4, [*SUSPECTS, "..."])],
)
def test_at_most_three_suspects_are_named(n_suspects, named):
    told = f": {', '.join(named)}" if named else ""
    expected = f"LabelAudit(5 labels, {n_suspects} suspicious{told})"
    assert repr(audit_of(n_suspects)) == expected


def cells(html, kind):
    return re.findall(rf"<{kind}[^>]*>([^<]*)</{kind}>", html)


def test_a_notebook_shows_suspects_and_how_much_they_are_doubted():
    html = audit_of(2)._repr_html_()
    assert cells(html, "p") == [repr(audit_of(2))]
    assert cells(html, "th") == ["row", "given", "suggested", "doubt"]
    assert cells(html, "caption") == ["Suspicious labels"]
    assert cells(html, "td")[:3] == ["4", "yew", "ash"]
    assert cells(html, "td")[4:7] == ["3", "fir", "yew"]
    assert ["75" in cells(html, "td")[3], "62" in cells(html, "td")[7]] == [True, True]


def test_a_notebook_shows_ten_suspects_and_no_table_of_none():
    many = audit_of(12, 20)._repr_html_()
    assert cells(many, "caption") == ["Suspicious labels, the first 10 of 12"]
    assert len(cells(many, "td")) == 40
    none = audit_of(0)._repr_html_()
    assert cells(none, "p") == [repr(audit_of(0))]
    assert "table" not in none


def test_a_mask_has_the_suspects_in_the_order_of_the_rows():
    mask = audit_of(2).issue_mask()
    assert mask.dtype == bool
    assert mask.tolist() == [False, False, False, True, True]
