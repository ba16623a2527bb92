"""``wdrsvm predict``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..models.saved import in_use, loaded
from ..nearest import perhaps
from ..output import Json, Output
from ..tables.features import features_for, notes_of_unseen
from ..tables.files import (
    TABLE_ENDINGS,
    InputTable,
    checked_output,
    listed,
    pandas,
    read_table,
    write_table,
)

EXAMPLES = """Examples:

wdrsvm predict penguins.wdrsvm new.csv --out predictions.csv

wdrsvm predict penguins.wdrsvm new.csv > predictions.csv

wdrsvm predict penguins.wdrsvm new.csv --id sample --out predictions.csv
"""


def register(app: Any) -> None:
    """Add the command."""
    app.command("predict", epilog=EXAMPLES)(predict)


def predict(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    table: Annotated[Path, typer.Argument(help="Table of rows to classify.")],
    out: Annotated[
        Path | None, typer.Option(help="Table to write; printed if not given.")
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Add the scores of all classes.")
    ] = False,
    probabilities: Annotated[
        bool,
        typer.Option("--probabilities", help="Add the probabilities of a logistic model."),
    ] = False,
    ignore_unseen: Annotated[
        bool,
        typer.Option(
            "--ignore-unseen",
            help="Accept categories that training has not seen; they count as none.",
        ),
    ] = False,
    identifier: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="COL", help="Column that names the rows, in place of numbers."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Classify the rows of a table.

    The column of the labels, and columns that the model does not know, are ignored.  Rows
    are counted from 0, or named by a column of the table.
    """
    output = Output(as_json)
    if out is not None:
        checked_output(out, model, table, endings=TABLE_ENDINGS)
    with output.working("Predicting"), in_use(model):
        classifier, rows = loaded(model), read_table(table)
        X, notes = features_for(classifier, rows)
        unseen = notes_of_unseen(classifier, X)
        if unseen and not ignore_unseen:
            found = "; ".join(note.removesuffix(".") for note in unseen)
            raise ValueError(f"{table}: {found}; --ignore-unseen takes them as none.")
        output.notes += [*rows.notes(), *notes, *unseen]
        which = _which_rows(rows, identifier)
        predictions = _predictions(classifier, X, which, scores, probabilities)
    classes, counts = np.unique(predictions["prediction"], return_counts=True)
    facts: dict[str, Any] = {"rows": len(predictions)}
    facts["predicted"] = dict(zip(classes.tolist(), counts.tolist(), strict=True))
    if out is not None:
        write_table(predictions, out)
        output.show({"predictions": str(out), **facts})
    elif as_json:
        output.show(facts | {"predictions": predictions.to_dict("list")})
    else:
        predictions.to_csv(sys.stdout, index=False)
        for note in output.notes:
            print(f"Note: {note}", file=sys.stderr)


def _which_rows(table: InputTable, identifier: str | None) -> dict[str, Any]:
    """The column that names the rows, with unchanged cells."""
    if identifier is None:
        return {"row": np.arange(len(table.columns))}
    if table.is_sparse or identifier not in table.columns.columns:
        there = [] if table.is_sparse else list(table.columns.columns)
        has = f"; it has {listed(there)}" if there else ""
        near = perhaps(identifier, there)
        raise ValueError(f"--id: {table.path} has no column {identifier!r}{near}{has}.")
    taken = identifier == "prediction"
    name = f"{identifier} (table)" if taken else identifier
    return {name: table.columns[identifier].to_numpy(dtype=object)}


def _predictions(
    classifier: Any, X: Any, which: dict[str, Any], scores: bool, probabilities: bool
) -> Any:
    columns = which | {"prediction": classifier.predict(X)}
    if scores:
        values = classifier.decision_function(X)
        if values.ndim == 1:
            values = np.column_stack([-values, values]) / 2
        columns |= _by_class("score", classifier.classes_, values)
    if probabilities:
        if not hasattr(classifier, "predict_proba"):
            raise ValueError("--probabilities needs a model of fit --loss logistic.")
        values = classifier.predict_proba(X)
        columns |= _by_class("probability", classifier.classes_, values)
    return pandas().DataFrame(columns)


def _by_class(what: str, classes: Any, values: Any) -> dict[str, Any]:
    return {
        f"{what} {name}": column for name, column in zip(classes, values.T, strict=True)
    }
