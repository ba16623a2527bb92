"""From a table's columns to the features of a classifier, in a pipeline that is saved.

Numbers are imputed by the median and standardised; texts become one column a category, a
missing text a category of its own.  Sparse rows are scaled by their largest entries.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from .tables import Table, pandas

NUMBERS, CATEGORIES = "numbers", "categories"
MISSING = "missing"
# A text with more categories than this is a name, not a category.
MAX_CATEGORIES = 100
# Classes are learned from no fewer rows.
LEAST_ROWS = 2
# Squares of numbers must be numbers.
LARGEST = 1e150
# Up to here floats tell all whole numbers apart.
LARGEST_CODE = 2.0**53
# How many columns a sentence names.
NAMED = 5


@dataclass(frozen=True, eq=False)
class Labelled:
    """Features as the pipeline takes them, labels, and what the user should know."""

    X: Any
    y: Any
    row: Any
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Prepared:
    """A fitted preparation of the columns, and the prices of what it gives."""

    transformer: Any
    features: Any
    feature_cost: Any
    categories: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def labelled(table: Table, target: str, drop: list[str] | None = None) -> Labelled:
    """Split a table into features and labels; rows without a label are left out."""
    frame, notes = table.columns, []
    for name in (target, *(drop or [])):
        _check_column(frame, name, table.path)
    labels = frame[target]
    known = labels.notna().to_numpy()
    if not known.all():
        notes.append(f"{(~known).sum()} rows without a label in {target} are left out.")
    y = _labels(labels[known], table.path)
    if table.is_sparse:
        return Labelled(table.rows[known], y, np.flatnonzero(known), notes)
    X = frame.loc[known].drop(columns=[target, *(drop or [])]).reset_index(drop=True)
    return Labelled(X, y, np.flatnonzero(known), notes)


def check_classes(y: Any, path: Path) -> None:
    """Refuse what no classifier can be learned from."""
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise ValueError(f"{path} must have two classes at least, got {classes.tolist()}.")
    if counts.min() < LEAST_ROWS:
        rare = classes[counts < LEAST_ROWS]
        more = f" and {len(rare) - 1} others" if len(rare) > 1 else ""
        raise ValueError(
            f"{path} must have {LEAST_ROWS} rows of every class at least, but has "
            f"{counts.min()} of {rare[0]}{more}."
        )


def prepared(data: Labelled, path: Path) -> Prepared:
    """Learn the preparation of all columns."""
    if not isinstance(data.X, pandas().DataFrame):
        transformer = MaxAbsScaler().fit(data.X)
        return Prepared(
            transformer, transformer.transform(data.X), np.ones(data.X.shape[1])
        )
    filled, notes = _without_empty(data.X)
    if not filled.shape[1]:
        raise ValueError(f"{path} has no column with values beside the labels.")
    kinds: dict[str, list[Any]] = {NUMBERS: [], CATEGORIES: []}
    for name in filled.columns:
        kinds[_kind(filled[name], path)].append(name)
    cleaned = _cleaned(filled, kinds, path)
    transformer = _transformer(kinds).fit(cleaned)
    names = transformer.get_feature_names_out()
    untouchable = np.char.startswith(names.astype(str), f"{CATEGORIES}__")
    return Prepared(
        transformer,
        transformer.transform(cleaned),
        np.where(untouchable, np.inf, 1.0),
        kinds[CATEGORIES],
        notes + _imputed(filled, kinds),
    )


def features_for(model: Any, table: Table) -> Any:
    """The columns that a model knows, in its order; others are ignored."""
    names = getattr(model, "feature_names_in_", None)
    if table.is_sparse:
        if names is not None:
            raise ValueError(f"The model needs named columns, which {table.path} has not.")
        return _as_wide_as(table, model.n_features_in_)
    if names is None:
        raise ValueError(f"The model needs sparse rows (svmlight), not {table.path}.")
    absent = [name for name in names if name not in table.columns.columns]
    if absent:
        raise ValueError(f"{table.path} lacks {listed(absent)}, which the model needs.")
    return aligned(model[0], table.columns[list(names)], table.path)


def aligned(transformer: Any, frame: Any, path: Path) -> Any:
    """A frame with the types that the preparation learned."""
    if not isinstance(frame, pandas().DataFrame):
        return frame
    kinds = {name: list(columns) for name, _, columns in transformer.transformers_}
    return _cleaned(frame[list(transformer.feature_names_in_)], kinds, path)


def unseen_categories(model: Any, X: Any) -> list[str]:
    """What to say of texts that the model has never seen; they count as no category."""
    if not hasattr(model[0], "named_transformers_"):
        return []
    encoder = model[0].named_transformers_.get(CATEGORIES)
    if encoder is None:
        return []
    names = dict((name, columns) for name, _, columns in model[0].transformers_)[CATEGORIES]
    said = []
    for name, known in zip(names, encoder[-1].categories_, strict=True):
        new = sorted(set(X[name].dropna()) - set(known))
        if new:
            said.append(
                f"{name} has categories that the model has not seen: {listed(new)}."
            )
    return said


def _as_wide_as(table: Table, n_features: int) -> Any:
    """Features that no row has are 0; those that the model does not know are ignored."""
    rows = table.rows.copy()
    if rows.shape[1] > n_features:
        return rows[:, :n_features]
    rows.resize((rows.shape[0], n_features))
    return rows


def _check_column(frame: Any, name: str, path: Path) -> None:
    if name not in frame.columns:
        raise ValueError(
            f"{path} has no column {name!r}; it has {listed(list(frame.columns))}."
        )


def listed(names: list[Any]) -> str:
    """The first few names, and how many more there are."""
    shown = ", ".join(str(name) for name in names[:NAMED])
    more = len(names) - NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _labels(labels: Any, path: Path) -> Any:
    if not len(labels):
        raise ValueError(f"{path} has no row with a label in {labels.name}.")
    is_whole = pandas().api.types.is_integer_dtype(labels)
    if not is_whole and pandas().api.types.is_float_dtype(labels):
        is_whole = bool((labels.abs() < LARGEST_CODE).all() & (labels % 1 == 0).all())
        if not is_whole:
            raise ValueError(
                f"{labels.name} must hold classes, got numbers such as {labels.iloc[0]}."
            )
    return labels.astype(int).to_numpy() if is_whole else _texts(labels).to_numpy(dtype=str)


def _without_empty(frame: Any) -> tuple[Any, list[str]]:
    empty = list(frame.columns[frame.isna().all()])
    if not empty:
        return frame, []
    return frame.drop(columns=empty), [f"Columns without values left out: {listed(empty)}."]


def _kind(column: Any, path: Path) -> str:
    types = pandas().api.types
    if types.is_numeric_dtype(column) and not types.is_bool_dtype(column):
        return NUMBERS
    if types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
        raise ValueError(f"{path}: {column.name} holds dates; leave it out by --drop.")
    n_categories = column.nunique()
    if n_categories > MAX_CATEGORIES:
        raise ValueError(
            f"{path}: the text {column.name} has {n_categories} different values, more "
            f"than {MAX_CATEGORIES}; leave it out by --drop."
        )
    return CATEGORIES


def _cleaned(frame: Any, kinds: dict[str, list[Any]], path: Path) -> Any:
    """Numbers as floats, everything else as texts."""
    numbers = _numbers(frame[kinds.get(NUMBERS, [])], path)
    texts = {name: _texts(frame[name]) for name in kinds.get(CATEGORIES, [])}
    return numbers.assign(**texts)[list(frame.columns)]


def _numbers(frame: Any, path: Path) -> Any:
    for name, column in frame.items():
        if pandas().api.types.is_complex_dtype(column):
            raise ValueError(f"{path}: {name} must hold real numbers, got complex ones.")
    try:
        values = frame.astype(float)
    except (TypeError, ValueError):
        name = next(name for name in frame.columns if not _holds_numbers(frame[name]))
        raise ValueError(f"{path}: {name} must hold numbers, got text.") from None
    largest = values.abs().max()
    if (largest > LARGEST).any():
        name = largest.idxmax()
        raise ValueError(
            f"{path}: {name} must hold finite numbers up to {LARGEST:g}, got "
            f"{largest[name]:g}."
        )
    return values


def _holds_numbers(column: Any) -> bool:
    try:
        column.astype(float)
    except (TypeError, ValueError):
        return False
    return True


def _texts(column: Any) -> Any:
    values = column.astype(object)
    return values.where(column.isna(), values.map(str)).where(column.notna(), np.nan)


def _transformer(kinds: dict[str, list[Any]]) -> Any:
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    categories = make_pipeline(
        SimpleImputer(strategy="constant", fill_value=MISSING),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    steps = [(NUMBERS, numbers), (CATEGORIES, categories)]
    return ColumnTransformer(
        [(name, step, kinds[name]) for name, step in steps if kinds[name]]
    )


def _imputed(frame: Any, kinds: dict[str, list[Any]]) -> list[str]:
    """What was done about missing values, for the user."""
    said = []
    for kind, what in (
        (NUMBERS, "missing numbers become the median of their column"),
        (CATEGORIES, "missing texts become a category of their own"),
    ):
        lacking = frame[kinds[kind]].isna().sum()
        where = list(lacking[lacking > 0].index)
        if where:
            said.append(f"{lacking.sum()} {what}: {listed(where)}.")
    return said
