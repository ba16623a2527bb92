"""The page of the claims: a verdict for each aim, then the tables behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...experiments.claims import CLAIMS
from ...experiments.claims.data import EMBEDDINGS, TABLES
from ..figures import COLOURS, new_figure, saved_figure
from ..page import Bullets, Figure, Section, Table, Text, Verdict
from .panels import NO_ERROR

LEAD = (
    "What this package claims, judged on tables on which none of its rules was fixed. "
    "Aims were written down before the run. An aim that is not reached is printed as "
    "failed."
)
NOTE = (
    "Everything is tuned inside the training rows. Differences are in points, paired by "
    "table and split, with the standard error of the mean over tables in parentheses. A "
    "single table has the standard error over its splits."
)
SIZES = {
    "quick": "two tables per claim and two splits; the embedding sets with twelve classes",
    "full": f"{', '.join((*TABLES, *EMBEDDINGS))}, as far as they are at hand; 20 splits",
}
REACHED = {"yes": True, "failed": False}


def sections(tables: dict[str, Any], folder: Path) -> list[Section]:
    """First all verdicts, then one section per claim."""
    verdicts = tables["verdicts"]
    there = [claim for claim in CLAIMS.values() if claim.name in set(verdicts["claim"])]
    parts = [Text(f"{_n_reached(verdicts)} {NOTE}")]
    return [
        Section("Verdicts", [*parts, *_all_verdicts(verdicts), _figure(verdicts, folder)]),
        *(_section(claim, tables) for claim in there),
    ]


def _n_reached(verdicts: Any) -> str:
    n_reached = int((verdicts["reached"] == "yes").sum())
    return f"{n_reached} of {len(verdicts)} aims are reached."


def _all_verdicts(verdicts: Any) -> list[Verdict]:
    return [_verdict(row) for row in verdicts.itertuples()]


def _verdict(row: Any) -> Verdict:
    good = REACHED.get(row.reached)
    end = f" But {NO_ERROR}" if good is None else ""
    text = f"{row.claim.capitalize()}. {row.aim.capitalize()}. Found: {row.found}.{end}"
    return Verdict(text, good)


def _figure(verdicts: Any, folder: Path) -> Figure:
    """Gains with two standard errors, and what was to be reached."""
    shown = verdicts[verdicts["unit"] == "points"].iloc[::-1]
    figure, ax = new_figure(9, 1 + 0.3 * len(shown))
    places = range(len(shown))
    errors = 2 * shown["standard_error"].fillna(0.0)
    ax.errorbar(shown["mean"], places, xerr=errors, fmt="o", markersize=4, color=COLOURS[0])
    ax.plot(shown["least"], places, "|", markersize=12, color=COLOURS[1])
    ax.axvline(0.0, color="#888", linewidth=1)
    ax.set_yticks(places, shown["claim"] + ". " + shown["aim"], fontsize=7)
    ax.set_xlabel("points")
    return saved_figure(
        figure,
        folder / "aims",
        "Dots are the differences that were found, with two standard errors. Bars are what "
        "they were to reach.",
        "Found differences and aims; the numbers are in the verdicts above.",
    )


def _section(claim: Any, tables: dict[str, Any]) -> Section:
    """The claim, its tables and its limits."""
    shown = [
        Table.of_frame(caption, tables[claim.key(name)])
        for name, caption in claim.captions.items()
    ]
    title = claim.name.capitalize()
    return Section(title, [Text(claim.statement), *shown, Bullets(list(claim.limits))])
