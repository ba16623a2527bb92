"""Tables as people have them: read as they are meant, or one sentence about a cell."""

import pandas
import pytest

from wdrsvm import load_model

from ..flowers import FIT, LABELLED, N, european, numbers_of, run, run_json, texts


def with_cell(cell, row=7):
    table = texts()
    table.loc[row, "length"] = cell
    table.to_csv("train.csv", index=False)
    return table


def median_of(name, model="model"):
    step = load_model(model)[0].named_transformers_["numbers"]
    return step[0].statistics_[numbers_of(model).index(name)]


@pytest.mark.parametrize("cell", ["?", "-", "n/a", "5,1", "$5.1", "1,234.00", "", " 5.1"])
def test_one_strange_cell_leaves_a_column_of_numbers(folder, capsys, cell):
    with_cell(cell)
    facts = run_json(capsys, *FIT)
    assert facts["features"] == 4
    assert numbers_of() == ["length", "width"]


def test_a_european_table_is_the_same_table(folder, capsys):
    table = texts()
    (folder / "train.csv").write_text(european(table), encoding="utf-8-sig")
    facts = run_json(capsys, *FIT)
    assert any("decimal comma: length, width, price" in each for each in facts["notes"])
    assert numbers_of() == ["length", "width", "price"]
    assert median_of("length") == pytest.approx(table["length"].astype(float).median())
    assert median_of("price") == pytest.approx(1129.5)
    table.assign(price=range(1100, 1100 + N)).to_csv("plain.csv", index=False)
    same = run_json(capsys, "predict", "model", "plain.csv", "--scores")
    there = run_json(capsys, "predict", "model", "train.csv", "--scores")
    assert same["predictions"] == there["predictions"]


def test_numbers_that_may_be_two_are_read_as_the_user_says(folder, capsys):
    table = texts().assign(price=[f"1,{100 + k}" for k in range(N)])
    table.to_csv("train.csv", index=False)
    facts = run_json(capsys, *FIT)
    said = "1,100 in price is read as 1100; --decimal comma reads 1.1."
    assert said in facts["notes"]
    assert median_of("price") == pytest.approx(1129.5)
    run_json(capsys, *FIT, "--decimal", "comma")
    assert median_of("price") == pytest.approx(1.1295)
    # The model's own way is taken for tables that do not tell.
    table[["length", "width"]] = "1"
    table.to_csv("new.csv", index=False)
    scores = run_json(capsys, "predict", "model", "new.csv", "--scores")["predictions"]
    table.assign(price=[f"1.{100 + k}" for k in range(N)]).to_csv("new.csv", index=False)
    assert (
        run_json(capsys, "predict", "model", "new.csv", "--scores")["predictions"] == scores
    )


UNREADABLE = {
    "tall": "'tall', which is no number",
    "5%": "'5%', whose sign % other cells do not have",
    "12:30": "'12:30', which is no number",
}


@pytest.mark.parametrize("cell", UNREADABLE)
@pytest.mark.parametrize("command", ["fit", "audit", "explore"])
def test_a_cell_that_is_no_number_is_named(folder, capsys, command, cell):
    with_cell(cell)
    before = sorted(folder.iterdir())
    out = {"fit": "model", "audit": "s.csv", "explore": "p.html"}[command]
    code, shown, error = run(capsys, command, "train.csv", *LABELLED, "--out", out)
    assert (code, shown, error.count("\n")) == (2, "", 1)
    assert "length is a column of numbers, but row 7, counted from 0, has" in error
    assert UNREADABLE[cell] in error
    for remedy in ("--categories length", "--numbers length", "--drop length"):
        assert remedy in error
    assert sorted(folder.iterdir()) == before


def test_the_user_says_what_a_column_is(folder, capsys):
    with_cell("tall")
    facts = run_json(capsys, *FIT, "--numbers", "length")
    assert numbers_of() == ["length", "width"]
    assert "1 cell of length is no number and counts as missing." in facts["notes"]
    shown = run_json(capsys, "predict", "model", "train.csv")
    assert "1 cell of length is no number and counts as missing." in shown["notes"]
    run_json(capsys, *FIT, "--categories", "length")
    assert numbers_of() == ["width"]
    facts = run_json(capsys, *FIT, "--drop", "length,colour")
    assert facts["features"] == 1


@pytest.mark.parametrize("command", ["predict", "certify", "report"])
def test_a_model_reads_other_tables_as_its_own(model, capsys, command):
    with_cell("tall")
    given = {"predict": (), "certify": LABELLED, "report": (*LABELLED, "--out", "p.html")}
    code, shown, error = run(capsys, command, "model", "train.csv", *given[command])
    assert (code, shown, error.count("\n")) == (2, "", 1)
    assert "row 7, counted from 0, has 'tall'" in error
    assert not (model.parent / "p.html").exists()


def test_categories_are_the_same_texts_in_every_table(folder, capsys):
    """A table whose codes all look like numbers is read as the model's texts."""
    texts().assign(colour=["01", "2", "x"] * (N // 3)).to_csv("train.csv", index=False)
    run_json(capsys, *FIT, "--categories", "colour")
    texts().assign(colour=["01", "2", ""] * (N // 3)).to_csv("new.csv", index=False)
    assert run_json(capsys, "predict", "model", "new.csv", "--ignore-unseen")["notes"] == []


@pytest.mark.parametrize("truth", [("TRUE", "FALSE"), ("True", "False"), (True, False)])
def test_truth_has_one_spelling(folder, capsys, truth):
    texts().assign(colour=["true", "false"] * (N // 2)).to_csv("train.csv", index=False)
    run_json(capsys, *FIT)
    texts().assign(colour=list(truth) * (N // 2)).to_csv("new.csv", index=False)
    assert run(capsys, "predict", "model", "new.csv")[0] == 0


def test_per_cent_signs_belong_to_the_model(folder, capsys):
    table = texts().assign(length=texts()["length"] + "%")
    table.to_csv("train.csv", index=False)
    run_json(capsys, *FIT)
    texts().to_csv("new.csv", index=False)
    code, _, error = run(capsys, "predict", "model", "new.csv")
    assert (code, "lacks the sign %" in error) == (2, True)
    texts().assign(length=1.0).to_parquet("new.parquet")
    code, _, error = run(capsys, "predict", "model", "new.parquet")
    assert (code, "length must have per cent signs" in error) == (2, True)


def with_dates(dates):
    return texts().assign(when=(dates * N)[:N]).to_csv(index=False)


REFUSED = {
    "dates": (lambda: with_dates(["2024-01-05", "2024-02-06"]), "when holds dates"),
    "german dates": (lambda: with_dates(["05.01.2024", "6.2.2024"]), "--drop when"),
    "times": (lambda: with_dates(["12:30", "9:15"]), "--categories when"),
    "labels twice": (
        lambda: texts().assign(extra=1).to_csv(index=False).replace("extra", "kind", 1),
        "more than one column called 'kind'",
    ),
    "a longer row": (
        lambda: (
            texts().to_csv(index=False).replace("\n", ",\n").replace("kind,", "kind", 1)
            + "1,2,red,oak,5\n"
        ),
        "row 60, counted from 0, has more cells than the header",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_one_sentence(folder, capsys, name):
    made, sentence = REFUSED[name]
    (folder / "train.csv").write_text(made())
    code, shown, error = run(capsys, *FIT)
    assert (code, shown, error.count("\n")) == (2, "", 1)
    assert sentence in error
    assert not (folder / "model").exists()


def test_one_run_names_all_columns_that_cannot_be_read(folder, capsys):
    made = texts().assign(when="2024-01-05", note=[f"note {n}" for n in range(N)])
    many = pandas.concat([made.assign(note=made["note"] + str(k)) for k in range(3)])
    many["length"] = ["tall", *many["length"].iloc[1:]]
    many.to_csv("train.csv", index=False)
    code, shown, error = run(capsys, *FIT)
    assert (code, shown, error.count("\n")) == (2, "", 1)
    for sentence in (
        "length (row 0, counted from 0, has 'tall')",
        "when (dates, such as 2024-01-05)",
        f"note ({3 * N} different texts)",
        "or add --drop when,note --numbers length (",
    ):
        assert sentence in error
    assert run(capsys, *FIT, "--drop", "when,note", "--numbers", "length")[0] == 0


def test_of_many_columns_that_cannot_be_read_the_first_are_described(folder, capsys):
    columns = dict.fromkeys("abcdefg", "2024-01-05")
    texts().assign(**columns).to_csv("train.csv", index=False)
    _, _, error = run(capsys, *FIT)
    assert error.count("(dates") == 5
    assert "and 2 more. Correct the cells, or add --drop a,b,c,d,e,f,g (" in error


def test_a_prediction_names_all_columns_that_cannot_be_read(folder, capsys):
    texts().to_csv("train.csv", index=False)
    run(capsys, *FIT)
    texts().assign(length="long", width="wide").to_csv("new.csv", index=False)
    code, _, error = run(capsys, "predict", "model", "new.csv")
    assert (code, error.count("\n"), "--" in error) == (2, 1, False)
    assert "has 'long'), width (row 0, counted from 0, has 'wide')" in error


BAD_OPTIONS = {
    ("--numbers", "size"): "--numbers: train.csv has no column 'size'; it has length",
    ("--categories", "length,size"): "--categories: train.csv has no column 'size'",
    ("--numbers", "colour"): "train.csv: colour has no number, but --numbers names it",
    ("--numbers", "length", "--categories", "length"): "must name different columns",
    ("--drop", "kind"): "--drop must not name the labels",
    ("--decimal", ","): "--decimal must be one of point, comma",
    ("--labels", "words"): "--labels must be one of text, numbers",
}


@pytest.mark.parametrize("options", BAD_OPTIONS)
def test_options_about_columns_are_checked(folder, capsys, options):
    texts().to_csv("train.csv", index=False)
    code, shown, error = run(capsys, *FIT, *options)
    assert (code, shown, error.count("\n")) == (2, "", 1)
    assert BAD_OPTIONS[options] in error
    assert not (folder / "model").exists()


def test_a_name_with_a_comma_can_be_dropped(folder, capsys):
    texts().rename(columns={"width": "width, cm"}).to_csv("train.csv", index=False)
    assert run_json(capsys, *FIT, "--drop", "width, cm")["features"] == 3
