"""Tables for people: pandas where it is installed, and names for their columns."""

from __future__ import annotations

import csv
import importlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from ..arrays import Labels
from ..files import replaced_whole
from .promises.worst_case import has_kernel


def imported_pandas(wanted_by: str) -> Any:
    """pandas, or an error that says who needs it."""
    try:
        return importlib.import_module("pandas")
    except ImportError:
        raise ImportError(
            f"{wanted_by} needs pandas, which is not installed: pip install pandas."
        ) from None


class ColumnsMixin:
    """Tables of a result whose ``_columns`` are arrays of one length."""

    _columns: Any

    def to_frame(self) -> Any:
        """The list as a table with one label per row.

        Returns
        -------
        pandas.DataFrame
            The table.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from wdrsvm import audit_labels
        >>> X, y = load_iris(return_X_y=True)
        >>> audit_labels(X, y).to_frame().columns.tolist()
        ['row', 'given', 'suggested', 'gain', 'margin', 'exposure', 'wrong_probability']
        """
        return imported_pandas("to_frame").DataFrame(self._columns())

    def to_csv(self, path: str | Path) -> None:
        """Write the list to a file, completely or not at all.

        Parameters
        ----------
        path : str or Path
            The file to write.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sklearn.datasets import load_iris
        >>> from wdrsvm import audit_labels
        >>> X, y = load_iris(return_X_y=True)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "suspects.csv"
        ...     audit_labels(X, y).to_csv(path)
        ...     print(path.read_text().splitlines()[0])
        row,given,suggested,gain,margin,exposure,wrong_probability
        """
        write_csv(Path(path), self._columns())


def feature_names(classifier: Any, n_features: int) -> Labels:
    """Names of the features that a classifier, or a pipeline's last step, sees.

    Those of a kernel have none.
    """
    is_pipeline = hasattr(classifier, "steps")
    names = getattr(classifier, "feature_names_in_", None)
    if is_pipeline:
        names = _names_out(classifier[:-1])
    if has_kernel(classifier[-1] if is_pipeline else classifier):
        return np.array([f"direction{d}" for d in range(n_features)], dtype=object)
    if names is None or len(names) != n_features:
        names = [f"x{d}" for d in range(n_features)]
    return np.asarray(names, dtype=object)


def _names_out(transformer: Any) -> Any:
    try:
        return transformer.get_feature_names_out()
    except (AttributeError, NotFittedError, ValueError):
        # Steps that do not name what they make.
        return None


def write_csv(path: Path, columns: dict[str, NDArray[Any]]) -> None:
    """Write columns to a file that is replaced whole or not at all."""
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    with (
        replaced_whole(path) as draft,
        draft.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
