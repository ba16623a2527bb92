"""From a table to a model that promises something."""

import numpy as np
import pandas
import pytest
from sklearn.datasets import dump_svmlight_file

from wdrsvm import load_model
from wdrsvm.cli.main import main

from .flowers import FIT, N, flowers, run, run_json


def test_a_logistic_search(folder, capsys):
    facts = run_json(capsys, *FIT, "--loss", "logistic", "--cv")
    assert facts["cross-validated score"] > 0.8
    assert load_model("model")[-1].radius_ == facts["radius"]


def test_fit_says_what_it_did(folder, capsys):
    code, out, error = run(capsys, "fit", "train.csv", "--target", "kind", "--out", "model")
    assert (code, error) == (0, "")
    for text in (
        "ash, elm, oak",
        "2 missing numbers become the median of their column: length.",
        "1 missing text becomes a category of its own: colour.",
        "Categories, which the adversary cannot touch (cost inf): colour.",
    ):
        assert text in out
    assert sorted(each.name for each in folder.iterdir()) == ["model", "train.csv"]


def test_the_categories_are_untouchable_and_the_numbers_standardised(model):
    pipeline = load_model(model)
    names = pipeline[0].get_feature_names_out()
    cost = dict(zip(names, pipeline[-1].feature_cost, strict=True))
    assert cost == {
        "numbers__length": 1,
        "numbers__width": 1,
        "categories__colour_blue": np.inf,
        "categories__colour_missing": np.inf,
        "categories__colour_red": np.inf,
    }
    X = pipeline[0].transform(flowers()[["length", "width", "colour"]])
    np.testing.assert_allclose(X[:, :2].std(axis=0), 1)


def test_cross_validation_chooses_and_the_test_table_judges(folder, capsys):
    flowers().iloc[::2].to_csv("test.csv", index=False)
    facts = run_json(
        capsys,
        *("fit", "train.csv", "--target", "kind", "--cv"),
        *("--test", "test.csv", "--balanced", "--out", "model"),
    )
    assert facts["cross-validated score"] > 0.8
    assert facts["test rows"] == N // 2
    assert facts["test accuracy"] > 0.8
    assert load_model("model")[-1].radius_ == facts["radius"]


def test_trusted_labels_leave_categories_unbounded_which_is_said(folder, capsys):
    """A category that decides a class: only a finite label cost bounds its coefficients."""
    flowers().assign(colour=flowers()["kind"]).to_csv("train.csv", index=False)
    facts = run_json(capsys, *FIT, "--cv")
    assert np.isfinite(facts["label cost"])
    assert np.abs(load_model("model")[-1].coef_).max() < 10
    facts = run_json(capsys, *FIT, "--label-cost", "inf")
    assert any("nothing bounds the coefficients" in note for note in facts["notes"])


def test_a_kernel_says_that_it_moves_categories(folder, capsys):
    facts = run_json(
        capsys,
        *("fit", "train.csv", "--target", "kind", "--kernel", "rbf"),
        *("--label-cost", "inf", "--radius", "0.02", "--out", "model"),
    )
    assert facts["label cost"] == "inf"
    assert any("with a kernel can be touched" in each for each in facts["notes"])
    certified = run_json(capsys, "certify", "model", "train.csv", "--target", "kind")
    assert certified["accuracy"] == facts["training accuracy"]


def test_sparse_rows_stay_sparse(folder, capsys):
    random = np.random.default_rng(0)
    X, y = random.random((N, 6)) * (random.random((N, 6)) < 0.5), np.repeat([1, 2], N // 2)
    X[:, 0] += y
    dump_svmlight_file(X, y, "train.svm")
    facts = run_json(capsys, "fit", "train.svm", "--target", "y", "--out", "model")
    assert facts["classes"] == [1, 2]
    X[:, 4:] = 0
    dump_svmlight_file(X, y, "narrow.svm")
    facts = run_json(capsys, "certify", "model", "narrow.svm", "--target", "y")
    assert facts["rows"] == N
    code, _, error = run(capsys, "predict", "model", "train.csv")
    assert (code, "needs sparse rows" in error) == (2, True)


def test_ten_thousand_columns_are_no_trouble(folder, capsys):
    values = np.random.default_rng(0).normal(size=(20, 10_000)).round(3)
    frame = pandas.DataFrame(values).add_prefix("c").assign(kind=["a", "b"] * 10)
    frame.to_csv("wide.csv", index=False)
    facts = run_json(capsys, "fit", "wide.csv", "--target", "kind", "--out", "model")
    assert facts["features"] == 10_000


BAD_OPTIONS = {
    ("--kernel", "cubic"): "--kernel must be one of linear, rbf",
    ("--norm", "l3"): "--norm must be one of l1, l2, linf",
    ("--kernel", "rbf", "--norm", "l1"): "--norm must be l2 with --kernel rbf",
    ("--cv", "--radius", "1"): "give either it or them",
    ("--loss", "square"): "--loss must be one of crammer-singer, logistic",
    ("--loss", "logistic", "--kernel", "rbf"): "--loss must be crammer-singer with",
    ("--landmarks", "5"): "--landmarks needs a --kernel",
    ("--radius", "-1"): "radius must be",
    ("--withstand", "0"): "--withstand must be a finite number > 0, got 0",
    ("--withstand", "0.1", "--radius", "1"): "leave out either it or --radius",
    ("--withstand", "0.1", "--cv"): "leave out either it or --cv",
    ("--withstand", "0.1", "--kernel", "rbf"): "leave out either it or --kernel rbf",
    ("--withstand", "0.1", "--loss", "logistic"): "either it or --loss logistic",
    ("--withstand", "0.1", "--balanced"): "leave out either it or --balanced",
    ("--drop", "size"): "has no column 'size'",
    ("--test", "none.csv"): "There is no table none.csv",
}


@pytest.mark.parametrize("options", BAD_OPTIONS)
def test_bad_options_are_one_sentence(folder, capsys, options):
    code, shown, error = run(capsys, *FIT, *options)
    assert (code, shown, error.count("\n")) == (2, "", 1)
    assert BAD_OPTIONS[options] in error
    assert not (folder / "model").exists()


def test_what_must_be_withstood_is_learned_for_and_said(folder, capsys):
    facts = run_json(capsys, *FIT, "--withstand", "0.2")
    assert facts["budget"] == 0.2
    assert facts["unit"] == "standard deviations"
    assert "of rows left out are wrong if they move by 0.2 on average" in facts["chosen"]
    assert 0 < facts["cross-validated worst-case error"] <= 1
    certified = run_json(capsys, "certify", "model", "train.csv", "--target", "kind")
    for key in ("budget", "error", "worst_case_error", "by_class", "baselines"):
        assert certified[key] == facts[key]


def test_warnings_become_notes(folder, capsys):
    facts = run_json(capsys, *FIT, "--radius", "100")
    assert any("radius_max" in note for note in facts["notes"])


def test_a_kernel_model_of_sparse_rows_is_saved(tmp_path):
    rows, model = tmp_path / "rows.svmlight", tmp_path / "model"
    rows.write_text("0 1:1 2:2\n1 1:2\n" * 3)
    fit = ["fit", rows, "--target", "y", "--kernel", "rbf", "--out", model]
    assert main([*map(str, fit)]) == 0
    assert main(["predict", str(model), str(rows)]) == 0
