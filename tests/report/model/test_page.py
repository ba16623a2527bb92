"""The page of a model says what recomputing it says."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import wdrsvm
from wdrsvm.report import Facts, Flags, Summary, Table, Text, model_page
from wdrsvm.report.model.page import page_of
from wdrsvm.report.model.reported import reported_model

pytest.importorskip("pandas")
X, codes = load_wine(return_X_y=True)
X, codes = X[::3, :5], codes[::3]
y = np.array(["barolo", "grignolino", "barbera"])[codes]


def fitted(classifier, labels=y):
    return make_pipeline(StandardScaler(), classifier).fit(X, labels)


def parts_of(page, heading):
    (section,) = [each for each in page.sections if each.heading == heading]
    return section.parts


def test_confusions_and_recall_add_up():
    model = fitted(wdrsvm.RobustLinearSVC(0.1, 2.0))
    confusion, recall = parts_of(model_page(model, X, y), "Right and wrong")
    counts = np.array([row[1:] for row in confusion.rows])
    assert counts.sum() == len(y)
    assert counts.trace() / len(y) == model.score(X, y)
    for name, total, share, _ in recall.rows:
        rows = y == name
        assert (total, share) == (rows.sum(), model.score(X[rows], y[rows]))


def test_the_worst_case_is_that_of_the_model():
    model = fitted(wdrsvm.RobustLinearSVC(0.05, 0.6))
    parts = parts_of(model_page(model, X, y), "Worst case")
    (facts,) = [part.values for part in parts if isinstance(part, Facts)]
    features = model[0].transform(X)
    expected = model[-1].worst_case_risk(features, y)
    assert facts["its limit, the worst-case risk"] == pytest.approx(expected)
    (flips,) = [part for part in parts if isinstance(part, Table)]
    shares = [value for name, value in facts.items() if name.endswith("flipped")]
    assert sum(row[3] for row in flips.rows) == pytest.approx(shares[0])


def test_a_wrong_label_is_suspicious():
    wrong = y.copy()
    wrong[0] = "barbera"
    model = fitted(wdrsvm.RobustLinearSVC(0.1, 2.0), wrong)
    page = model_page(model, X, wrong, row=np.arange(len(y)) + 500)
    table = parts_of(page, "Suspicious labels")[1]
    assert 500 in [row[0] for row in table.rows]


def test_coefficients_are_named_and_two_classes_have_one_column():
    two = np.where(codes == 0, "a", "b")
    model = fitted(wdrsvm.RobustLinearSVC(), two)
    table = parts_of(model_page(model, X, two), "Coefficients")[1]
    assert table.header == ["feature", "towards b"]
    assert {row[0] for row in table.rows} == {*(f"x{d}" for d in range(5)), "intercept"}


@pytest.mark.parametrize(
    ("classifier", "headings"),
    [
        (wdrsvm.RobustSVC(0.02), set()),
        (wdrsvm.RobustLogisticRegression(), {"Coefficients"}),
        (
            wdrsvm.RobustLinearSVCCV([0.01, 0.1], [2.0, np.inf], cv=2),
            {"Coefficients", "Score against radius"},
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_model_has_a_page_that_stands_alone(classifier, headings):
    pytest.importorskip("matplotlib")
    page = model_page(fitted(classifier), X, y, title="<Wine>")
    found = {section.heading for section in page.sections}
    assert found & {"Coefficients", "Score against radius"} == headings
    html = page.html()
    assert "<h1>&lt;Wine&gt;</h1>" in html
    addresses = re.findall(r'(?:src|href)="([^"]*)"', html)
    assert all(address.startswith("data:") for address in addresses)


def test_what_cannot_be_said_is_explained():
    kernel = fitted(wdrsvm.RobustSVC(0.02, kernel="poly"))
    (text,) = parts_of(model_page(kernel, X, y), "Certified radii")
    assert isinstance(text, Text)
    assert "poly" in text.text
    few = np.r_[:3, np.flatnonzero(codes == 1)[0]]
    page = model_page(fitted(wdrsvm.RobustLinearSVC()), X[few], y[few])
    (text,) = parts_of(page, "Suspicious labels")
    assert text.text.startswith("Labels were not audited")


def test_the_scores_of_a_search_say_which_points_promise_nothing():
    search = fitted(wdrsvm.RobustLinearSVCCV([5.0, 0.01], [2.0, np.inf], cv=2))
    table = parts_of(model_page(search, X, y), "Score against radius")[-1]
    assert table.header[-1] == "beats a constant"
    assert [row[:2] for row in table.rows] == [
        ["5", "2"],
        ["0.01", "2"],
        ["5", "inf"],
        ["0.01", "inf"],
    ]
    assert [row[-1] for row in table.rows] == ["no", "yes", "no", "yes"]


def test_points_that_a_search_left_out_have_no_score():
    search = fitted(wdrsvm.RobustLinearSVCCV([5.0, 0.01], [np.inf], cv=4, stop_early=True))
    table, said = parts_of(model_page(search, X, y), "Score against radius")[-2:]
    assert said.text.startswith("A dash marks a point that was far behind")
    (left_out, finished) = (row[2:4] for row in table.rows)
    assert left_out == [None, None]
    assert all(isinstance(value, float) for value in finished)


def test_a_model_trained_for_the_error_says_its_error():
    model = fitted(wdrsvm.RobustLinearSVC(0.1, loss="ramp"))
    facts = parts_of(model_page(model, X, y), "The fit")[-1].values
    assert facts["worst-case error on the training rows"] == model[-1].worst_case_error_
    assert "worst-case risk on the training rows" not in facts


def test_the_page_begins_with_the_box_and_ends_with_the_fit():
    page = model_page(fitted(wdrsvm.RobustLinearSVCCV([0.01, 0.1], [2.0], cv=2)), X, y)
    assert [section.heading for section in page.sections] == [
        *("In short", "Error rates", "Score against radius", "Certified radii"),
        *("Right and wrong", "Worst case", "Suspicious labels", "Coefficients", "The fit"),
    ]
    box, *_, flags = page.sections[0].parts
    assert isinstance(box, Summary)
    assert isinstance(flags, Flags)
    assert "Radius at the edge of the grid" in flags.values
    assert "LogisticRegression cross-validated on these rows" in box.lines


def test_each_section_is_told_before_it_is_made():
    reported = reported_model(fitted(wdrsvm.RobustLinearSVC()), X, y, None, 0.1)
    told = []
    page = page_of(reported, "Wine", told.append)
    assert told == [section.heading for section in page.sections]
