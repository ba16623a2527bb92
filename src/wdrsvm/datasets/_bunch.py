"""Columns of CSV files, and Bunches made from them."""

from __future__ import annotations

import csv
import importlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from ..arrays import Codes, Floats
from ._sources import Source, content


def csv_columns(raw: bytes, file: str) -> dict[str, NDArray[Any]]:
    """Columns of a CSV file by name, as text."""
    header, *rows = csv.reader(io.StringIO(raw.decode()))
    if any(len(row) != len(header) for row in rows):
        raise ValueError(f"{file} has rows of unequal length.")
    return dict(zip(header, np.array(rows).T, strict=True))


def column(table: dict[str, NDArray[Any]], name: str, file: str) -> NDArray[Any]:
    """A column by its name; the error names a column that the file does not have."""
    if name not in table:
        raise ValueError(f"{file} has no column {name!r}; it has {', '.join(table)}.")
    return table[name]


def numbers(table: dict[str, NDArray[Any]], columns: Sequence[str], file: str) -> Floats:
    """Columns as one array of numbers, shape (rows, columns)."""
    cells = np.column_stack([column(table, name, file) for name in columns])
    return cells.astype(float)


def bunch(
    X: Floats,
    target: Codes,
    features: Sequence[str],
    target_names: NDArray[Any],
    description: str,
    return_X_y: bool,
    as_frame: bool,
) -> Any:
    """A Bunch like those of scikit-learn's loaders, or a pair (data, target)."""
    data: Any = X
    labels: Any = target
    frame = None
    if as_frame:
        pandas = importlib.import_module("pandas")
        frame = pandas.DataFrame(X, columns=list(features))
        frame["target"] = target
        data, labels = frame[list(features)], frame["target"]
    if return_X_y:
        return data, labels
    return Bunch(
        data=data,
        target=labels,
        frame=frame,
        feature_names=list(features),
        target_names=target_names,
        DESCR=description,
    )


def labelled(source: Source) -> Callable[..., Any]:
    """A loader of a CSV whose last column is ``class``."""

    def loader(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
        table = csv_columns(content(source), source.file)
        features = tuple(name for name in table if name != "class")
        X = numbers(table, features, source.file)
        names, target = _in_order(column(table, "class", source.file))
        text = f"{Path(source.file).stem}, UCI Machine Learning Repository."
        return bunch(X, target, features, names, text, return_X_y, as_frame)

    return loader


def _in_order(labels: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """Names and codes of classes; names that are whole numbers are in their order."""
    if all(name.isdigit() for name in labels):
        labels = labels.astype(int)
    names, codes = np.unique(labels, return_inverse=True)
    return names.astype(str), codes
