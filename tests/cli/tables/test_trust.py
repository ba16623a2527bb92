"""The column of trust reaches the fit, is no feature, and has only numbers."""

import numpy as np
import pandas
import pytest

from wdrsvm import RobustLinearSVC, load_model

from ..flowers import FIT, flowers, run_json


def trusting(cells):
    flowers().assign(sure=cells).to_csv("train.csv", index=False)
    return (*FIT, "--trust-column", "sure")


def test_trust_reaches_the_fit_and_is_no_feature(folder, capsys, monkeypatch):
    asked = []
    fit = RobustLinearSVC.fit

    def remembering(self, X, y, sample_weight=None, label_trust=None):
        asked.append(label_trust)
        return fit(self, X, y, sample_weight, label_trust)

    monkeypatch.setattr(RobustLinearSVC, "fit", remembering)
    cells = ["inf", "2", " 0.5", "", "NA"] + ["1"] * 55
    facts = run_json(capsys, *trusting(cells))
    expected = [np.inf, 2.0, 0.5, 1.0, 1.0] + [1.0] * 55
    assert asked[0].tolist() == expected
    assert "sure" not in load_model("model").feature_names_in_
    assert facts["features"] == 5


def test_trust_belongs_to_the_rows_with_a_label(folder, capsys, monkeypatch):
    asked = []
    fit = RobustLinearSVC.fit

    def remembering(self, X, y, sample_weight=None, label_trust=None):
        asked.append(label_trust)
        return fit(self, X, y, sample_weight, label_trust)

    monkeypatch.setattr(RobustLinearSVC, "fit", remembering)
    table = flowers().assign(sure=np.arange(60.0))
    table.loc[0, "kind"] = None
    table.to_csv("train.csv", index=False)
    run_json(capsys, *FIT, "--trust-column", "sure", "--drop", "sure")
    assert asked[0].tolist() == list(range(1, 60))


@pytest.mark.parametrize("cell", ["-1", "nan?", "much"])
def test_other_cells_are_refused(folder, refused, cell):
    given = trusting(["1"] * 7 + [cell] + ["1"] * 52)
    sentence = refused(*given)
    assert (
        f"sure must hold numbers >= 0 or inf, but row 7, counted from 0, has {cell!r}"
        in (sentence)
    )
    assert not (folder / "model").exists()


def test_names_of_no_column_are_refused(folder, refused):
    assert "--trust-column: train.csv has no column 'sure'" in refused(
        *FIT, "--trust-column", "sure"
    )
    assert "--trust-column must not name the labels" in refused(
        *FIT, "--trust-column", "kind"
    )
    (folder / "t.svm").write_text("1 1:2\n0 1:3\n1 1:2\n0 1:3\n")
    given = ("fit", "t.svm", "--target", "y", "--out", "m", "--trust-column", "sure")
    assert "t.svm has no column 'sure'" in refused(*given)
    assert pandas.read_csv("train.csv").shape == (60, 4)
