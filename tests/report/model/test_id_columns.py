"""Columns that name their rows are found, and measured ones are not."""

import numpy as np
import pytest

from wdrsvm.report.model.id_columns import id_columns

pd = pytest.importorskip("pandas")
N = 40
CLASSES = np.resize(["a", "b"], N)
MEASURED = np.random.default_rng(0).normal(size=N)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("row", np.random.default_rng(0).permutation(N) + 1),
        ("sample_id", np.arange(N) ** 2 + 5.0),
        ("name", [f"n{k}" for k in range(N)]),
    ],
)
def test_identifiers_are_found(name, values):
    frame = pd.DataFrame({name: values, "kind": CLASSES, "length": MEASURED})
    assert id_columns(frame) == [name]


@pytest.mark.parametrize(
    "values",
    [
        np.arange(N) ** 2,
        np.arange(N) + 0.5,
        np.r_[np.arange(N - 1), 0],
        np.r_[np.arange(N - 1.0), np.nan],
        ["x", None] * (N // 2),
        np.arange(N) % 2 == 0,
    ],
    ids=["gaps", "halves", "twice", "missing", "few texts", "flags"],
)
def test_other_columns_are_not(values):
    assert id_columns(pd.DataFrame({"mass": values})) == []


def test_frames_of_polars_and_arrays():
    polars = pytest.importorskip("polars")
    frame = {"row": range(N), "length": MEASURED, "name": [f"n{k}" for k in range(N)]}
    assert id_columns(polars.DataFrame(frame)) == ["row", "name"]
    assert id_columns(np.arange(N)[:, np.newaxis]) == []
    assert id_columns(pd.DataFrame({"row": range(9)})) == []
