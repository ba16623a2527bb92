"""From the columns of a table to the features of a classifier, in a pipeline that is saved.

Missing numbers become the median, and numbers are standardised.  Texts become one column
per category; missing texts are a separate category.  Sparse features are scaled by their
largest entries.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from ...estimators.tables.mixed_table import groups_of, unseen_categories
from ...inputs.frames import CATEGORY_COST, observed_box
from ...report.words import counted
from ..nearest import perhaps
from .columns import (
    CATEGORIES,
    MAX_CATEGORIES,
    NUMBERS,
    Columns,
    Reading,
    as_texts,
    read_columns,
)
from .files import InputTable, listed, pandas
from .labels import LabelReading, Labels, read_labels
from .numerals import MISSING_MARKS, is_missing
from .suspicions import suspicions

MISSING = "missing"
MISSING_NUMBERS = (
    "missing number becomes the median of its column",
    "missing numbers become the median of their column",
)


@dataclass(frozen=True, eq=False)
class Labelled:
    """Features in the form of the table, labels, and notes for the user.

    ``beside`` has all columns except the labels, also those that are left out.  ``labels``
    records what was done with rare classes, ``texts`` has the labels as the table writes
    them, and ``trust`` says how far they are trusted.
    """

    X: Any
    y: Any
    row: Any
    notes: list[str] = field(default_factory=list)
    beside: Any = None
    labels: Labels | None = None
    texts: Any = None
    trust: Any = None


@dataclass(frozen=True, eq=False)
class Prepared:
    """A fitted preparation of the columns, the features, and their feature costs.

    ``columns`` has the cells as they were read, or is None if rows are sparse.
    ``groups`` has the columns of each category, ``support`` the ranges of all features.
    ``given_support`` has only the ranges that the user gave, or is None.
    """

    transformer: Any
    features: Any
    feature_cost: Any
    categories: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    reading: dict[str, Any] = field(default_factory=dict)
    groups: list[list[int]] = field(default_factory=list)
    support: Any = None
    given_support: Any = None
    columns: Any = None

    def limits(self, category_cost: float) -> dict[str, Any]:
        """What the adversary may do with the features of this table."""
        given = {} if self.given_support is None else {"support": self.given_support}
        if not self.categories:
            return given
        if np.isinf(category_cost):
            return {"feature_cost": self.feature_cost, **given}
        groups = [(group, category_cost) for group in self.groups]
        return {"categorical": groups, "support": self.support}


def labelled(
    table: InputTable,
    target: str,
    drop: list[str] | None = None,
    how: LabelReading | None = None,
) -> Labelled:
    """Split a table into features and labels; rows without a label are left out."""
    _check_target(table, target)
    dropped = named_columns("--drop", drop, table, target)
    labels = read_labels(table.columns[target], table.path, how or LabelReading())
    texts = as_texts(table.columns[target]).to_numpy()[labels.row]
    if table.is_sparse:
        X: Any = table.rows[labels.row]
        return Labelled(X, labels.y, labels.row, labels.notes, None, labels, texts)
    beside = table.columns.iloc[labels.row].drop(columns=target)
    notes = [*labels.notes, *table.notes()]
    X = beside.drop(columns=dropped)
    return Labelled(X, labels.y, labels.row, notes, beside, labels, texts)


def named_columns(
    option: str, given: list[str] | None, table: InputTable, target: str
) -> list[str]:
    """The columns that an option names, which may be repeated or have commas."""
    there = list(table.columns.columns)
    names = [
        name
        for each in given or []
        for name in (
            [each] if each in there else [part.strip() for part in each.split(",")]
        )
    ]
    absent = [f"{name!r}{perhaps(name, there)}" for name in names if name not in there]
    if absent:
        raise ValueError(
            f"{option}: {table.path} has no column {', '.join(absent)}; it has "
            f"{listed(there)}."
        )
    if target in names:
        raise ValueError(f"{option} must not name the labels, got {target!r}.")
    return list(dict.fromkeys(names))


def prepared(data: Labelled, table: InputTable, reading: Reading | None = None) -> Prepared:
    """Fit the preparation of all columns."""
    if not isinstance(data.X, pandas().DataFrame):
        transformer = MaxAbsScaler().fit(data.X)
        return Prepared(
            transformer, transformer.transform(data.X), np.ones(data.X.shape[1])
        )
    filled, notes = _without_empty(data.X)
    if not filled.shape[1]:
        raise ValueError(f"{table.path} has no column with values beside the labels.")
    how = replace(reading or Reading(), most_categories=MAX_CATEGORIES)
    columns = read_for_training(filled, table, how)
    transformer = _transformer(columns.kinds).fit(columns.frame)
    names = transformer.get_feature_names_out()
    untouchable = np.char.startswith(names.astype(str), f"{CATEGORIES}__")
    said = [*notes, *columns.notes, *_imputed(columns), *suspicions(columns, filled)]
    features = transformer.transform(columns.frame)
    return Prepared(
        transformer,
        features,
        np.where(untouchable, np.inf, 1.0),
        columns.kinds[CATEGORIES],
        said,
        _learned(columns, reading or Reading()),
        [group for group, _ in groups_of(transformer, CATEGORY_COST)],
        observed_box(features),
        columns=columns.frame,
    )


def read_for_training(frame: Any, table: InputTable, reading: Reading) -> Columns:
    """All cells of a training table; an error about a cell lists all remedies."""
    remedy = (
        "correct the cell, or take the column as categories by --categories NAME, such "
        "cells as missing by --numbers NAME, or leave it out by --drop NAME"
    )
    how = replace(
        reading,
        remedy=remedy,
        lenient=reading.numbers,
        fallback=table.decimal,
        is_training=True,
    )
    return read_columns(frame, table.path, how)


def _learned(columns: Columns, reading: Reading) -> dict[str, Any]:
    """How the columns were read, as plain values for the model file."""
    return {
        "decimals": dict(columns.decimals),
        "percent": list(columns.percent),
        "lenient": list(reading.numbers),
    }


def features_for(model: Any, table: InputTable) -> tuple[Any, list[str]]:
    """The columns that a model needs, in the model's order, and notes for the user."""
    names = getattr(model, "feature_names_in_", None)
    if table.is_sparse:
        if names is not None:
            raise ValueError(
                f"The model needs named columns, which {table.path} has not; give a .csv, "
                ".tsv or .parquet table."
            )
        return _as_wide_as(table, model.n_features_in_), []
    if names is None:
        raise ValueError(f"The model needs sparse rows (svmlight), not {table.path}.")
    absent = [name for name in names if name not in table.columns.columns]
    if absent:
        raise ValueError(
            f"{table.path} lacks {listed(absent)}, which the model needs; add "
            f"{'the column' if len(absent) == 1 else 'these columns'}, empty where nothing "
            "is known."
        )
    columns = read_columns(
        table.columns[list(names)], table.path, _as_learned(model, table)
    )
    return columns.frame, columns.notes


def _as_learned(model: Any, table: InputTable) -> Reading:
    """How the training table was read; older model files have only the columns' kinds."""
    kinds = {name: tuple(columns) for name, _, columns in model[0].transformers_}
    learned = getattr(model, "reading_", {})
    percent = learned.get("percent")
    return Reading(
        numbers=kinds.get(NUMBERS, ()),
        categories=kinds.get(CATEGORIES, ()),
        lenient=tuple(learned.get("lenient", ())),
        decimals=dict(learned.get("decimals", {})),
        percent=None if percent is None else tuple(percent),
        fallback=table.decimal,
    )


def notes_of_unseen(model: Any, X: Any) -> list[str]:
    """Notes about texts that the model has not seen, which count as no category."""
    if not hasattr(model[0], "named_transformers_"):
        return []
    # A missing text is no new category, even if no text was missing in training.
    found = unseen_categories(model[0], X)
    texts = {name: [v for v in new if v is not None] for name, new in found.items()}
    return [
        f"{name} has categories that the model has not seen: {listed(new)}."
        for name, new in texts.items()
        if new
    ]


def _as_wide_as(table: InputTable, n_features: int) -> Any:
    """Sparse rows as wide as the model; missing features are 0, others are ignored."""
    rows = table.rows.copy()
    if rows.shape[1] > n_features:
        return rows[:, :n_features]
    rows.resize((rows.shape[0], n_features))
    return rows


def _check_target(table: InputTable, target: str) -> None:
    there = list(table.columns.columns)
    if target in table.left_out:
        raise ValueError(
            f"{table.path}: {target} must have one entry per row of X, which has "
            f"{len(table.columns)} rows; give a file in which both have the same length."
        )
    if target not in there:
        raise ValueError(
            f"{table.path} has no column {target!r}{perhaps(target, there)}; it has "
            f"{listed(there)}."
        )
    if target in table.same_names:
        raise ValueError(
            f"{table.path} has more than one column called {target!r}; rename all but one."
        )


def _without_empty(frame: Any) -> tuple[Any, list[str]]:
    empty = [name for name in frame.columns if _is_empty(frame[name])]
    if not empty:
        return frame, []
    return frame.drop(columns=empty), [f"Columns without values left out: {listed(empty)}."]


def _is_empty(column: Any) -> bool:
    """Whether no cell has a value; a mark of a missing value is no value."""
    filled = column[column.notna()]
    if len(filled) and str(filled.iloc[0]).strip().casefold() not in MISSING_MARKS:
        return False
    return len(filled) == 0 or bool(is_missing(as_texts(filled)).all())


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


def _imputed(columns: Columns) -> list[str]:
    """Notes for the user about missing values."""
    frame, kinds, said = columns.frame, columns.kinds, []
    for kind, one, many in (
        (NUMBERS, *MISSING_NUMBERS),
        (
            CATEGORIES,
            "missing text becomes a category of its own",
            "missing texts become a category of their own",
        ),
    ):
        lacking = frame[kinds[kind]].isna().sum()
        where = list(lacking[lacking > 0].index)
        if where:
            what = counted(int(lacking.sum()), one, many)
            said.append(f"{what}: {listed(where)}.")
    return said
