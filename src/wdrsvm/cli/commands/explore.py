"""``wdrsvm explore``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.datasets import load_wine
from sklearn.feature_selection import f_classif

from ...problem import NORMS
from ...report import Page, explore_page
from ...report.explore import Explorer
from ...report.words import counted
from ..nearest import perhaps
from ..options import TableOptions
from ..output import (
    Categories,
    Decimal,
    Drop,
    Json,
    LabelKind,
    MergeRare,
    MinRows,
    Numbers,
    Output,
    check_choice,
)
from ..tables.columns import NUMBERS
from ..tables.features import MISSING_NUMBERS, Labelled, read_for_training
from ..tables.files import checked_output, read_table
from ..tables.suspicions import suspicions

PAGE = Path("wdrsvm-explore.html")
WINE = ("flavanoids", "color_intensity")

EXAMPLES = """Examples:

wdrsvm explore

wdrsvm explore penguins.csv --target species --out penguins.html

wdrsvm explore penguins.csv --target species --x bill_length_mm --y bill_depth_mm
"""


def register(app: Any) -> None:
    """Add the command."""
    app.command("explore", epilog=EXAMPLES)(explore)


def explore(
    table: Annotated[
        Path | None, typer.Argument(help="Table with labels; Wine if not given.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="Column of the labels.")] = None,
    x: Annotated[
        str | None, typer.Option("--x", help="Column of the horizontal axis.")
    ] = None,
    y: Annotated[
        str | None, typer.Option("--y", help="Column of the vertical axis.")
    ] = None,
    norm: Annotated[str, typer.Option(help=f"One of {', '.join(NORMS)}.")] = "l2",
    radii: Annotated[int, typer.Option(min=2, help="Number of radii.")] = 25,
    drop: Drop = None,
    numbers: Numbers = None,
    categories: Categories = None,
    decimal: Decimal = None,
    labels: LabelKind = None,
    min_rows: MinRows = None,
    merge_rare: MergeRare = None,
    out: Annotated[Path, typer.Option(help="Page to write, .html.")] = PAGE,
    as_json: Json = False,
) -> None:
    """Write a page with sliders for radius and label cost over two columns.

    It shows how error rates, boundary, worst case and certified risk change.  The
    page is one file that asks for nothing from the network.
    """
    output = Output(as_json)
    check_choice("--norm", norm, tuple(NORMS))
    asked = TableOptions(drop, numbers, categories, decimal, labels, min_rows, merge_rare)
    asked.check()
    checked_output(out, *([] if table is None else [table]), endings=(".html", ".htm"))
    with output.working("Exploring"):
        if table is None:
            page, columns = _wine(target, x, y, norm=norm, radii=radii)
        else:
            data = _two_columns(table, target, (x, y), asked, output)
            title = f"{table.name}: radius and label cost"
            page = explore_page(data.X, data.y, norm=norm, radii=radii, title=title)
            columns = list(data.X.columns)
        page.write(out)
    explorer = page.sections[0].parts[0]
    assert isinstance(explorer, Explorer)
    # The page opens with this classifier.
    output.show({"page": str(out), "columns": columns}, explorer.promise)


def _wine(*not_given: str | None, **options: Any) -> tuple[Page, list[str]]:
    """The page for Wine, a table that scikit-learn contains."""
    if any(option is not None for option in not_given):
        raise ValueError("--target, --x and --y need a table: name it first.")
    bunch = load_wine()
    chosen = [bunch.feature_names.index(name) for name in WINE]
    labels = np.char.replace(bunch.target_names[bunch.target].astype(str), "_", " ")
    title = "Wine: radius and label cost"
    page = explore_page(bunch.data[:, chosen], labels, names=WINE, title=title, **options)
    return page, list(WINE)


def _two_columns(
    path: Path,
    target: str | None,
    chosen: tuple[str | None, str | None],
    asked: TableOptions,
    output: Output,
) -> Labelled:
    """Two columns of numbers without missing values, and the labels."""
    x, y = chosen
    if target is None:
        raise ValueError("--target must name the column of the labels.")
    if x is not None and x == y:
        raise ValueError(f"--x and --y must be two columns, got {x!r} twice.")
    table = read_table(path)
    data = asked.labelled(table, target)
    if table.is_sparse:
        raise ValueError(f"{path} must have named columns for its page, got sparse rows.")
    frame = data.X
    if x in frame.columns and y in frame.columns:
        # Only these two columns have to be readable.
        frame = frame[[x, y]]
    columns = read_for_training(frame, table, asked.reading(table, target))
    numbers = columns.frame[columns.kinds[NUMBERS]]
    _check_numbers(data.X, numbers, {"--x": x, "--y": y}, path)
    names = _chosen(numbers, data.y, x, y)
    filled = numbers[names].fillna(numbers[names].median())
    output.notes += [*data.notes, *columns.notes, *_about_gaps(numbers[names])]
    if None in chosen:
        output.notes.append(
            f"Columns chosen, each for how well it tells the classes apart: "
            f"{', '.join(names)}; --x and --y choose others."
        )
        output.notes += suspicions(columns, frame)
    return replace(data, X=filled)


def _about_gaps(numbers: Any) -> list[str]:
    n_gaps = int(numbers.isna().sum().sum())
    where = ", ".join(name for name in numbers.columns if numbers[name].isna().any())
    return [f"{counted(n_gaps, *MISSING_NUMBERS)}: {where}."] if n_gaps else []


def _check_numbers(
    frame: Any, numbers: Any, chosen: dict[str, str | None], path: Path
) -> None:
    for option, name in chosen.items():
        if name is not None and name not in frame.columns:
            near = perhaps(name, frame.columns)
            raise ValueError(f"{option} must be a column of {path}, got {name!r}{near}.")
        if name is not None and name not in numbers.columns:
            raise ValueError(f"{option} must be a column of numbers, got {name!r}.")
    if (numbers.nunique() > 1).sum() < 2:
        raise ValueError(f"{path} must have two columns of numbers beside the labels.")


def _chosen(numbers: Any, labels: Any, x: str | None, y: str | None) -> list[str]:
    """The user's columns, else the columns in which the classes are farthest apart."""
    varied = [name for name in numbers.columns if numbers[name].nunique() > 1]
    filled = numbers[varied].fillna(numbers[varied].median())
    order = np.argsort(-f_classif(filled, labels)[0], kind="stable")
    free = iter([varied[k] for k in order if varied[k] not in (x, y)])
    return [next(free) if name is None else name for name in (x, y)]
