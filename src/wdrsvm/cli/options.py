"""Options of all commands that learn from a table: how the table is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .output import check_choice
from .tables.columns import Reading
from .tables.features import Labelled, Prepared, labelled, named_columns, prepared
from .tables.files import InputTable, read_table
from .tables.labels import HOW, LabelReading, check_classes
from .tables.numerals import DECIMALS
from .tables.trust import check_trust_column, read_trust


@dataclass(frozen=True)
class TableOptions:
    """The user's options about a training table."""

    drop: list[str] | None = None
    numbers: list[str] | None = None
    categories: list[str] | None = None
    decimal: str | None = None
    labels: str | None = None
    min_rows: int | None = None
    merge_rare: str | None = None
    trust_column: str | None = None

    def check(self) -> None:
        """Refuse values that an option does not allow, before any table is read."""
        if self.decimal is not None:
            check_choice("--decimal", self.decimal, DECIMALS)
        if self.labels is not None:
            check_choice("--labels", self.labels, HOW)

    def labelled(self, table: InputTable, target: str) -> Labelled:
        """Features and labels, with at least two rows of at least two classes."""
        how = LabelReading(self.labels, self.min_rows, self.merge_rare)
        trust = None
        if self.trust_column is not None:
            check_trust_column(self.trust_column, table, target)
            trust = read_trust(table, self.trust_column)
        data = labelled(table, target, self.drop, how)
        check_classes(data.y, table.path)
        if trust is None:
            return data
        features = data.X.drop(columns=self.trust_column, errors="ignore")
        return replace(data, X=features, trust=trust[data.row])

    def reading(self, table: InputTable, target: str) -> Reading:
        """How the columns are read; each column has one kind only."""
        numbers, categories = (
            named_columns(option, given, table, target)
            for option, given in (
                ("--numbers", self.numbers),
                ("--categories", self.categories),
            )
        )
        both = [name for name in numbers if name in categories]
        if both:
            raise ValueError(
                f"--numbers and --categories must name different columns, got {both[0]!r} "
                "in both."
            )
        return Reading(tuple(numbers), tuple(categories), self.decimal)

    def prepared(self, path: Path, target: str) -> tuple[Labelled, Prepared]:
        """A training table and the fitted preparation of its columns."""
        table = read_table(path)
        data = self.labelled(table, target)
        return data, prepared(data, table, self.reading(table, target))


def learned_reading(data: Labelled, columns: Prepared) -> dict[str, Any]:
    """How a training table was read, for the model file."""
    labels = data.labels
    if labels is None:
        return dict(columns.reading)
    return columns.reading | {
        "left_out": list(labels.left_out),
        "merged": dict(labels.merged),
    }
