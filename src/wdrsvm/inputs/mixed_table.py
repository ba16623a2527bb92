"""From a table of numbers and categories to what a robust classifier needs."""

from __future__ import annotations

from typing import Any, NamedTuple

from .frames import CATEGORY_COST, Box, Groups, is_frame, observed_box

NUMBERS, CATEGORIES = "numbers", "categories"


class MixedTable(NamedTuple):
    """An encoder of a table, and the limits of the adversary in its columns.

    Attributes
    ----------
    encoder : ColumnTransformer
        The fitted encoder: numbers are standardised and missing numbers become the
        median; categories become one-hot columns and a missing category is one of its own.
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


def mixed_table(frame: Any, *, category_cost: float = CATEGORY_COST) -> MixedTable:
    """Encode a table of numbers and categories, and find the adversary's limits in it.

    Columns of numbers, booleans excepted, are numbers.  All other columns are categories,
    which the adversary may switch at ``category_cost`` each.

    Parameters
    ----------
    frame : pandas or polars DataFrame of shape (n_samples, n_columns)
        The features, without the labels; values may be missing.
    category_cost : float, default=1.0
        Cost of switching a category, in standard deviations of a number; ``inf`` forbids
        it.

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
    if not is_frame(frame):
        raise TypeError(
            "frame must be a pandas or polars DataFrame, whose columns have names and "
            f"types, got {type(frame).__name__}."
        )
    kinds = _kinds(frame)
    encoder = mixed_encoder(kinds).fit(frame)
    encoded = encoder.transform(frame)
    return MixedTable(encoder, groups_of(encoder, category_cost), observed_box(encoded))


def mixed_encoder(kinds: dict[str, list[Any]]) -> Any:
    """An encoder of the columns named as numbers and as categories."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    # A missing value is a category like any other.
    categories = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    steps = [(NUMBERS, numbers), (CATEGORIES, categories)]
    return ColumnTransformer(
        [(name, step, kinds[name]) for name, step in steps if kinds[name]]
    )


def groups_of(encoder: Any, cost: float) -> Groups:
    """The one-hot columns of each category of a fitted encoder, with the switching cost.

    A category with a single value has nothing to switch to, and makes no group.
    """
    first, groups = 0, []
    for name, step, columns in encoder.transformers_:
        if name == NUMBERS:
            first += len(columns)
        elif name == CATEGORIES:
            one_hot = step[-1] if hasattr(step, "steps") else step
            for known in one_hot.categories_:
                if len(known) > 1:
                    groups.append((list(range(first, first + len(known))), float(cost)))
                first += len(known)
    return groups


def _kinds(frame: Any) -> dict[str, list[Any]]:
    """The names of columns of numbers and of categories."""
    kinds: dict[str, list[Any]] = {NUMBERS: [], CATEGORIES: []}
    for name, kind in zip(frame.columns, frame.dtypes, strict=True):
        kinds[NUMBERS if _is_number(kind) else CATEGORIES].append(name)
    return kinds


def _is_number(kind: Any) -> bool:
    """Whether a type of pandas or polars holds numbers."""
    if hasattr(kind, "is_numeric"):
        return bool(kind.is_numeric())
    is_flag = str(kind).lower() in ("bool", "boolean")
    return not is_flag and getattr(kind, "kind", "O") in "iuf"
