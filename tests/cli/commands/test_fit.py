"""From a table to a model that promises something."""

import numpy as np
import pandas
import pytest
from sklearn.datasets import dump_svmlight_file

from wdrsvm import load_model
from wdrsvm.cli.main import main

from ..flowers import FIT, N, flowers, run, run_json


def test_a_logistic_search(folder, capsys):
    facts = run_json(capsys, *FIT, "--loss", "logistic", "--cv")
    assert facts["cross-validated score"] > 0.8
    assert load_model("model")[-1].radius_ == facts["radius"]
    assert facts["label cost"] in (2.0, "inf")
    assert load_model("model")[-1].label_costs == "auto"


def test_finite_label_costs_hold_categories_that_cannot_be_switched(folder, capsys):
    given = ("--loss", "logistic", "--cv", "--category-cost", "inf")
    facts = run_json(capsys, *FIT, *given)
    assert facts["label cost"] != "inf"


def test_fit_says_what_it_did(folder, capsys):
    code, out, error = run(capsys, "fit", "train.csv", "--target", "kind", "--out", "model")
    assert (code, error) == (0, "")
    for text in (
        "ash, elm, oak",
        "2 missing numbers become the median of their column: length.",
        "1 missing text becomes a category of its own: colour.",
        "Categories, each of which the adversary may switch at a cost of 1 standard "
        "deviation, while numbers stay within their ranges: colour.",
        "a switched category counts as 1; numbers stay within their ranges;",
    ):
        assert text in out
    assert sorted(each.name for each in folder.iterdir()) == ["model", "train.csv"]


def test_categories_are_switched_at_a_cost_and_numbers_stay_in_their_ranges(model):
    pipeline = load_model(model)
    X = pipeline[0].transform(flowers()[["length", "width", "colour"]])
    np.testing.assert_allclose(X[:, :2].std(axis=0), 1)
    ((columns, cost),) = pipeline[-1].categorical
    assert (list(columns), cost) == ([2, 3, 4], 1.0)
    np.testing.assert_allclose(pipeline[-1].support[0], X.min(axis=0))
    np.testing.assert_allclose(pipeline[-1].support[1], X.max(axis=0))


def test_rows_outside_widen_the_ranges_and_unseen_categories_are_left_out(model, capsys):
    rows = flowers()
    rows.loc[0, "length"], rows.loc[1, "colour"] = 1e3, "purple"
    rows.to_csv("test.csv", index=False)
    facts = run_json(capsys, "certify", model, "test.csv", "--target", "kind")
    assert facts["rows"] == N - 1
    for text in (
        "Left out of the promises for categories not seen before: 1 row.",
        "Outside the ranges of training, which are widened: 1 row.",
    ):
        assert text in facts["notes"]


def test_an_infinite_cost_makes_categories_untouchable(folder, capsys):
    facts = run_json(capsys, *FIT, "--category-cost", "inf")
    assert any("cannot touch (cost inf): colour" in note for note in facts["notes"])
    pipeline = load_model("model")
    names = pipeline[0].get_feature_names_out()
    cost = dict(zip(names, pipeline[-1].feature_cost, strict=True))
    assert cost == {
        "numbers__length": 1,
        "numbers__width": 1,
        "categories__colour_blue": np.inf,
        "categories__colour_missing": np.inf,
        "categories__colour_red": np.inf,
    }


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
    fixed = ("--category-cost", "inf")
    facts = run_json(capsys, *FIT, "--cv", *fixed)
    assert np.isfinite(facts["label cost"])
    assert np.abs(load_model("model")[-1].coef_).max() < 10
    facts = run_json(capsys, *FIT, "--label-cost", "inf", *fixed)
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
    ("--category-cost", "0"): "--category-cost must be a number > 0 or inf, got 0",
    ("--kernel", "rbf", "--norm", "l1"): "--norm must be l2 with --kernel rbf",
    ("--cv", "--radius", "1"): "leave out either it or --radius",
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
