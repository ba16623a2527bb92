"""The kind of noise follows from the p-values."""

import re

import numpy as np
import pytest

from wdrsvm import LabelNoiseTest

T = np.array([[0.9, 0.1], [0.3, 0.7]])


@pytest.mark.parametrize(
    ("p_values", "kind", "words"),
    [
        ((0.2, 0.01, 0.01), "none", "No label noise is seen"),
        ((0.01, 0.2, 0.2), "uniform", "wrong at random"),
        ((0.05, 0.05, 0.2), "by class", "classes are confused more"),
        ((0.01, 0.2, 0.05), "by row", "for some rows than for others"),
    ],
)
def test_kinds_and_their_words(p_values, kind, words):
    found = LabelNoiseTest(*p_values, 0.123, np.array(["a", "b"]), T, 0.05)
    assert found.kind == kind
    assert words in found.sentence()
    assert ("12.3 %" in found.sentence()) == (kind != "none")


def test_a_notebook_shows_the_confusion_of_named_labels():
    html = LabelNoiseTest(0.0, 0.0, 0.5, 0.3, np.array(["a", "b"]), T, 0.05)._repr_html_()
    header = re.findall(r"<th[^>]*>([^<]*)</th>", html)
    assert header == ["true label", "given a", "given b"]
    assert [*map(float, re.findall(r"<td[^>]*>(0[^<]*)</td>", html))] == [*T.ravel()]


def test_a_confusion_that_is_the_rule_is_cheap_but_not_free():
    upside = LabelNoiseTest(0.0, 0.0, 0.5, 0.3, np.arange(2), T[:, ::-1], 0.05)
    assert upside.label_cost[0, 1] == 0.05
    plain = LabelNoiseTest(0.0, 0.0, 0.5, 0.3, np.arange(2), T, 0.05)
    np.testing.assert_allclose(plain.label_cost, [[0, np.log(3)], [np.log(7), 0]])
