"""What a command says: facts and notes for people, or JSON for programs."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from ..report.page import cell

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Target = Annotated[str, typer.Option(help="Column of the labels.")]
Drop = Annotated[
    list[str] | None, typer.Option(help="Column to leave out; may be given again.")
]


class Output:
    """Results go to the standard output; progress and warnings beside it."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self.notes: list[str] = []

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        """Show on a terminal that work is going on; warnings become notes."""
        console = Console(stderr=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if console.is_terminal:
                with console.status(f"{what} ..."):
                    yield
            else:
                yield
        told = (str(each.message) for each in caught if _concerns_the_user(each))
        self.notes += dict.fromkeys(told)

    def show(self, facts: dict[str, Any]) -> None:
        """Print all there is to say."""
        if self.as_json:
            print(json.dumps({**_plain(facts), "notes": self.notes}, indent=2))
            return
        width = max(map(len, facts))
        for name, value in facts.items():
            print(f"{name.ljust(width)}  {_shown(value)}")
        for note in self.notes:
            print(f"Note: {note}")


def check_choice(option: str, given: str, allowed: tuple[str, ...]) -> None:
    """Refuse what an option does not allow."""
    if given not in allowed:
        raise ValueError(f"{option} must be one of {', '.join(allowed)}, got {given}.")


def _concerns_the_user(warning: warnings.WarningMessage) -> bool:
    """Not what libraries say to programmers."""
    return not issubclass(warning.category, DeprecationWarning | FutureWarning)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {cell(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(cell, value))
    return cell(value)


def _plain(value: Any) -> Any:
    """A value that JSON can say; infinity, which it cannot, as a text."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, int | float | str | None) else str(value)
