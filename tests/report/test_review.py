"""The page to check labels: rows beside usual ones, choices, and no foreign HTML."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from wdrsvm import audit_labels
from wdrsvm.report import review_page
from wdrsvm.report.review import (
    ALL_DIFFER,
    MAX_LABELS,
    _numbers,
    _Usual,
    mostly_suspected,
    percent,
)


@pytest.fixture(scope="module")
def audited():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + 5 * np.eye(3)[y][:, :2]
    labels = np.array(["ash", "elm", "oak"])[y]
    labels[4] = "oak"
    audit = audit_labels(X, labels, LogisticRegression(), n_repeats=1)
    table = pd.DataFrame(X, columns=["length", "width"]).assign(colour="red")
    table.loc[4, "colour"] = "<b>blue</b>"
    return audit, table


def parts(page):
    return page.sections[1].parts[0]


def test_suspects_stand_beside_usual_rows(audited):
    audit, table = audited
    page = review_page(audit, table=table)
    first = parts(page).suspects[0]
    assert (first.row, first.given, first.suggested) == (4, "oak", "elm")
    cells = {name: values for name, *values in first.cells}
    labels = np.array(["ash", "elm", "oak"])[np.arange(60) % 3]
    labels[4] = "oak"
    usual = [f"{table['width'][labels == name].median():.4g}" for name in ("oak", "elm")]
    assert cells["width"] == [f"{table['width'][4]:.4g}", *usual]
    assert cells["colour"] == ["<b>blue</b>", "red", "red"]
    assert len(parts(page).suspects) == audit.n_suspects
    assert audit.sentence() in page.html()


def test_labels_and_cells_are_escaped(audited):
    audit, table = audited
    strange = audit.given.astype(object)
    strange[0] = '<script>"x"'
    html = review_page(replace(audit, given=strange), table=table).html()
    assert "<b>blue" not in html
    assert "<script>&#34;" not in html
    assert 'data-given="&lt;script&gt;&#34;x&#34;"' in html


def test_the_page_has_its_script_and_no_network(audited):
    audit, table = audited
    page = review_page(audit, table=table)
    html = page.html()
    assert "default-src 'none'" in html
    assert "script-src 'sha256-" in html
    assert "http" not in html.replace("http-equiv", "")
    assert "row,given,reviewed" in html


def test_rows_and_labels_are_those_of_the_users_table(audited):
    audit, _ = audited
    given = np.array([f"tree {k}" for k in range(60)])
    page = review_page(audit, rows=np.arange(60) + 100, given=given, n_labels=2)
    first = parts(page).suspects[0]
    assert (first.row, first.given) == (104, "tree 4")
    assert first.cells == []
    assert "tree 7" in parts(page).classes


def test_long_and_empty_lists(audited):
    audit, table = audited
    none = review_page(replace(audit, n_suspects=0), table=table)
    assert len(none.sections) == 1
    assert none.script == ""
    wide = pd.concat([table] * 20, axis=1)
    wide.columns = [f"c{k}" for k in range(60)]
    html = review_page(audit, table=wide, n_labels=1000).html()
    assert "The first 60 labels are shown; decide these and audit again." in html
    assert "30 columns are not shown." in html
    assert MAX_LABELS >= 100


def test_columns_of_numbers_are_recognised():
    assert _numbers(pd.Series(["1", "2.5", None, "x"])).tolist()[:2] == [1.0, 2.5]
    assert _numbers(pd.Series(["a", "b", "3"])) is None
    usual = _Usual(pd.DataFrame({"a": ["1", "3", "9"], "b": [None] * 3}), ["x", "x", "y"])
    assert usual.beside(0, "x", "y") == [("a", "1", "2", "9"), ("b", "-", "-", "-")]


def test_no_probability_is_certain():
    assert percent(0.999) == "more than 99 %"
    assert percent(0.344) == "34 %"


def test_texts_that_all_differ_have_no_usual_one():
    table = pd.DataFrame({"id": ["a", "b", "c", "d"], "kind": ["x", "x", "y", "z"]})
    cells = _Usual(table, ["p", "p", "p", "q"]).beside(0, "p", "q")
    assert cells == [("id", "a", ALL_DIFFER, "d"), ("kind", "x", "x", "z")]


def test_a_class_that_is_suspected_as_a_whole_is_named(audited):
    audit, table = audited
    assert mostly_suspected(audit) == []
    given = np.where(np.arange(len(audit.row)) < audit.n_suspects, "elm", "oak")
    rare = replace(audit, given=given)
    (said,) = mostly_suspected(rare)
    assert f"elm ({audit.n_suspects} of {audit.n_suspects})" in said
    assert said in review_page(rare, table=table).html()
