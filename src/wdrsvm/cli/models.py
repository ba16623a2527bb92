"""Tables as a saved model sees them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..files import reason
from ..model_files import load_model
from .features import Labelled, features_for, labelled, unseen_categories
from .labels import NUMBER, TEXT, LabelReading
from .tables import Table


@contextmanager
def in_use(path: Path) -> Iterator[None]:
    """Blame what nobody foresaw on the model's file, which anybody may have made."""
    try:
        yield
    except (ValueError, TypeError, OSError, ImportError):
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {reason(error)}"
        raise ValueError(f"{path} cannot be used, perhaps it is damaged: {why}.") from error


def loaded(path: Path) -> Any:
    """A model that ``wdrsvm fit`` wrote."""
    model = load_model(path)
    if not hasattr(model, "steps") or not hasattr(model, "predict"):
        raise ValueError(f"{path} holds no model that wdrsvm fit wrote.")
    return model


def labelled_for(model: Any, table: Table, target: str) -> Labelled:
    """Features and labels of a table, for a model that is fitted."""
    data = labelled(table, target, how=_labels_as_learned(model))
    X, notes = features_for(model, table)
    X = X[data.row] if table.is_sparse else X.iloc[data.row].reset_index(drop=True)
    y = _known_labels(data.y, model.classes_, table.path)
    return replace(
        data, X=X, y=y, notes=[*data.notes, *notes, *unseen_categories(model, X)]
    )


def _labels_as_learned(model: Any) -> LabelReading:
    """Texts or numbers as the model's classes, and what became of rare ones."""
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
        raise ValueError(
            f"{path} has the class {strange[0]}, but the model knows "
            f"{', '.join(map(str, classes))}."
        )
    return given
