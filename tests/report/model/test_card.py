"""The card has the sections of skops and the numbers of the page."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wdrsvm import RobustLinearSVC, RobustLinearSVCCV, RobustSVC
from wdrsvm.report import model_card, model_page
from wdrsvm.report.page import cell

pytest.importorskip("pandas")
X, y = load_wine(return_X_y=True, as_frame=True)
X, y = X.iloc[::3, :5], np.array(["bar|olo", "grignolino", "barbera"])[y][::3]
HEADINGS = [
    "Model description",
    "Intended uses & limitations",
    "Training procedure",
    "Evaluation results",
    "How to get started with the model",
    "Citation",
]


def fitted(classifier):
    return make_pipeline(StandardScaler(), classifier).fit(X, y)


@pytest.mark.parametrize(
    "classifier",
    [RobustLinearSVC(), RobustSVC(0.02), RobustLinearSVCCV([0.01, 0.1], [2.0], cv=2)],
    ids=lambda value: type(value).__name__,
)
def test_a_card_has_the_sections_of_skops(classifier):
    lines = model_card(fitted(classifier), X, y, title="Wine").splitlines()
    assert [line[3:] for line in lines if line.startswith("## ")] == HEADINGS
    assert "### Hyperparameters" in lines
    assert "# Wine" in lines
    assert lines[0] == "---"


def test_the_card_says_what_the_page_says():
    model = fitted(RobustLinearSVC())
    page, card = model_page(model, X, y), model_card(model, X, y)
    box = page.sections[0].parts[0]
    assert f"**{box.verdict}**" in card
    for text in box.lines.values():
        assert text.replace("|", "\\|") in card
    tables = [part for part in page.sections[1].parts if hasattr(part, "rows")]
    for table in tables:
        for row in table.rows:
            assert "| " + " | ".join(map(cell, row)).replace("bar|", "bar\\|") in card


def test_the_card_names_parameters_file_and_use():
    model = fitted(RobustLinearSVC(0.07))
    card = model_card(model, X, y, file='a"b.wdrsvm', intended_use="Sort *wine*.")
    assert "| radius | 0.07 |" in card
    assert 'load_model("a\\"b.wdrsvm")' in card
    assert "Sort \\*wine\\*." in card
    assert "with the columns alcohol, malic_acid" in model_card(model, X, y)


def test_every_line_of_a_table_has_as_many_cells():
    card = model_card(fitted(RobustLinearSVC()), X, y)
    widths = {}
    for block in card.split("\n\n"):
        if block.startswith("| "):
            widths[block] = {
                line.replace("\\|", "").count("|") for line in block.split("\n")
            }
    assert len(widths) == 5
    assert all(len(counts) == 1 for counts in widths.values())
