"""Columns that cannot become features."""

import numpy as np

from ...fuzz.mutations import TARGET, flowers


def test_numbers_whose_squares_are_none(tmp_path, refused):
    path = tmp_path / "table.csv"
    frame = flowers(np.random.default_rng(0))
    frame.loc[0, "width"] = 1e200
    frame.to_csv(path, index=False)
    said = refused("fit", path, "--target", TARGET, "--out", tmp_path / "model")
    assert "width must hold finite numbers up to 1e+150, got 1e+200" in said


def test_complex_numbers(tmp_path, refused):
    path, model = tmp_path / "table.npz", tmp_path / "model"
    np.savez(path, a=np.arange(6) * 1j, b=np.arange(6.0), y=np.arange(6) % 2)
    said = refused("fit", path, "--target", "y", "--out", model)
    assert "a must hold real numbers" in said
