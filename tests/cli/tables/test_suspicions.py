"""Columns that tell nothing are said."""

import numpy as np
import pytest

from ..flowers import FIT, N, run_json, texts

SUSPICIOUS = {
    "sample": (range(1, N + 1), "Looks like an identifier"),
    "sample_id": (np.random.default_rng(0).permutation(N) * 7, "Looks like an identifier"),
    "name": ([f"n{k}" for k in range(N)], "Texts that differ in almost every row"),
    "same": ([7] * N, "The same value in every row"),
    "unit": (["cm"] * N, "The same value in every row"),
    "zip": ([f"{k % 7:05d}" for k in range(N)], "Numbers with leading zeros"),
}


@pytest.mark.parametrize("name", SUSPICIOUS)
def test_columns_that_tell_nothing_are_said(folder, capsys, name):
    values, sentence = SUSPICIOUS[name]
    texts().assign(**{name: values}).to_csv("train.csv", index=False)
    notes = run_json(capsys, *FIT)["notes"]
    option = "--categories" if name == "zip" else "--drop"
    (note,) = [each for each in notes if sentence in each]
    assert f"{name}; {option} {name}" in note


def test_measured_columns_are_not_suspected(folder, capsys):
    mass = np.random.default_rng(0).integers(2700, 6300, N)
    texts().assign(mass=mass).to_csv("train.csv", index=False)
    notes = run_json(capsys, *FIT)["notes"]
    (note,) = notes
    assert note.startswith("Categories, each of which the adversary may switch")


def test_names_with_blanks_are_quoted_in_remedies(folder, capsys):
    texts().assign(**{"my id": range(N)}).to_csv("train.csv", index=False)
    notes = run_json(capsys, *FIT)["notes"]
    assert any("--drop 'my id' leaves it out" in note for note in notes)


def test_a_remedy_names_all_columns(folder, capsys):
    texts().assign(same=7, unit="cm").to_csv("train.csv", index=False)
    notes = run_json(capsys, *FIT)["notes"]
    assert any("same, unit; --drop same,unit leaves them out." in note for note in notes)
