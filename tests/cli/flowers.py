"""A small table, and commands run on it."""

import json

import numpy as np
import pytest

from wdrsvm import load_model
from wdrsvm.cli.main import main

pandas = pytest.importorskip("pandas")

N = 60


def flowers():
    """Two numbers, a text and its gaps; three classes of 20 rows."""
    random = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], N // 3)
    length, width = random.normal(size=(2, N)) / 2 + np.array([codes, codes == 1]) * 3
    colour = np.where(random.random(N) < 0.5, "red", "blue").astype(object)
    frame = pandas.DataFrame({"length": length, "width": width, "colour": colour})
    frame["kind"] = np.array(["ash", "elm", "oak"])[codes]
    frame.loc[[3, 30], "length"] = np.nan
    frame.loc[5, "colour"] = np.nan
    return frame


def run(capsys, *arguments):
    code = main([*map(str, arguments)])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def run_json(capsys, *arguments):
    code, out, error = run(capsys, *arguments, "--json")
    assert code == 0, error
    return json.loads(out)


FIT = ("fit", "train.csv", "--target", "kind", "--out", "model")


LABELLED = ("--target", "kind")


def texts():
    """Two numbers with two decimals, as texts, a colour and the labels."""
    table = flowers().assign(colour=["red", "blue"] * (N // 2))
    table = table.fillna({"length": 1.0})
    for name in ("length", "width"):
        table[name] = table[name].map("{:.2f}".format)
    return table


def european(table):
    table = table.assign(
        length=table["length"].str.replace(".", ","),
        width=table["width"].str.replace(".", ","),
        price=[f"1.{100 + k}" for k in range(N)],
    )
    return table.to_csv(index=False, sep=";")


def numbers_of(model="model"):
    """The columns that a model takes as numbers."""
    kinds = {name: list(columns) for name, _, columns in load_model(model)[0].transformers_}
    return kinds["numbers"]
