"""The output of a command: facts and notes for people, or JSON for programs."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from sklearn.exceptions import ConvergenceWarning

from ..report.model.promise import BUDGET, Promise
from ..report.page import cell
from .progress import Clock
from .tables.labels import FOLDS
from .tables.numerals import DECIMALS

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Target = Annotated[str, typer.Option(help="Column of the labels.")]
LearnedTarget = Annotated[
    str | None,
    typer.Option(help="Column of the labels; that of the training table if not given."),
]
Radius = Annotated[
    float | None,
    typer.Option(
        help="How far rows move on average; if not given, what the model was learned to "
        f"withstand, else {BUDGET:g}."
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COL[,COL]", help="Columns to leave out; may be repeated."),
]
Numbers = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL[,COL]",
        help="Columns of numbers; cells that are no numbers count as missing.",
    ),
]
Categories = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL[,COL]", help="Columns of categories, even if they have numbers."
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        help=f"Decimal mark: {' or '.join(DECIMALS)}; found from the cells if not given."
    ),
]
LabelKind = Annotated[
    str | None,
    typer.Option(
        "--labels",
        help="text takes labels as they stand (default); numbers takes whole numbers.",
    ),
]
MinRows = Annotated[
    int | None, typer.Option(min=1, help="Leave out classes with fewer rows.")
]
MergeRare = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=f"Make classes with fewer rows than --min-rows ({FOLDS}) one class, NAME.",
    ),
]


# Of more values than this, people see the first.
FEW = 8


class Share(float):
    """A share of rows: per cent for people, a number between 0 and 1 for programs."""


class Output:
    """Prints results to the standard output, and progress to the standard error."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self.notes: list[str] = []

    @contextmanager
    def working(self, what: str, is_shown: bool = True) -> Iterator[Callable[[str], None]]:
        """Show that a command is working, and for how long; warnings become notes.

        The function that it yields is told the name of each step.
        """
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if is_shown:
                with Clock(what, Console(stderr=True)) as clock:
                    yield clock.tell
            else:
                yield lambda step: None
        told = (_in_its_words(each) for each in caught if _concerns_the_user(each))
        self.notes += dict.fromkeys(told)

    def show(self, facts: dict[str, Any], promise: Promise | None = None) -> None:
        """Print the error rates, then all other facts, then the notes."""
        if self.as_json:
            promised = {} if promise is None else promise.values()
            told = {**_plain(promised), **_plain(facts), "notes": self.notes}
            print(json.dumps(told, indent=2))
            return
        if promise is not None:
            print(*promise.sentences(), sep="\n", end="\n\n")
            facts = _with_classes(facts, promise)
        width = max(map(len, facts))
        for name, value in facts.items():
            print(f"{name.ljust(width)}  {_shown(value)}")
        for note in self.notes:
            print(f"Note: {note}")


def check_choice(option: str, given: str, allowed: tuple[str, ...]) -> None:
    """Refuse a value that an option does not allow."""
    if given not in allowed:
        raise ValueError(f"{option} must be one of {', '.join(allowed)}, got {given}.")


def _concerns_the_user(warning: warnings.WarningMessage) -> bool:
    """Whether a warning is for users, and not for programmers of libraries."""
    return not issubclass(warning.category, DeprecationWarning | FutureWarning)


def _in_its_words(warning: warnings.WarningMessage) -> str:
    """The text of a warning, without advice that does not apply to commands."""
    text = str(warning.message)
    if issubclass(warning.category, ConvergenceWarning):
        # Commands standardise columns, and have no options for tolerance or solver.
        text = text.partition(" Raise ")[0]
    return text.replace("wdrsvm.radius_max(X, y)", "radius_max").replace(
        "wdrsvm.radius_max", "radius_max"
    )


def _with_classes(facts: dict[str, Any], promise: Promise) -> dict[str, Any]:
    """The facts with the rates of each class first; of many classes, the worst ones."""
    rates = list(promise.by_class.items())
    if len(rates) > FEW:
        rates.sort(key=lambda each: -each[1].worst_case_error)
    told = [f"{name}: {each.told()}" for name, each in rates]
    return {"wrong, by class": _few(told, "; "), **facts}


def _few(texts: list[str], mark: str = ", ") -> str:
    """The texts, or the first of many; programs get all of them."""
    more = f"{mark}and {len(texts) - FEW} more" if len(texts) > FEW else ""
    return mark.join(texts[:FEW]) + more


def _shown(value: Any) -> str:
    if isinstance(value, Share):
        return f"{100 * value:.1f} %"
    if isinstance(value, dict):
        return _few([f"{name}: {cell(each)}" for name, each in value.items()])
    if isinstance(value, list | tuple):
        return _few([cell(each) for each in value])
    return cell(value)


def _plain(value: Any) -> Any:
    """A value for JSON; infinity becomes a text, because JSON does not have it."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, int | float | str | None) else str(value)
