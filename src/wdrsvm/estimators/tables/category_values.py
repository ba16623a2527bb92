"""Categories of a frame as plain values, whatever library and type they come from."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ...arrays import Labels
from ...inputs.arrays import is_missing


class CategoryValues(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """The categories of a frame as plain values, with None for every missing value.

    pandas and polars have several types for texts and flags, and several missing values:
    None, NaN and NA.  Encoders take these for different categories, or refuse them.  This
    transformer is the first step of the categories in :func:`wdrsvm.mixed_table`.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
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

    def fit(self, X: Any, y: Any = None) -> CategoryValues:
        """Remember the names of the columns.

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
        validate_data(self, X, skip_check_array=True)
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
        validate_data(self, X, reset=False, skip_check_array=True)
        values = np.empty((len(X), self.n_features_in_), dtype=object)
        for number, name in enumerate(X.columns):
            values[:, number] = plain_values(X[name])
        return values


def plain_values(column: Any) -> list[Any]:
    """The values of a column as Python objects, None for missing ones."""
    return [None if is_missing(value) else value for value in column.to_list()]
