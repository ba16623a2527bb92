"""Tables in several file formats; every error is one sentence."""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from ...files import check_size, check_swelling, check_texts, reason, replaced_whole
from ...report.words import listed as listed
from ..nearest import perhaps_file
from .delimited import read_delimited, same_names
from .numerals import COMMA, POINT

# The name of the labels in formats without names.
UNNAMED_TARGET = "y"
# Largest index of a sparse row, because the coefficients are arrays of this length.
MOST_FEATURES = 2**25


@dataclass(frozen=True, eq=False)
class InputTable:
    """A table with named columns, or, from svmlight, sparse rows with their labels.

    Cells of text files are texts.  ``decimal`` is the decimal mark of such a file if no
    cell determines it.  ``same_names`` are the names that several columns share, and
    ``left_out`` the arrays of a file that have another length than its rows.
    """

    path: Path
    columns: Any
    rows: Any = None
    decimal: str = POINT
    same_names: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def notes(self) -> list[str]:
        """What the user should know of the file."""
        said = []
        if self.same_names:
            names = listed(list(self.same_names))
            said.append(f"Columns with the same name are numbered: {names}.")
        if self.left_out:
            names = listed(list(self.left_out))
            said.append(
                f"Arrays that do not have one entry per row of X left out: {names}."
            )
        return said

    @property
    def is_sparse(self) -> bool:
        return self.rows is not None


def read_table(path: Path) -> InputTable:
    """A table from a file, by the ending of its name."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no table {path}{perhaps_file(path)}.")
    ending = path.suffix.lower()
    if ending not in READERS:
        raise ValueError(f"{path} must end in one of {', '.join(READERS)}.")
    if not path.stat().st_size:
        raise ValueError(f"{path} is empty: a table has a header and rows.")
    try:
        table = READERS[ending](path)
    except Exception as error:
        # A damaged file can raise many kinds of errors.
        why = reason(error)
        raise ValueError(f"{path} is no readable {ending} table: {why}.") from error
    if not len(table.columns):
        raise ValueError(f"{path} has a header but no rows.")
    table.columns.columns = table.columns.columns.map(str)
    return table


def pandas() -> Any:
    """pandas, imported late, because ``wdrsvm --help`` does not need it."""
    return importlib.import_module("pandas")


def _delimited(separator: str | None) -> Callable[[Path], InputTable]:
    def read(path: Path) -> InputTable:
        frame, layout = read_delimited(path, separator, pandas())
        # Files with decimal commas have semicolons between cells.
        decimal = COMMA if layout.separator == ";" else POINT
        same = tuple(same_names(layout.header))
        return InputTable(path, frame, decimal=decimal, same_names=same)

    return read


def _parquet(path: Path) -> InputTable:
    about = importlib.import_module("pyarrow.parquet").ParquetFile(path).metadata
    check_size(8 * about.num_rows * about.num_columns, path.stat().st_size)
    return InputTable(path, pandas().read_parquet(path))


def _npz(path: Path) -> InputTable:
    """Vectors are columns; a matrix X is columns X0, X1, ..."""
    with path.open("rb") as file:
        check_swelling(file)
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    for name, array in arrays.items():
        _check_array(name, array)
    kept = _one_length(arrays)
    columns: dict[str, Any] = {}
    for name, array in kept.items():
        if array.ndim == 2:
            columns |= {f"{name}{d}": column for d, column in enumerate(array.T)}
        else:
            columns[name] = array
    left_out = tuple(name for name in arrays if name not in kept)
    return InputTable(path, pandas().DataFrame(columns), left_out=left_out)


def _check_array(name: str, array: Any) -> None:
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{name} is no array")
    check_texts(array)
    if array.ndim not in (1, 2):
        raise ValueError(f"array {name} has {array.ndim} axes, not 1 or 2")


def _one_length(arrays: dict[str, Any]) -> dict[str, Any]:
    """The arrays as long as the matrix X; without X, all must have the same length."""
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) <= 1:
        return arrays
    if "X" not in arrays:
        told = listed([f"{name} {n}" for name, n in lengths.items()])
        raise ValueError(f"its arrays have different lengths ({told}) and none is X")
    return {name: array for name, array in arrays.items() if lengths[name] == lengths["X"]}


def _svmlight(path: Path) -> InputTable:
    rows, labels = load_svmlight_file(str(path))
    if rows.shape[1] > MOST_FEATURES:
        raise ValueError(f"it has an index above {MOST_FEATURES}")
    frame = pandas().DataFrame({UNNAMED_TARGET: labels})
    return InputTable(path, frame, sparse.csr_array(rows))


READERS: dict[str, Callable[[Path], InputTable]] = {
    ".csv": _delimited(None),
    ".tsv": _delimited("\t"),
    ".parquet": _parquet,
    ".npz": _npz,
    ".svm": _svmlight,
    ".svmlight": _svmlight,
    ".libsvm": _svmlight,
}


def checked_output(path: Path, *inputs: Path, endings: tuple[str, ...] = ()) -> Path:
    """The path of an output, after a check before the work that it can be written."""
    if path.exists() and any(each.exists() and path.samefile(each) for each in inputs):
        raise ValueError(f"--out must not be a file that is read, got {path}.")
    if endings and path.suffix.lower() not in endings:
        raise ValueError(f"--out must end in one of {', '.join(endings)}, got {path}.")
    if path.is_dir():
        raise ValueError(f"--out must be a file, but {path} is a folder.")
    if not path.parent.is_dir():
        raise ValueError(
            f"--out {path} cannot be written: there is no folder {path.parent}; make it "
            "first."
        )
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
        writable = not path.exists() or os.access(path, os.W_OK)
    except OSError as error:
        raise ValueError(f"--out {path} cannot be written: {error.strerror}.") from error
    if not writable:
        raise ValueError(f"--out {path} cannot be written: Permission denied.")
    return path


TABLE_ENDINGS = (".csv", ".tsv", ".parquet")


def write_table(frame: Any, path: Path, separator: str = ",") -> Path:
    """Write a data frame in the format of the file's ending, completely or not at all.

    The separator is that of a .csv file.
    """
    with replaced_whole(path) as draft:
        if path.suffix.lower() == ".parquet":
            _write_parquet(frame, draft, path)
        else:
            between = "\t" if path.suffix.lower() == ".tsv" else separator
            frame.to_csv(draft, index=False, sep=between)
    return path


def _write_parquet(frame: Any, draft: Path, path: Path) -> None:
    try:
        frame.to_parquet(draft, index=False)
    except (ValueError, TypeError, NotImplementedError) as error:
        why = reason(error)
        raise ValueError(f"--out {path} cannot hold this table: {why}.") from error
