"""Saved models, and tables in the form that a saved model needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...files import reason
from ...inputs.frames import observed_box
from ...model_files import load_model
from ...report.words import counted
from ..nearest import perhaps_file
from ..tables.features import Labelled, features_for, labelled, notes_of_unseen
from ..tables.files import InputTable, listed
from ..tables.labels import NUMBER, TEXT, LabelReading

# The column of the training table's labels, among what a model file knows of that table.
TARGET = "target"


@contextmanager
def in_use(path: Path) -> Iterator[None]:
    """Turn unexpected errors into one about the model file, which may be damaged."""
    try:
        yield
    except (ValueError, TypeError, OSError, ImportError):
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {reason(error)}"
        raise ValueError(f"{path} cannot be used, perhaps it is damaged: {why}.") from error


def loaded(path: Path) -> Any:
    """The model in a file that ``wdrsvm fit`` has written."""
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no model file {path}{perhaps_file(path)}; wdrsvm fit writes one."
        )
    model = load_model(path)
    if not hasattr(model, "steps") or not hasattr(model, "predict"):
        raise ValueError(
            f"{path} is no model that wdrsvm fit wrote; give the file of its --out."
        )
    return model


def labelled_for(model: Any, table: InputTable, target: str | None = None) -> Labelled:
    """Features and labels of a table, for a fitted model, which may know the target."""
    name = _learned_target(model) if target is None else target
    data = labelled(table, name, how=_labels_as_learned(model))
    X, notes = features_for(model, table)
    X = X[data.row] if table.is_sparse else X.iloc[data.row].reset_index(drop=True)
    y = _known_labels(data.y, model.classes_, table.path)
    return replace(data, X=X, y=y, notes=[*data.notes, *notes, *notes_of_unseen(model, X)])


def within_limits(model: Any, rows: Labelled) -> Labelled:
    """The rows that a ball with categories can judge, and notes about the others only.

    The box of the model, which stays as it is in its file, is widened to contain them.
    """
    classifier = getattr(model[-1], "best_estimator_", model[-1])
    support = getattr(classifier, "support", None)
    groups = getattr(classifier, "categorical", None) or []
    if support is None or isinstance(support, str):
        return replace(rows, notes=[])
    features, notes = model[:-1].transform(rows.X), []
    known = np.ones(len(features), dtype=bool)
    for columns, _ in groups:
        known &= features[:, columns].sum(axis=1) == 1
    if not known.any():
        raise ValueError(
            "Every row has a category that the model has not seen; give rows with the "
            "categories of the training table."
        )
    if not known.all():
        what = counted(int((~known).sum()), "row", "rows")
        notes.append(f"Left out of the promises for categories not seen before: {what}.")
        rows = replace(rows, X=rows.X[known], y=rows.y[known], row=rows.row[known])
        features = features[known]
    outside = ((features < support[0]) | (features > support[1])).any(axis=1)
    if outside.any():
        what = counted(int(outside.sum()), "row", "rows")
        notes.append(f"Outside the ranges of training, which are widened: {what}.")
        classifier.set_params(support=observed_box(features, support))
    return replace(rows, notes=notes)


def _learned_target(model: Any) -> str:
    """The column of the labels in the training table."""
    target = getattr(model, "reading_", {}).get(TARGET)
    if target is None:
        raise ValueError(
            "--target must name the column of the labels, which this model file does not "
            "know: wdrsvm fit of version 0.2 or newer writes it."
        )
    return str(target)


def _labels_as_learned(model: Any) -> LabelReading:
    """How the model's training labels were read, including the rare classes."""
    learned = getattr(model, "reading_", {})
    return LabelReading(
        how=TEXT if model.classes_.dtype.kind in "UO" else NUMBER,
        left_out=tuple(learned.get("left_out", ())),
        merged=dict(learned.get("merged", {})),
    )


def _known_labels(y: Any, classes: Any, path: Path) -> Any:
    given = y.astype(str) if classes.dtype.kind in "UO" else y
    strange = np.setdiff1d(given, classes)
    if len(strange):
        one = len(strange) == 1
        raise ValueError(
            f"{path} has the {'class' if one else 'classes'} {listed(strange.tolist())}, "
            f"but the model knows {listed(classes.tolist())}; check --target, or correct "
            f"the {'label' if one else 'labels'}."
        )
    return given
