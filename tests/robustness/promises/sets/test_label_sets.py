"""Sets of labels tell their labels and sizes."""

import re

import numpy as np
import pytest

from wdrsvm import LabelSets

HELD = np.array([[True, False, True], [False, True, False], [False, False, False]])
SETS = LabelSets(HELD, np.array(["a", "b", "<c>"]))


def test_labels_sizes_and_length():
    assert [SETS[k] for k in range(3)] == [["a", "<c>"], ["b"], []]
    assert SETS.sizes.tolist() == [2, 1, 0]
    assert len(SETS) == 3


def test_the_text_says_how_large_they_are():
    assert repr(SETS) == "LabelSets(3 rows: 1 labels on average, a single label for 33.3 %)"
    assert repr(LabelSets(HELD[:0], SETS.classes)) == "LabelSets(0 rows)"
    html = SETS._repr_html_()
    assert ">a, &lt;c&gt;</td>" in html
    assert re.findall(r"<th [^>]*>([^<]*)</th>", html) == ["row", "labels"]
    assert ">Sets of labels</caption>" in html
    many = LabelSets(np.tile(HELD, (7, 1)), SETS.classes)._repr_html_()
    assert ">Sets of labels, the first 10 of 21</caption>" in many


def test_the_table_has_a_column_for_each_label():
    pytest.importorskip("pandas")
    frame = SETS.to_frame()
    assert frame.columns.tolist() == ["a", "b", "<c>"]
    assert (frame.to_numpy() == HELD).all()
