"""Names of features and files of columns."""

import csv
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from wdrsvm.robustness.frames import feature_names, imported_pandas, write_csv


class Thing:
    """A classifier with the attributes it is given."""

    def __init__(self, **attributes):
        vars(self).update(attributes)


class Names(FunctionTransformer):
    """A step that names what it makes, or fails to."""

    def get_feature_names_out(self, names=None):
        if isinstance(self.kw_args, Exception):
            raise self.kw_args
        return np.array(["u", "v"])


def steps(last, second=None):
    """A pipeline of three steps."""
    return make_pipeline("passthrough", Names() if second is None else second, last)


def kernel():
    return Thing(linear_form=None)


def test_names_are_those_that_the_classifier_saw():
    named = Thing(feature_names_in_=np.array(["a", "b"]))
    found = feature_names(named, 2)
    assert found.tolist() == ["a", "b"]
    assert found.dtype == object
    assert feature_names(named, 3).tolist() == ["x0", "x1", "x2"]
    assert feature_names(Thing(), 2).tolist() == ["x0", "x1"]
    assert feature_names(Thing(), 2).dtype == object


def test_names_of_a_pipeline_are_those_that_its_last_step_sees():
    assert feature_names(steps(Thing()), 2).tolist() == ["u", "v"]
    for error in (AttributeError(), NotFittedError(), ValueError()):
        unnamed = steps(Thing(), second=Names(kw_args=error))
        assert feature_names(unnamed, 2).tolist() == ["x0", "x1"]


def test_directions_of_a_kernel_are_numbered():
    for model in (kernel(), steps(kernel())):
        found = feature_names(model, 2)
        assert found.tolist() == ["direction0", "direction1"]
        assert found.dtype == object


def test_columns_are_written_whole(tmp_path):
    path = tmp_path / "table.csv"
    columns = {"a": np.array([1, 2]), "é": np.array(['x,"y"', "line\nbreak"])}
    write_csv(path, columns)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [["a", "é"], ["1", 'x,"y"'], ["2", "line\nbreak"]]
    assert path.read_bytes() == 'a,é\r\n1,"x,""y"""\r\n2,"line\nbreak"\r\n'.encode()


def test_files_are_the_same_on_every_system(tmp_path, monkeypatch):
    opened, original = [], Path.open

    def remembered(path, *args, **options):
        opened.append(options)
        return original(path, *args, **options)

    monkeypatch.setattr(Path, "open", remembered)
    write_csv(tmp_path / "table.csv", {"a": np.arange(2)})
    assert opened == [{"newline": "", "encoding": "utf-8"}]


def test_columns_of_different_lengths_are_refused(tmp_path):
    path = tmp_path / "table.csv"
    with pytest.raises(ValueError, match="shorter"):
        write_csv(path, {"a": np.arange(2), "b": np.arange(1)})
    assert not path.exists()


def test_pandas_is_imported_or_asked_for(monkeypatch):
    assert imported_pandas("a table").__name__ == "pandas"
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="a table needs pandas"):
        imported_pandas("a table")
