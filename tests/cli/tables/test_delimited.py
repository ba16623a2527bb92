"""Delimited texts as people have them: read as they are meant, or one sentence."""

import pytest

from ..flowers import FIT, N, numbers_of, run, run_json, texts

LAYOUTS = {
    "byte-order mark": lambda: "\ufeff" + texts().to_csv(index=False),
    "tabs": lambda: texts().to_csv(index=False, sep="\t"),
    "bars": lambda: texts().to_csv(index=False, sep="|"),
    "quoted": lambda: texts().to_csv(index=False, quoting=1),
    "named separator": lambda: "sep=;\n" + texts().to_csv(index=False, sep=";"),
    "commas in quotes": lambda: (
        texts().to_csv(index=False, sep=";").replace("length", '"length"', 1)
    ),
    "blanks": lambda: texts().to_csv(index=False).replace(",", " , "),
    "windows": lambda: texts().to_csv(index=False, lineterminator="\r\n"),
    "trailing separators": lambda: (
        texts().to_csv(index=False).replace("\n", ",\n").replace("kind,", "kind", 1)
    ),
    "trailing everywhere": lambda: texts().to_csv(index=False).replace("\n", ",\n"),
    "empty column": lambda: texts().assign(nothing="").to_csv(index=False),
    "marks only": lambda: texts().assign(nothing="n/a").to_csv(index=False),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_do_not_matter(folder, capsys, name):
    texts().to_csv("train.csv", index=False)
    expected = run_json(capsys, *FIT)
    (folder / "train.csv").write_bytes(LAYOUTS[name]().encode())
    found = run_json(capsys, *FIT)
    expected.pop("notes"), found.pop("notes")
    assert found == expected


LAYOUT_REFUSED = {
    "lines above": (lambda: "My trees\n\n" + texts().to_csv(index=False), "row 0, counted"),
    "bare commas": (
        lambda: texts().to_csv(index=False).replace(".", ","),
        "has 6 cells, but the header has 4; delete lines above it, and quote",
    ),
    "infinity": (lambda: with_infinity(), "got inf in row 7, counted from 0"),
}


def with_infinity():
    return texts().assign(length=[*["1"] * 7, "inf", *["2"] * (N - 8)]).to_csv(index=False)


@pytest.mark.parametrize("name", LAYOUT_REFUSED)
def test_a_refused_row_is_named_with_a_remedy(folder, capsys, name):
    made, sentence = LAYOUT_REFUSED[name]
    (folder / "train.csv").write_text(made())
    code, shown, error = run(capsys, *FIT)
    assert (code, shown, error.count("\n")) == (2, "", 1)
    assert sentence in error


def test_utf_16_says_how_to_save_it(folder, capsys):
    (folder / "train.csv").write_bytes(texts().to_csv(index=False).encode("utf-16"))
    code, _, error = run(capsys, *FIT)
    assert (code, "UTF-16, not UTF-8; save it as CSV UTF-8" in error) == (2, True)


def test_another_encoding_says_how_to_save_it(folder, capsys):
    content = texts().assign(kind=["\xe4sche", "elm"] * (N // 2)).to_csv(index=False)
    (folder / "train.csv").write_bytes(content.encode("latin-1"))
    code, _, error = run(capsys, *FIT)
    assert (code, error.count("\n")) == (2, 1)
    assert "not UTF-8 (byte 0xe4); save it as CSV UTF-8" in error


def test_columns_with_the_same_name_are_numbered(folder, capsys):
    content = texts().to_csv(index=False).replace("width", "length", 1)
    (folder / "train.csv").write_text(content)
    facts = run_json(capsys, *FIT)
    assert numbers_of() == ["length", "length.1"]
    assert "Columns with the same name are numbered: length." in facts["notes"]
