"""From a table of numbers and categories to what a robust classifier needs."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

from ...inputs.arrays import is_missing
from ...inputs.column_kinds import CATEGORIES, NUMBERS, distinct, kinds_of
from ...inputs.frames import CATEGORY_COST, Box, Groups, observed_box
from .category_values import CategoryValues, check_frame, check_unknown

# How the command line calls a missing text.
MISSING = "missing"


class MixedTable(NamedTuple):
    """An encoder of a table, and the limits of the adversary in its columns.

    Attributes
    ----------
    encoder : FrozenEstimator of a ColumnTransformer
        The fitted encoder: numbers are standardised and missing numbers become the
        median; categories become one-hot columns and a missing category is one of its own.
        It is frozen: a pipeline that is fitted again, as in cross-validation, keeps its
        columns and its scale, so that ``groups`` and ``support`` stay true.
    groups : list of pairs (columns, cost)
        The one-hot columns of each category, for ``categorical``.
    support : pair of arrays (low, high)
        The observed ranges of the encoded columns, for ``support``.

    Examples
    --------
    >>> import pandas as pd
    >>> from wdrsvm import mixed_table
    >>> mixed_table(pd.DataFrame({"size": [1.0, 3.0], "colour": ["red", "blue"]})).groups
    [([1, 2], 1.0)]
    """

    encoder: Any
    groups: Groups
    support: Box

    def unseen(self, frame: Any) -> dict[Any, list[Any]]:
        """The categories of another frame that the table has not, by column.

        The encoder refuses such a row, or with ``handle_unknown="ignore"`` encodes the
        category as zeros; promises refuse it then.

        Parameters
        ----------
        frame : pandas or polars DataFrame
            New rows with the columns of the table.

        Returns
        -------
        dict
            Columns with such categories and the sorted categories; None is a missing one.

        Examples
        --------
        >>> import pandas as pd
        >>> from wdrsvm import mixed_table
        >>> table = mixed_table(pd.DataFrame({"colour": ["red", "blue"]}))
        >>> table.unseen(pd.DataFrame({"colour": ["red", "green", None]}))
        {'colour': ['green', None]}
        """
        found = unseen_categories(self.encoder, frame)
        return {name: values for name, values in found.items() if values}


def mixed_table(
    frame: Any, *, category_cost: float = CATEGORY_COST, handle_unknown: str = "error"
) -> MixedTable:
    """Encode a table of numbers and categories, and find the adversary's limits in it.

    Columns of numbers, booleans excepted, are numbers.  All other columns are categories,
    which the adversary may switch at ``category_cost`` each.  Dates, mixtures of types and
    columns with more than 1000 categories raise an error that names the column.

    Parameters
    ----------
    frame : pandas or polars DataFrame of shape (n_samples, n_columns)
        The features, without the labels; values may be missing.
    category_cost : float, default=1.0
        Cost of switching a category, in standard deviations of a number; ``inf`` forbids
        it.
    handle_unknown : {"error", "ignore"}, default="error"
        What the encoder does with a category that ``frame`` has not: raise an error, as
        scikit-learn's ``OneHotEncoder`` does, or encode it as zeros.

    Returns
    -------
    MixedTable
        Encoder, groups and support, which can be unpacked as a tuple.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from wdrsvm import RobustLinearSVC, mixed_table
    >>> frame = pd.DataFrame(
    ...     {"size": [1.0, 2.0, 4.0, None], "colour": ["red", "red", "blue", None]}
    ... )
    >>> encoder, groups, support = mixed_table(frame)
    >>> classifier = RobustLinearSVC(norm="l1", categorical=groups, support=support)
    >>> model = make_pipeline(encoder, classifier).fit(frame, ["no", "no", "yes", "yes"])
    >>> model.predict(frame).tolist()
    ['no', 'no', 'yes', 'yes']
    """
    check_frame("frame", frame)
    _check_cost(category_cost)
    check_unknown(handle_unknown)
    from sklearn.frozen import FrozenEstimator

    encoder = FrozenEstimator(mixed_encoder(kinds_of(frame), handle_unknown).fit(frame))
    encoded = encoder.transform(frame)
    return MixedTable(encoder, groups_of(encoder, category_cost), observed_box(encoded))


def mixed_encoder(kinds: dict[str, list[Any]], handle_unknown: str) -> Any:
    """An encoder of the columns named as numbers and as categories."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    # A column without any number stays, as zeros.
    median = SimpleImputer(strategy="median", keep_empty_features=True)
    # A missing value is a category like any other.
    values = CategoryValues(handle_unknown)
    one_hot = OneHotEncoder(handle_unknown=handle_unknown, sparse_output=False)
    steps = {
        NUMBERS: make_pipeline(median, StandardScaler()),
        CATEGORIES: make_pipeline(values, one_hot),
    }
    return ColumnTransformer(
        [(name, step, kinds[name]) for name, step in steps.items() if kinds[name]]
    )


def _check_cost(category_cost: Any) -> None:
    is_number = isinstance(category_cost, numbers.Real)
    if not is_number or not category_cost > 0:
        raise ValueError(
            f"category_cost must be a number > 0 (inf is allowed), got {category_cost!r}."
        )


def unseen_categories(encoder: Any, frame: Any) -> dict[Any, list[Any]]:
    """The values of each category's column that a fitted encoder has not seen."""
    found: dict[Any, list[Any]] = {}
    for name, step, columns in encoder.transformers_:
        if name == CATEGORIES:
            for column, known in zip(columns, step[-1].categories_, strict=True):
                found[column] = _unseen(column, frame[column], list(known))
    return found


def _unseen(name: Any, column: Any, known: list[Any]) -> list[Any]:
    values = column.to_list()
    new: list[Any] = sorted(set(distinct(name, column)) - set(known), key=str)
    knows_missing = MISSING in known or any(map(is_missing, known))
    lacks_missing = not knows_missing and any(map(is_missing, values))
    return [*new, None] if lacks_missing else new


def groups_of(encoder: Any, cost: float) -> Groups:
    """The one-hot columns of each category of a fitted encoder, with the switching cost.

    A category with a single value has nothing to switch to, and makes no group.
    """
    first, groups = 0, []
    for name, step, columns in encoder.transformers_:
        if name == NUMBERS:
            first += len(columns)
        elif name == CATEGORIES:
            for known in step[-1].categories_:
                if len(known) > 1:
                    groups.append((list(range(first, first + len(known))), float(cost)))
                first += len(known)
    return groups
