"""Categories of a frame as plain values, whatever library and type they come from."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ...arrays import Labels
from ...inputs.arrays import is_missing
from ...inputs.dask_collections import is_lazy
from ...inputs.frames import is_frame


class CategoryValues(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """The categories of a frame as plain values, with None for every missing value.

    pandas and polars have several types for texts and flags, and several missing values:
    None, NaN and NA.  Encoders take these for different categories, or refuse them.  This
    transformer is the first step of the categories in :func:`wdrsvm.mixed_table`.

    Parameters
    ----------
    handle_unknown : {"error", "ignore"}, default="error"
        What :meth:`transform` does with a category that the fit has not seen: raise an
        error that names the column, or let it pass.

    Attributes
    ----------
    categories_ : list of sets
        The values of each column.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_columns,)
        Names of the columns.

    See Also
    --------
    mixed_table : An encoder of numbers and categories.

    Examples
    --------
    >>> import pandas as pd
    >>> from wdrsvm import CategoryValues
    >>> frame = pd.DataFrame({"colour": pd.array(["red", None], dtype="string")})
    >>> CategoryValues().fit_transform(frame).tolist()
    [['red'], [None]]
    """

    def __init__(self, handle_unknown: str = "error") -> None:
        self.handle_unknown = handle_unknown

    def fit(self, X: Any, y: Any = None) -> CategoryValues:
        """Remember the columns and their categories.

        Parameters
        ----------
        X : pandas or polars DataFrame of shape (n_samples, n_columns)
            Texts, flags or other categories.
        y : None
            Ignored.

        Returns
        -------
        CategoryValues
            The transformer.
        """
        check_unknown(self.handle_unknown)
        check_frame("X", X)
        validate_data(self, X, skip_check_array=True)
        self.categories_ = [set(plain_values(X[name])) for name in X.columns]
        return self

    def transform(self, X: Any) -> Labels:
        """The values of all rows.

        Parameters
        ----------
        X : pandas or polars DataFrame of shape (n_samples, n_columns)
            Texts, flags or other categories.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            Python objects, None where a value is missing.
        """
        check_is_fitted(self)
        check_frame("X", X)
        validate_data(self, X, reset=False, skip_check_array=True)
        values = np.empty((len(X), self.n_features_in_), dtype=object)
        for number, name in enumerate(X.columns):
            values[:, number] = plain_values(X[name])
            if self.handle_unknown == "error":
                _check_known(name, values[:, number], self.categories_[number])
        return values


def check_frame(name: str, given: Any) -> None:
    """Refuse what has no named columns in memory."""
    if not is_frame(given):
        raise TypeError(
            f"{name} must be a pandas or polars DataFrame, whose columns have names and "
            f"types, got {_kind_of(given)}."
        )


def _kind_of(frame: Any) -> str:
    return "a dask collection" if is_lazy(frame) else type(frame).__name__


def check_unknown(handle_unknown: Any) -> None:
    if handle_unknown not in ("error", "ignore"):
        raise ValueError(
            f"handle_unknown must be one of 'error', 'ignore', got {handle_unknown!r}."
        )


def _check_known(name: Any, values: Labels, known: set[Any]) -> None:
    new = sorted(set(values) - known, key=str)
    if new:
        raise ValueError(
            f"column {name!r} has categories that the fit has not seen: "
            f"{', '.join(map(repr, new))}; leave these rows out, or encode such "
            "categories as zeros by handle_unknown='ignore'."
        )


def plain_values(column: Any) -> list[Any]:
    """The values of a column as Python objects, None for missing ones."""
    return [None if is_missing(value) else value for value in column.to_list()]
