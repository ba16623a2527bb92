"""fit, predict, certify and audit: from a table to promises, or one sentence."""

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pandas")
pytest.importorskip("skops")

import pandas
from sklearn.datasets import dump_svmlight_file

from wdrsvm import load_model

from .flowers import N, flowers, run, run_json


def test_fit_says_what_it_did(folder, capsys):
    code, out, error = run(capsys, "fit", "train.csv", "--target", "kind", "--out", "model")
    assert (code, error) == (0, "")
    for text in (
        "ash, elm, oak",
        "2 missing numbers become the median of their column: length.",
        "1 missing texts become a category of their own: colour.",
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


def test_predictions_ignore_labels_and_strange_columns(model, capsys):
    table = flowers().assign(other=1)[["other", "kind", "colour", "width", "length"]]
    table.to_csv("new.csv", index=False)
    assert run(capsys, "predict", "model", "new.csv", "--out", "predictions.csv")[0] == 0
    predictions = pandas.read_csv("predictions.csv")
    assert (predictions["prediction"] == table["kind"]).mean() > 0.9
    table.drop(columns="kind").to_csv("new.csv", index=False)
    printed = run(capsys, "predict", "model", "new.csv")[1]
    assert printed == predictions.to_csv(index=False)


def test_scores_are_those_of_the_model(model, capsys):
    assert (
        run(capsys, "predict", "model", "train.csv", "--scores", "--out", "p.csv")[0] == 0
    )
    scores = pandas.read_csv("p.csv").drop(columns=["row", "prediction"])
    assert list(scores) == ["score ash", "score elm", "score oak"]
    expected = load_model(model).decision_function(flowers()[["length", "width", "colour"]])
    np.testing.assert_allclose(scores, expected)


def test_an_unseen_category_is_ignored_on_request_and_said(model, capsys):
    table = flowers()[6:10].assign(colour="green")
    table.to_csv("new.csv", index=False)
    shown = run_json(capsys, "predict", "model", "new.csv", "--ignore-unseen")
    assert shown["predictions"]["prediction"] == ["ash"] * 4
    assert shown["notes"] == ["colour has categories that the model has not seen: green."]


def test_certify_recomputes_the_promise_of_the_fit(model, capsys):
    facts = run_json(
        capsys, "certify", "model", "train.csv", "--target", "kind", "--out", "radii.csv"
    )
    classifier = load_model(model)[-1]
    assert facts["worst-case risk"] == pytest.approx(classifier.objective_, rel=1e-9)
    radii = pandas.read_csv("radii.csv")
    right = radii["label"] == radii["prediction"]
    for distance in (0.1, 0.25, 0.5, 1.0):
        expected = np.mean(right & (radii["certified_radius"] > distance))
        assert facts[f"certified accuracy at {distance:g}"] == expected


@pytest.mark.parametrize("ending", ["csv", "html"])
def test_the_audit_finds_a_wrong_label(folder, capsys, ending):
    table = flowers()
    table.loc[10, "kind"] = "oak"
    table.to_csv("train.csv", index=False)
    out = f"suspects.{ending}"
    facts = run_json(capsys, "audit", "train.csv", "--target", "kind", "--out", out)
    assert facts["most suspicious"][0] == "10 (oak, perhaps ash)"
    assert facts["suspicious"] < 10
    text = (folder / out).read_text()
    if ending == "csv":
        suspects = pandas.read_csv(out)
        assert len(suspects) == facts["suspicious"]
        assert suspects["width"][0] == pytest.approx(table["width"][10])
    else:
        assert '<th scope="row">10</th>' in text


def test_rows_without_a_label_are_left_out_and_keep_their_numbers(folder, capsys):
    table = flowers()
    table.loc[0, "kind"] = np.nan
    table.loc[10, "kind"] = "oak"
    table.to_csv("train.csv", index=False)
    facts = run_json(capsys, "audit", "train.csv", "--target", "kind", "--out", "s.tsv")
    assert facts["rows"] == N - 1
    assert "1 rows without a label in kind are left out." in facts["notes"]
    assert pandas.read_csv("s.tsv", sep="\t")["row"][0] == 10


def write_as(ending, frame):
    path = f"table.{ending}"
    if ending == "tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif ending == "parquet":
        frame.to_parquet(path)
    elif ending == "npz":
        numbers = frame[["x0", "x1"]].to_numpy()
        np.savez(path, x=numbers, kind=frame["kind"].to_numpy(dtype=str))
    elif ending == "csv":
        frame.to_csv(path, index=False, sep=";", encoding="utf-8-sig")
    return path


@pytest.mark.parametrize("ending", ["tsv", "parquet", "npz", "csv"])
def test_every_format_gives_the_same_model(folder, capsys, ending):
    frame = flowers().drop(columns="colour").rename(columns={"length": "x0", "width": "x1"})
    path = write_as(ending, frame)
    facts = run_json(capsys, "fit", path, "--target", "kind", "--out", "model")
    frame.to_csv("train.csv", index=False)
    same = run_json(capsys, "fit", "train.csv", "--target", "kind", "--out", "model")
    assert facts == same


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


FIT = ("fit", "train.csv", "--target", "kind", "--out", "model")


def with_(text):
    return lambda folder: (folder / "train.csv").write_bytes(text)


BAD_TABLES = {
    "longer rows": (with_(b"a,kind\n1,x\n1,2,x\n"), "no readable .csv table"),
    "all rows longer": (with_(b"a,kind\n1,x,2\n1,x,2\n"), "no readable .csv table"),
    "open quote": (with_(b'a,kind\n"1,x\n'), "no readable .csv table"),
    "binary": (with_(bytes(range(256)) * 9), "it is a binary file"),
    "not utf-8": (with_(b"a,kind\n\xff\xfe,x\n"), "no readable .csv table"),
    "empty": (with_(b""), "train.csv is empty"),
    "blank": (with_(b"\n\n"), "no readable .csv table"),
    "header alone": (with_(b"a,kind\n"), "no rows"),
    "no target": (with_(b"a,b\n1,2\n"), "has no column 'kind'; it has a, b."),
    "one row of a class": (
        with_(b"a,kind\n1,x\n2,x\n3,y\n"),
        "2 rows of every class at least, but has 1 of y",
    ),
    "one class": (with_(b"a,kind\n1,x\n2,x\n"), "two classes at least, got ['x']"),
    "no labels": (with_(b"a,kind\n1,\n2,\n"), "no row with a label in kind"),
    "no features": (with_(b"kind\nx\nx\ny\ny\n"), "no column with values"),
    "numbers as labels": (with_(b"a,kind\n1,0.5\n2,0.7\n"), "must hold classes"),
    "infinity": (with_(b"a,kind\n1,x\ninf,x\n3,y\n4,y\n"), "a must hold finite numbers"),
    "names": (
        lambda folder: pandas.DataFrame(
            {"id": [f"n{i}" for i in range(300)], "kind": ["x", "y", "z"] * 100}
        ).to_csv("train.csv", index=False),
        "the text id has 300 different values",
    ),
    "missing": (lambda folder: (folder / "train.csv").unlink(), "There is no table"),
}


@pytest.mark.parametrize("name", BAD_TABLES)
@pytest.mark.parametrize("command", ["fit", "audit"])
def test_a_bad_table_is_one_sentence_and_leaves_nothing(folder, capsys, name, command):
    spoil, sentence = BAD_TABLES[name]
    spoil(folder)
    before = sorted(folder.iterdir())
    out = {"fit": "model", "audit": "suspects.csv"}[command]
    code, shown, error = run(capsys, command, "train.csv", "--target", "kind", "--out", out)
    assert (code, shown) == (2, "")
    assert sentence in error
    assert error.count("\n") == 1
    assert sorted(folder.iterdir()) == before


BAD_OPTIONS = {
    ("--kernel", "cubic"): "--kernel must be one of linear, rbf",
    ("--norm", "l3"): "--norm must be one of l1, l2, linf",
    ("--kernel", "rbf", "--norm", "l1"): "--norm must be l2 with --kernel rbf",
    ("--cv", "--radius", "1"): "give either it or them",
    ("--loss", "square"): "--loss must be one of crammer-singer, logistic",
    ("--loss", "logistic", "--kernel", "rbf"): "--loss must be crammer-singer with",
    ("--landmarks", "5"): "--landmarks needs a --kernel",
    ("--radius", "-1"): "radius must be",
    ("--drop", "size"): "has no column 'size'",
    ("--test", "none.csv"): "There is no table none.csv",
}


@pytest.mark.parametrize("options", BAD_OPTIONS)
def test_bad_options_are_one_sentence(folder, capsys, options):
    code, shown, error = run(capsys, *FIT, *options)
    assert (code, shown, error.count("\n")) == (2, "", 1)
    assert BAD_OPTIONS[options] in error
    assert not (folder / "model").exists()


@pytest.mark.parametrize("command", ["fit", "predict", "certify", "audit"])
def test_what_is_read_is_not_written_over(model, capsys, command):
    before = {path.name: path.read_bytes() for path in model.parent.iterdir()}
    inputs = ["train.csv"] if command in ("fit", "audit") else ["model", "train.csv"]
    target = [] if command == "predict" else ["--target", "kind"]
    code, _, error = run(capsys, command, *inputs, *target, "--out", "./train.csv")
    assert (code, error.count("\n")) == (2, 1)
    assert "must not be a file that is read" in error
    assert {path.name: path.read_bytes() for path in model.parent.iterdir()} == before


@pytest.mark.parametrize("command", ["predict", "certify"])
def test_a_table_that_does_not_fit_the_model_is_one_sentence(model, capsys, command):
    target = [] if command == "predict" else ["--target", "kind"]
    for change, sentence in (
        (lambda t: t.drop(columns="width"), "lacks width, which the model needs"),
        (lambda t: t.assign(width="wide"), "width is a column of numbers, but row 0"),
    ):
        change(flowers()).to_csv("new.csv", index=False)
        code, _, error = run(capsys, command, "model", "new.csv", *target)
        assert (code, error.count("\n")) == (2, 1)
        assert sentence in error


def test_a_class_that_the_model_does_not_know_is_named(model, capsys):
    flowers().assign(kind="yew").to_csv("new.csv", index=False)
    code, _, error = run(capsys, "certify", "model", "new.csv", "--target", "kind")
    assert code == 2
    assert "has the class yew, but the model knows ash, elm, oak" in error


def test_a_file_that_is_no_model_is_one_sentence(folder, capsys):
    code, _, error = run(capsys, "predict", "train.csv", "train.csv")
    assert (code, error.count("\n")) == (2, 1)
    assert "is not a model file" in error


def test_the_report_is_one_page(model, capsys):
    code, out, error = run(
        capsys, "report", "model", "train.csv", "--target", "kind", "--out", "page.html"
    )
    assert (code, error) == (0, "")
    assert "page.html" in out
    assert "<h1>model on train.csv</h1>" in (model.parent / "page.html").read_text()


def test_a_report_is_html(model, capsys):
    code, _, error = run(
        capsys, "report", "model", "train.csv", "--target", "kind", "--out", "page.pdf"
    )
    assert (code, error.count("\n")) == (2, 1)
    assert "--out must end in one of .html" in error


@pytest.mark.parametrize("command", ["fit", "predict", "certify", "audit", "report"])
def test_help_has_examples(command, capsys):
    code, shown, _ = run(capsys, command, "--help")
    assert code == 0
    assert f"wdrsvm {command} penguins" in shown


def test_warnings_become_notes(folder, capsys):
    facts = run_json(capsys, *FIT, "--radius", "100")
    assert any("radius_max" in note for note in facts["notes"])
