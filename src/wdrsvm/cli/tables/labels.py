"""Labels of a table: which texts are classes, and the treatment of rare classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...report.words import counted
from .columns import as_texts
from .files import listed, pandas
from .numerals import MISSING_MARKS, POINT, Numerals, is_missing

TEXT, NUMBER = "text", "numbers"
HOW = (TEXT, NUMBER)
# Folds of a cross-validation; every class should have a row in every fold.
FOLDS = 5
# Least number of rows of a class.
LEAST_ROWS = 2
# Up to this number, every whole number is an exact float.
LARGEST_CODE = 2.0**53
REMEDY = "--min-rows {n} leaves such classes out, --merge-rare NAME makes them one class"


@dataclass(frozen=True)
class LabelReading:
    """How labels are read, from the user's options or from a model file.

    If ``how`` is None, labels are texts, and measured numbers are refused.
    """

    how: str | None = None
    min_rows: int | None = None
    merge_rare: str | None = None
    left_out: tuple[str, ...] = ()
    merged: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Labels:
    """Classes of the rows with a label, the numbers of these rows, and notes."""

    y: Any
    row: Any
    left_out: list[str] = field(default_factory=list)
    merged: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_labels(column: Any, path: Path, reading: LabelReading) -> Labels:
    """The classes of a column; the user or the model decides what happens to rare ones."""
    values, notes = _values(column, path, reading.how)
    known = values.notna().to_numpy()
    if not known.any():
        raise ValueError(
            f"{path} has no row with a label in {column.name}; check --target."
        )
    if not known.all():
        notes.append(
            counted(
                int((~known).sum()),
                f"row without a label in {column.name} is left out.",
                f"rows without a label in {column.name} are left out.",
            )
        )
    kept = values[known]
    is_text = pandas().api.types.is_object_dtype(kept)
    y = kept.to_numpy(dtype=str) if is_text else kept.to_numpy(dtype=int)
    found = Labels(y, np.flatnonzero(known), notes=notes)
    if is_text and reading.how is None:
        found.notes.extend(_doubts(y, column.name))
    return _without_rare(found, reading)


def check_classes(y: Any, path: Path) -> None:
    """Refuse labels with fewer than two classes, or with too few rows of a class."""
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise ValueError(
            f"{path} must have two classes at least, got {classes.tolist()}; check "
            "--target."
        )
    if counts.min() < LEAST_ROWS:
        rare = [_with_twin(name, classes) for name in classes[counts < LEAST_ROWS]]
        raise ValueError(
            f"{path} must have {LEAST_ROWS} rows of every class at least, but has "
            f"{counts.min()} of {listed(rare)}; {REMEDY.format(n=LEAST_ROWS)}."
        )


def about_folds(y: Any) -> list[str]:
    """A note if a class has fewer rows than a cross-validation has folds."""
    classes, counts = np.unique(y, return_counts=True)
    fewest = int(counts.min())
    if fewest >= FOLDS:
        return []
    sizes = dict(zip(classes.tolist(), counts.tolist(), strict=True))
    rare = [_with_rows(name, n) for name, n in sizes.items() if n < FOLDS]
    return [
        f"{fewest} folds in place of {FOLDS}, because classes are rare: {listed(rare)}; "
        f"{REMEDY.format(n=FOLDS)}."
    ]


def _values(column: Any, path: Path, how: str | None) -> tuple[Any, list[str]]:
    """Labels as texts or as whole numbers; missing where there is no label."""
    types = pandas().api.types
    if types.is_numeric_dtype(column) and not types.is_bool_dtype(column):
        _check_whole(column, column.name)
        return (as_texts(column) if how == TEXT else column.astype("Float64")), []
    texts = as_texts(column)
    texts = texts.where(texts.map(lambda text: bool(str(text).strip())), None)
    if how == NUMBER:
        return _whole_numbers(texts, path), []
    if how is None:
        _check_classes_not_measured(texts)
    return texts, []


def _whole_numbers(texts: Any, path: Path) -> Any:
    missing = is_missing(texts)
    values = Numerals.of(texts).values(POINT, "")
    strange = ~missing & ~texts.isin(list(values))
    if strange.any():
        row = int(np.flatnonzero(strange)[0])
        raise ValueError(
            f"{path}: {texts.name} must hold whole numbers with --labels numbers, but row "
            f"{row}, counted from 0, has {texts.iloc[row]!r}; --labels text takes texts."
        )
    numbers = texts.map(values).astype("Float64").mask(missing)
    _check_whole(numbers, texts.name)
    return numbers


def _check_whole(labels: Any, name: str) -> None:
    """Refuse numbers that are not whole: they are measurements, not classes."""
    filled = labels[labels.notna()]
    if np.iscomplexobj(filled):
        raise ValueError(f"{name} must hold classes, got complex numbers.")
    values = filled.astype(float)
    whole = (values.abs() < LARGEST_CODE) & (values % 1 == 0)
    if not whole.all():
        raise ValueError(
            f"{name} must hold classes, got numbers such as {filled[~whole].iloc[0]}; "
            "--labels text takes every text as a class."
        )


def _check_classes_not_measured(texts: Any) -> None:
    filled = texts[~is_missing(texts)]
    numbers = pandas().to_numeric(filled, errors="coerce")
    if len(filled) and numbers.notna().all():
        _check_whole(numbers, texts.name)


def _doubts(y: Any, name: str) -> list[str]:
    """Notes about classes that may be missing values, or two spellings of one class."""
    classes = np.unique(y).tolist()
    marks = [each for each in classes if each.casefold() in MISSING_MARKS]
    said = []
    if marks:
        said.append(
            f"Classes of {name} that may be gaps: {listed(marks)}; empty such cells if "
            "they mean that there is no label."
        )
    alike: dict[str, list[str]] = {}
    for each in classes:
        alike.setdefault(_bare(each), []).append(each)
    for group in alike.values():
        if len(group) > 1:
            said.append(
                f"{', '.join(group)} in {name} are different classes, as they stand; "
                "write them alike if they are one."
            )
    return said


def _bare(name: Any) -> str:
    """A class without what people write in different ways: case, zeros in front."""
    return str(name).casefold().lstrip("0")


def _with_twin(name: Any, classes: Any) -> str:
    """A class, and another class that may be the same."""
    twins = [each for each in classes if each != name and _bare(each) == _bare(name)]
    return f"{name} (perhaps {twins[0]} is meant)" if twins else str(name)


def _without_rare(found: Labels, reading: LabelReading) -> Labels:
    """Leave rare classes out or join them, as the user or the model says."""
    left_out, merged = list(reading.left_out), dict(reading.merged)
    classes, counts = np.unique(found.y, return_counts=True)
    asked = reading.min_rows is not None or reading.merge_rare is not None
    if asked:
        least = FOLDS if reading.min_rows is None else reading.min_rows
        rare = [str(name) for name in classes[counts < least]]
        if reading.merge_rare is None:
            left_out = rare
        else:
            merged = dict.fromkeys(rare, reading.merge_rare)
    sizes = {str(name): int(n) for name, n in zip(classes, counts, strict=True)}
    y, texts = found.y, found.y.astype(str)
    notes = [*found.notes, *_about_rare(left_out, merged, sizes)]
    if merged:
        y = np.array([merged.get(text, text) for text in texts.tolist()])
    kept = ~np.isin(texts, left_out)
    return Labels(y[kept], found.row[kept], left_out, merged, notes)


def _about_rare(
    left_out: list[str], merged: dict[str, str], sizes: dict[str, int]
) -> list[str]:
    gone = [_with_rows(name, sizes[name]) for name in left_out if name in sizes]
    joined = [_with_rows(name, sizes[name]) for name in merged if name in sizes]
    said = [f"Rare classes left out: {', '.join(gone)}."] if gone else []
    if joined:
        name = next(iter(merged.values()))
        said.append(f"Rare classes joined to {name}: {', '.join(joined)}.")
    return said


def _with_rows(name: Any, n_rows: int) -> str:
    return f"{name} ({counted(n_rows, 'row', 'rows')})"
